#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/recording/output_file.h"
#include "app/runs/run_checkpoint.h"
#include "app/text/csv.h"
#include "compute/sim/engine/results.h"

namespace orrery {

/// Of the total energy.
struct EnergyChange {
  double relative = 0;
  std::int64_t since_step = 0;
};

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
  /// From the first row of the file to the last; none before this run has changed it.
  std::optional<EnergyChange> energy_change() const { return energy_change_; }
  /// None before the first row.
  std::optional<DiagnosticsPlace> place() const;

 private:
  std::string begin_;  // what the file gets before its next row
  OutputFile file_;
  std::optional<double> first_energy_;
  std::int64_t first_step_ = 0;  // of the row with the first energy
  std::optional<EnergyChange> energy_change_;
};

}  // namespace orrery
