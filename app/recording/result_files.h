// Files of results, and the reports of sweeps.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/lab/sweep/result_rows.h"
#include "app/lab/sweep/sweep.h"
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

/// Writes a sweep's results: tables for a terminal, and the requested files.
class SweepReport {
 public:
  /// Creates the CSV file. `sweep` must outlive this object and have a first_status(). `extra` joins the metadata.
  /// Throws std::runtime_error.
  SweepReport(const Sweep& sweep, const ResultFormat& format, const ResultNames& files,
              const Json& extra = Json::object());

  /// Writes the entries since the last call. CSV rows are written immediately, and again when later entries change
  /// ranks.
  void update();
  /// Adds `value` to the JSON, next to the results.
  void add(const std::string& name, Json value) { more_[name] = std::move(value); }
  /// Adds the return value of `value` for each measured entry to its result in the JSON.
  void add_to_results(const std::string& name, std::function<Json(const Measurement&)> value) {
    more_of_results_[name] = std::move(value);
  }
  /// Writes the results so far as JSON, until finish() replaces them. `skipped` lists the variants that the sweep
  /// omits.
  void save(const std::vector<Skipped>& skipped);
  /// Writes the final rows and JSON.
  void finish(const std::vector<Skipped>& skipped);
  /// Removes the files. Call if nothing was measured.
  void discard() { files_.discard(); }

  /// Returns the tables, and the variants that were skipped or failed.
  std::string text(const std::vector<Skipped>& skipped, const TextStyle& style) const;
  /// Returns the contents of the JSON file.
  Json json(const std::vector<Skipped>& skipped) const;
  const ResultFiles& files() const { return files_; }

 private:
  std::vector<Skipped> not_measured(const std::vector<Skipped>& skipped) const;

  const Sweep& sweep_;
  const ResultFormat& format_;
  Json metadata_, more_ = Json::object();
  std::map<std::string, std::function<Json(const Measurement&)>> more_of_results_;
  ResultFiles files_;
  std::size_t written_ = 0;  // number of entries that were written
};

}  // namespace orrery
