#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/sim/command.h"
#include "compute/sim/engine/engine.h"

namespace orrery {

/// Which measurements an engine has in flight.
struct Measuring {
  bool forces = false, conserved = false, cells = false, accelerations = false;
};

/// What a simulation was asked to measure, what was measured last, and why it stopped.
class DiagnosticsState {
 public:
  void ask(const ProbeForces& command) { probe_wanted_ = command; }
  void ask(const ReadAccelerations&) { accelerations_wanted_ = true; }
  void ask(const ReadDomains&) { domains_wanted_ = true; }
  void ask(const MeasureConserved&) { conserved_wanted_ = true; }
  void ask(const ReadTreeCells& command) { cells_wanted_ = {command.most, command.level, command.walk_of}; }
  /// Adds what was asked for to a batch, but for what an engine still has in flight.
  void add_to(BatchRequest& request, const Measuring& in_flight);
  /// Whether something is to be measured that needs no step. The last step's tree must be known to be read.
  bool wants_no_step() const {
    return probe_wanted_.sample > 0 || accelerations_wanted_ || domains_wanted_ || (cells_wanted_.most > 0 && tree_);
  }

  void take_in(const BatchResult& result);
  /// From now on line() describes `body`.
  void stop(const NonFinite& body, const std::string& kernel_id);

  /// Another kernel or law: the forces that were probed and the tree are no longer those of the simulation.
  void forget_forces();
  /// The step was cancelled; discard its tree.
  void forget_tree() { tree_.reset(); }
  /// Another integrator or time step, or other forces.
  void forget_levels() { levels_.reset(); }
  /// Other bodies.
  void restart();
  /// Back to the bodies after `step`: forgets the non-finite body and later measurements.
  void return_to(std::int64_t step);

  const std::optional<ForceProbe>& force_probe() const { return force_probe_; }
  const std::optional<ConservedProbe>& conserved() const { return conserved_; }
  const std::optional<LevelCounts>& levels() const { return levels_; }
  const std::optional<TreeReport>& tree() const { return tree_; }
  const std::vector<DeviceLoad>& device_loads() const { return device_loads_; }
  const std::shared_ptr<const TreeCells>& tree_cells() const { return tree_cells_; }
  const std::shared_ptr<const Accelerations>& accelerations() const { return accelerations_; }
  const std::shared_ptr<const Domains>& domains() const { return domains_; }
  const std::optional<NonFinite>& non_finite() const { return non_finite_; }
  /// Why the run stopped, one line; empty where it did not.
  const std::string& line() const { return line_; }

 private:
  ProbeForces probe_wanted_{};  // of 0 bodies: none
  bool conserved_wanted_ = false, accelerations_wanted_ = false, domains_wanted_ = false;
  CellRequest cells_wanted_;
  std::optional<ForceProbe> force_probe_;
  std::optional<ConservedProbe> conserved_;
  std::optional<LevelCounts> levels_;
  std::optional<TreeReport> tree_;
  std::vector<DeviceLoad> device_loads_;
  std::shared_ptr<const TreeCells> tree_cells_;
  std::shared_ptr<const Accelerations> accelerations_;
  std::shared_ptr<const Domains> domains_;
  std::optional<NonFinite> non_finite_;
  std::string line_;
};

}  // namespace orrery
