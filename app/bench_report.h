#pragma once

#include <string>
#include <vector>

#include "app/measure.h"
#include "app/options.h"
#include "app/recording/result_files.h"
#include "app/table.h"

namespace orrery {

/// Where a benchmark's results go: a table for stdout, and the files that were asked for.
class BenchReport {
 public:
  /// Creates the files. `first` is the status of the first simulation. Throws std::runtime_error.
  BenchReport(const BenchOptions& options, const Status& first);

  /// A row of the CSV is written at once.
  void add(const Measurement& measurement);
  /// Writes the JSON. Returns the table with what was skipped and where the files lie.
  std::string finish(const std::vector<Skipped>& skipped);
  /// Leaves no file of ours behind: nothing was measured.
  void discard() { files_.discard(); }
  /// The first file that could not be written and why, one line; empty when all is well.
  const std::string& error() const { return files_.error(); }

 private:
  Json metadata_;
  Json results_ = Json::array();
  ResultFiles files_;
  Table table_;
};

}  // namespace orrery
