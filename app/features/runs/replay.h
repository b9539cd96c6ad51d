// Replays: their file, the history of a run that is written to it, and the computation of a replay.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/ui_state/command.h"
#include "app/ui_state/window_commands.h"
#include "compute/core/atomic_file.h"
#include "compute/sim/simulation.h"

namespace orrery {

/// Record of a run with which it can be computed again. Contains the states at which it started, its changes with the
/// steps after which they came, and checksums of states in between.
struct Replay {
  struct StateSum {  ///< checksum(const Bodies&) of the state
    std::uint32_t value;
    friend bool operator==(const StateSum&, const StateSum&) = default;
  };
  struct Chosen {  ///< Status::chosen of the kernel at this step
    std::string text;
    friend bool operator==(const Chosen&, const Chosen&) = default;
  };
  /// ReturnToRun starts at step 0 from the first state of its scene. Other commands change the physics or the kernel.
  using Event = std::variant<Command, StateSum, Chosen>;
  struct Line {
    std::int64_t step = 0;  ///< number of whole steps since the last start
    Event event;
    int line = 0;  ///< number of the line in the file, from 1; 0: not from a file
  };

  std::string program;          ///< version and git id of the program that wrote it
  std::string processor, gpu;   ///< processor and GPU of the writer; empty gpu: none
  std::array<float, 6> camera;  ///< azimuth and elevation in degrees, distance and target in units of length
  SetAppearance appearance;
  std::vector<Line> lines;  ///< the first is a start; between two starts, `step` does not decrease
};

/// Returns the text of a replay file, which parse_replay() reads.
std::string replay_text(const Replay& replay);

/// Parses a replay. Throws UsageError that starts with "NAME:LINE: " for text that replay_text() could not have
/// written. Does not check ids of kernels and their settings.
Replay parse_replay(std::string_view text, const std::string& name);

/// Writes a replay file as AtomicFile does, and returns the name that the file got.
std::string write_replay(const std::string& file, const Replay& replay, Existing existing);

/// Reads and parses a replay file. Throws what parse_replay() throws, and std::runtime_error if it cannot be read.
Replay read_replay(const std::string& file);

/// Records the history of a simulation, so that it can be written as a Replay at any time. Keeps only the path to the
/// current state, without what undo or a checkpoint took back. Drops the oldest parts of a long history. Records what
/// `auto` chose in the place of `auto`.
class RunHistory {
 public:
  /// If `lockstep`, the record does not depend on how long work takes.
  explicit RunHistory(bool lockstep) : lockstep_{lockstep} {}

  /// Starts the record. Call when the simulation has its first bodies, before steps.
  void begin(Simulation& simulation);
  /// Records a command. Call after `simulation` has carried it out.
  void took(const Command& command, Simulation& simulation);
  /// Marks the state as one that no replay can reach. lines() then throws UsageError with `why` until the next start.
  void lose(Simulation& simulation, std::string why);
  /// Records what `auto` chose, and at times a checksum of the state. Call once per frame, after Simulation::collect()
  /// and before steps are started.
  void follow(Simulation& simulation);

  /// Returns the lines of a replay up to the current state. Cancels steps in flight, as Simulation::bodies() does.
  /// Throws UsageError if the lines would not lead to this state.
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
  /// The history from one start to the next.
  struct Part {
    Setup first;
    std::vector<Change> changes{};  // sorted by step, at most one per step
    std::vector<Sum> sums{};        // sorted by step
    std::int64_t spacing;           // minimum number of steps between two checksums
    std::string lost{};             // why this part cannot be replayed; empty if it can
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
  std::optional<std::vector<Part>> before_return_;  // parts_ before the last ReturnToRun, for UndoReturn
  double sum_ms_ = 0;                               // duration of the last checksum
};

/// Returns this program's name for Replay::program: "1.2.0 (abc1234)".
std::string replay_program();

/// Returns the replay up to the current state, without camera and appearance.
Replay replay_of(RunHistory& history, Simulation& simulation, const Backends& backends);

/// How far a computed run agrees with its replay file.
struct ReplayOutcome {
  struct Difference {
    int line = 0;           ///< line of the file
    std::int64_t step = 0;  ///< steps since the last start
    std::string what;       ///< "the state after step 300 is another one"
    std::vector<std::string> reasons{};
  };
  int starts = 0;
  std::int64_t steps = 0;               ///< total of all starts
  int states = 0;                       ///< number of states that agreed
  std::optional<std::int64_t> agreed;   ///< last step since the last start at which the states agreed
  std::optional<Difference> different;  ///< first difference; none if all agreed so far
  bool stopped = false;
};

struct ReplayProgress {
  std::int64_t step, last_step;  ///< total of all starts
  std::optional<double> left_s;
};

/// Computes a replay in a separate simulation, to its end, to the first state that differs, or until `stop` returns
/// true. `name` is the file's name for messages. Throws UsageError or std::runtime_error that starts with "NAME:LINE: "
/// if a line cannot be carried out here.
ReplayOutcome play_replay(const Backends& backends, const Replay& replay, const std::string& name,
                          const std::function<bool()>& stop, const std::function<void(const ReplayProgress&)>& show);

}  // namespace orrery
