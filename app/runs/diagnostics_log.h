#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/recording/output_file.h"
#include "app/runs/run_checkpoint.h"
#include "app/text/csv.h"
#include "compute/sim/engine/results.h"

namespace orrery {

/// A CSV file of a run's conserved sums, Lagrangian radii about the centre of mass, and a checksum of the state, with
/// which runs can be compared bit by bit.
class DiagnosticsLog {
 public:
  /// A new file, made with its first row. Throws std::runtime_error, one line.
  DiagnosticsLog(const std::string& file, const Json& metadata, Existing existing);
  /// Continues the file of an earlier run: keeps what it had at `place`. Throws also if it is shorter now.
  DiagnosticsLog(const std::string& file, const DiagnosticsPlace& place);

  /// Throws std::runtime_error, one line that names the file, if it cannot be written.
  void add(const ConservedProbe& probe, const Bodies& bodies);

  const std::string& file() const { return file_.path(); }
  /// Relative to the first row; none before there are two rows.
  std::optional<double> energy_drift() const { return energy_drift_; }
  /// None before the first row.
  std::optional<DiagnosticsPlace> place() const;

 private:
  std::string begin_;  // what the file gets before its next row
  OutputFile file_;
  std::optional<double> first_energy_, energy_drift_;
};

}  // namespace orrery
