// Results of sweeps for people and files.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "app/lab/sweep/result_rows.h"
#include "app/lab/sweep/sweep.h"
#include "app/recording/result_files.h"
#include "app/text/csv.h"

namespace orrery {

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
