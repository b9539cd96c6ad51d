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

/// Names of the files for the results of a measurement.
struct ResultNames {
  std::string csv{}, json{};  ///< empty: no such file
  Existing existing = Existing::keep;
};

/// Result files of a measurement: a CSV file, written row by row, and a JSON file, written as a whole.
class ResultFiles {
 public:
  /// Opens the CSV file and writes its head. If it replaces an existing file, the head is written with the first row.
  /// Throws std::runtime_error.
  ResultFiles(const ResultNames& names, const Json& metadata, std::span<const std::string_view> columns);

  /// Writes a row of the CSV file immediately.
  void add(std::span<const std::string> fields);
  /// Writes rows that may still change: they replace the rows of the last call. In a device or a pipe they appear only
  /// with keep_rows().
  void replace_rows(std::string rows);
  /// Makes the rows of the last replace_rows() final.
  void keep_rows();
  /// Writes the results so far as JSON, until finish() replaces them. A device or a pipe gets only the JSON of
  /// finish().
  void save(const Json& whole);
  /// Writes the final JSON.
  void finish(const Json& whole);
  /// Removes the CSV file. Call if nothing was measured.
  void discard();
  /// Returns a line such as "wrote a.csv" for each complete file.
  std::string written() const;
  /// Returns the names of the complete files.
  std::vector<std::string> paths() const;
  /// Returns the first failure to write, one line that names the file and the cause; empty if there was none.
  const std::string& error() const { return error_; }

 private:
  void write_head();
  void write_rows(const std::string& text);
  void take(const std::string& csv_error);

  ResultNames names_;              // names_.json becomes empty after an error
  std::string head_;               // head of the CSV file; empty once it is written
  std::optional<OutputFile> csv_;  // empty: not requested, or closed after an error
  std::string json_written_;       // name of the written JSON file; empty: not written yet
  std::string open_rows_;          // rows of the last replace_rows()
  std::int64_t open_rows_at_ = 0;  // offset of these rows in the CSV file, in bytes
  std::string error_;
};

}  // namespace orrery
