#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/recording/csv.h"
#include "app/recording/output_file.h"

namespace orrery {

/// The CSV and the JSON file that a measurement's results go to, where they were asked for.
class ResultFiles {
 public:
  /// Creates the files that have a name and writes the CSV's head. Throws std::runtime_error.
  ResultFiles(const std::string& csv_file, const std::string& json_file, const Json& metadata,
              std::span<const std::string_view> columns);

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
  /// Leaves no file of ours behind: nothing was measured.
  void discard();
  /// "wrote a.csv", one line for each file that is whole.
  std::string written() const;
  /// Their names.
  std::vector<std::string> paths() const;
  /// The first file that could not be written and why, one line; empty when all is well.
  const std::string& error() const { return error_; }

 private:
  void write(std::optional<OutputFile>& file, const std::string& text);
  void take(std::optional<OutputFile>& file, const std::string& error);

  std::optional<OutputFile> csv_, json_;  // empty: not asked for, or given up after an error
  std::string open_rows_;                 // of replace_rows()
  std::int64_t open_rows_at_ = 0;         // where they begin
  std::string error_;
};

}  // namespace orrery
