#pragma once

#include <cstddef>
#include <string>

#include "app/cli/options.h"
#include "app/lab/divergence/paired_run.h"
#include "app/recording/result_files.h"
#include "app/text/text_style.h"

namespace orrery {

/// Writes what a PairedRun measures: tables for stdout, and the requested files.
class CompareReport {
 public:
  /// Creates the files. `run` must outlive this. Throws std::runtime_error.
  CompareReport(const Backends& backends, const PairedRun& run, const CompareOptions& options);

  /// Writes the CSV rows of new samples.
  void update();
  /// Writes the JSON. Returns the tables, the e-folding time and the names of the files.
  std::string finish(const TextStyle& style);
  /// The first file that could not be written and why, one line; empty if there is none.
  const std::string& error() const { return files_.error(); }

 private:
  const PairedRun& run_;
  Json metadata_;
  ResultFiles files_;
  std::size_t written_ = 0;  // samples
};

}  // namespace orrery
