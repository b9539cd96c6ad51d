#pragma once

#include <memory>
#include <optional>
#include <string>

#include "compute/sim/command.h"
#include "compute/sim/engine/engine.h"

namespace orrery {

/// Which measurements an engine has under way.
struct Measuring {
  bool forces = false, conserved = false, cells = false;
};

/// What a simulation was asked to measure, what was measured last, and why it stopped.
class DiagnosticsState {
 public:
  /// Throws UsageError where the sample is out of range.
  void ask(const ProbeForces& command);
  void ask(const MeasureConserved&) { conserved_wanted_ = true; }
  /// Throws UsageError where `most` is out of range.
  void ask(const ReadTreeCells& command);
  /// Adds what was asked for to a batch, but for what an engine still has under way. A batch without steps reads
  /// cells, no more.
  void add_to(BatchRequest& request, const Measuring& under_way);
  /// Whether the last step's tree is to be read and is known.
  bool wants_known_cells() const { return tree_cells_wanted_ > 0 && tree_; }

  void take_in(const BatchResult& result);
  /// From now on line() says what happened. `good` is when the state is from that can be brought back.
  void stop(const Fault& fault, const std::string& kernel_id, const std::optional<Moment>& good);

  /// Another kernel or law: the forces that were probed and the tree are no longer those of the simulation.
  void forget_forces();
  /// There is none of the last step: it was abandoned.
  void forget_tree() { tree_.reset(); }
  /// Other bodies.
  void restart();
  /// Back to the bodies after `step`: forgets the fault and what was measured later.
  void return_to(std::int64_t step);

  const std::optional<ForceProbe>& force_probe() const { return force_probe_; }
  const std::optional<ConservedProbe>& conserved() const { return conserved_; }
  const std::optional<TreeReport>& tree() const { return tree_; }
  const std::shared_ptr<const TreeCells>& tree_cells() const { return tree_cells_; }
  const std::optional<Fault>& fault() const { return fault_; }
  /// Why the run stopped, one line; empty where it did not.
  const std::string& line() const { return line_; }

 private:
  int sample_wanted_ = 0;  // 0: none
  bool conserved_wanted_ = false;
  int tree_cells_wanted_ = 0;  // 0: none
  std::optional<ForceProbe> force_probe_;
  std::optional<ConservedProbe> conserved_;
  std::optional<TreeReport> tree_;
  std::shared_ptr<const TreeCells> tree_cells_;
  std::optional<Fault> fault_;
  std::string line_;
};

}  // namespace orrery
