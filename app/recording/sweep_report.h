#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "app/lab/sweep/result_rows.h"
#include "app/lab/sweep/sweep.h"
#include "app/recording/result_files.h"

namespace orrery {

/// Where a sweep's results go: a table for a terminal, and the files that were asked for.
class SweepReport {
 public:
  /// Creates the CSV file; `sweep` must outlive this and have a first_status(). `extra` joins the metadata. Throws
  /// std::runtime_error.
  SweepReport(const Sweep& sweep, const ResultFormat& format, const ResultNames& files,
              const Json& extra = Json::object());

  /// Writes what was measured since the last call: rows of the CSV are there at once, and their ranks follow.
  void update();
  /// Puts `value` into the JSON, beside the results.
  void add(const std::string& name, Json value) { more_[name] = std::move(value); }
  /// Puts what `value` gives for an entry that was measured into its result in the JSON.
  void add_to_results(const std::string& name, std::function<Json(const SweepEntry&)> value) {
    more_of_results_[name] = std::move(value);
  }
  /// Writes the JSON as far as it is known, until finish() replaces it. `skipped` is what the sweep was not even asked
  /// for.
  void save(const std::vector<Skipped>& skipped);
  /// Writes the JSON.
  void finish(const std::vector<Skipped>& skipped);
  /// Leaves no file behind: nothing was measured.
  void discard() { files_.discard(); }

  /// The tables and what was skipped or failed.
  std::string text(const std::vector<Skipped>& skipped, const TextStyle& style) const;
  /// What the JSON file holds.
  Json json(const std::vector<Skipped>& skipped) const;
  const ResultFiles& files() const { return files_; }

 private:
  std::vector<std::vector<ResultRow>> rows() const;
  std::vector<Skipped> not_measured(const std::vector<Skipped>& skipped) const;

  const Sweep& sweep_;
  const ResultFormat& format_;
  Json metadata_, more_ = Json::object();
  std::map<std::string, std::function<Json(const SweepEntry&)>> more_of_results_;
  ResultFiles files_;
  std::size_t written_ = 0;  // entries
};

}  // namespace orrery
