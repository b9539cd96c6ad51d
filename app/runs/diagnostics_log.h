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
  /// Continues the file of the run `id`: keeps what it had at `place`. Follows no symbolic link. Throws also if it is
  /// shorter now, or if belongs_to_run() is false.
  DiagnosticsLog(const std::string& file, const DiagnosticsPlace& place, const std::string& id);

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

/// Throws std::runtime_error, one line, if the run `id` cannot continue its file of diagnostics at this place.
void require_rows(const std::string& file, const DiagnosticsPlace& place, const std::string& id);
/// Whether the file begins with the header of diagnostics that the run `id` writes: one with "run": id; for a run
/// without an id, one without "run".
bool belongs_to_run(const std::string& file, const std::string& id);

}  // namespace orrery
