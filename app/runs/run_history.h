#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/runs/replay.h"
#include "compute/sim/simulation.h"

namespace orrery {

/// Follows a simulation, so that its way can be written as a Replay at any time. Keeps the way to the present state:
/// what undo or a checkpoint took back is left out, and so are the oldest parts of a long history. Instead of `auto`,
/// it has what `auto` chose.
class RunHistory {
 public:
  /// If `lockstep`, what is kept does not depend on how long things take.
  explicit RunHistory(bool lockstep) : lockstep_{lockstep} {}

  /// Call when the simulation has its first bodies, before steps.
  void begin(Simulation& simulation);
  /// Call after each command that `simulation` has carried out.
  void took(const Command& command, Simulation& simulation);
  /// Call when the state is none that a scene starts from. A replay is refused with `why` until the next start.
  void lose(Simulation& simulation, std::string why);
  /// Call once per frame, after Simulation::collect() and before steps are started: notices what `auto` chose, and
  /// takes a checksum of the state from time to time.
  void follow(Simulation& simulation);

  /// The lines of a replay up to the present state; cancels what is in flight as Simulation::bodies() does. Throws
  /// UsageError if they would not lead here.
  std::vector<Replay::Line> lines(Simulation& simulation);

 private:
  struct Setup {
    RunSetup run;
    std::string chosen;
  };
  struct Change {
    std::int64_t step;
    Setup setup;
  };
  struct Sum {
    std::int64_t step;
    Replay::StateSum state;
  };
  /// From a first state until the next.
  struct Part {
    Setup first;
    std::vector<Change> changes{};  // ascending, at most one per step
    std::vector<Sum> sums{};        // ascending
    std::int64_t spacing;           // least number of steps between two sums
    std::string lost{};             // why it cannot be replayed; else empty
    const Setup& last() const { return changes.empty() ? first : changes.back().setup; }
  };

  static Setup setup_of(const Status& status);
  void start(const Status& status);
  void go_back(std::int64_t step);
  void note_change(const Status& status);
  void forget_oldest();
  bool wants_sum(const Simulation& simulation) const;
  void add_sum(Simulation& simulation);
  static void add_lines(const Part& part, std::vector<Replay::Line>& lines);

  const bool lockstep_;
  std::vector<Part> parts_;
  std::optional<std::vector<Part>> before_return_;  // for UndoReturn
  double sum_ms_ = 0;                               // the last one took
};

/// This program, as Replay::program names it: "1.2.0 (abc1234)".
std::string replay_program();

/// All of a replay but its camera and appearance.
Replay replay_of(RunHistory& history, Simulation& simulation, const Backends& backends);

}  // namespace orrery
