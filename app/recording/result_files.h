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

/// Writes a sweep's results: a table for a terminal, and the requested files.
class SweepReport {
 public:
  /// Creates the CSV file; `sweep` must outlive this and have a first_status(). `extra` joins the metadata. Throws
  /// std::runtime_error.
  SweepReport(const Sweep& sweep, const ResultFormat& format, const ResultNames& files,
              const Json& extra = Json::object());

  /// Writes what was measured since the last call. Rows of the CSV are written at once; their ranks follow.
  void update();
  /// Puts `value` into the JSON, beside the results.
  void add(const std::string& name, Json value) { more_[name] = std::move(value); }
  /// Puts the return value of `value` for each measured entry into its result in the JSON.
  void add_to_results(const std::string& name, std::function<Json(const Measurement&)> value) {
    more_of_results_[name] = std::move(value);
  }
  /// Writes the JSON as far as it is known, until finish() replaces it. `skipped` lists what was left out of the sweep.
  void save(const std::vector<Skipped>& skipped);
  /// Writes the JSON.
  void finish(const std::vector<Skipped>& skipped);
  /// Removes the files: nothing was measured.
  void discard() { files_.discard(); }

  /// The tables, and what was skipped or failed.
  std::string text(const std::vector<Skipped>& skipped, const TextStyle& style) const;
  /// The contents of the JSON file.
  Json json(const std::vector<Skipped>& skipped) const;
  const ResultFiles& files() const { return files_; }

 private:
  std::vector<Skipped> not_measured(const std::vector<Skipped>& skipped) const;

  const Sweep& sweep_;
  const ResultFormat& format_;
  Json metadata_, more_ = Json::object();
  std::map<std::string, std::function<Json(const Measurement&)>> more_of_results_;
  ResultFiles files_;
  std::size_t written_ = 0;  // entries
};

}  // namespace orrery
