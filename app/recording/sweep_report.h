// Tables and result files of sweeps.
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
