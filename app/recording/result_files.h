#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/recording/output_file.h"
#include "app/text/csv.h"

namespace orrery {

/// Names of the files that a measurement's results go to.
struct ResultNames {
  std::string csv{}, json{};  ///< empty: none
  Existing existing = Existing::keep;
};

/// The CSV file, which grows row by row, and the JSON file, which appears whole at the end.
class ResultFiles {
 public:
  /// Opens the CSV file and writes its head. One that replaces another appears with its first row. Throws
  /// std::runtime_error.
  ResultFiles(const ResultNames& names, const Json& metadata, std::span<const std::string_view> columns);

  /// Writes a row of the CSV at once.
  void add(std::span<const std::string> fields);
  /// Writes rows that may change while others join them: what the last call wrote is replaced. A device or a pipe gets
  /// them with keep_rows().
  void replace_rows(std::string rows);
  /// The rows of replace_rows() stand from here on.
  void keep_rows();
  /// Writes the JSON as far as it is known, until finish() replaces it. A device or a pipe gets only that of finish().
  void save(const Json& whole);
  /// Writes the JSON.
  void finish(const Json& whole);
  /// Leaves no file behind: nothing was measured.
  void discard();
  /// "wrote a.csv", one line for each file that is complete.
  std::string written() const;
  /// Their names.
  std::vector<std::string> paths() const;
  /// The first file that could not be written and why, one line; empty when all is well.
  const std::string& error() const { return error_; }

 private:
  void write_head();
  void write_rows(const std::string& text);
  void take(const std::string& csv_error);

  ResultNames names_;              // json is empty after an error
  std::string head_;               // of the CSV file, until it is written
  std::optional<OutputFile> csv_;  // empty: not asked for, or given up after an error
  std::string json_written_;       // the name that the JSON file got
  std::string open_rows_;          // of replace_rows()
  std::int64_t open_rows_at_ = 0;  // where they begin
  std::string error_;
};

}  // namespace orrery
