// Replays: the file of how a run went, the history that writes it, and the run that computes it again.
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

/// How a run went, so that it can be computed again: the states that it started from, each change with the step that it
/// followed, and checksums of states on the way.
struct Replay {
  struct StateSum {  ///< see checksum(const Bodies&)
    std::uint32_t value;
    friend bool operator==(const StateSum&, const StateSum&) = default;
  };
  struct Chosen {  ///< see Status::chosen; of the kernel at this step
    std::string text;
    friend bool operator==(const Chosen&, const Chosen&) = default;
  };
  /// ReturnToRun starts from the first state of its scene, at step 0. Other commands change the physics or the kernel.
  using Event = std::variant<Command, StateSum, Chosen>;
  struct Line {
    std::int64_t step = 0;  ///< whole steps since the last start
    Event event;
    int line = 0;  ///< its number in the file, from 1; 0: in no file
  };

  std::string program;          ///< version and git id of the writer
  std::string processor, gpu;   ///< of the writer; no gpu: empty
  std::array<float, 6> camera;  ///< azimuth and elevation in degrees, distance and target in units of length
  SetAppearance appearance;
  std::vector<Line> lines;  ///< the first is a start; between two starts, steps do not fall
};

/// Returns the text that parse_replay() reads back.
std::string replay_text(const Replay& replay);

/// Throws UsageError that starts with "NAME:LINE: " for text that replay_text() would not have written. Ids of kernels
/// and their settings are not checked.
Replay parse_replay(std::string_view text, const std::string& name);

/// Writes as AtomicFile does and returns the name that the file got.
std::string write_replay(const std::string& file, const Replay& replay, Existing existing);

/// The same as parse_replay(), from a file. Throws std::runtime_error as read_text() does.
Replay read_replay(const std::string& file);

/// Follows a simulation, so that its way can be written as a Replay at any time. Keeps the way to the current state:
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

  /// The lines of a replay up to the current state; cancels what is in flight as Simulation::bodies() does. Throws
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
  /// The history from a first state until the next.
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

/// How far a run that was computed again agrees with its replay file.
struct ReplayOutcome {
  struct Difference {
    int line = 0;           ///< of the file
    std::int64_t step = 0;  ///< since the last start
    std::string what;       ///< "the state after step 300 is another one"
    std::vector<std::string> reasons{};
  };
  int starts = 0;
  std::int64_t steps = 0;               ///< since all starts
  int states = 0;                       ///< that agreed
  std::optional<std::int64_t> agreed;   ///< the last step that agreed since the last start
  std::optional<Difference> different;  ///< none: all agreed until here
  bool stopped = false;
};

struct ReplayProgress {
  std::int64_t step, last_step;  ///< of all starts together
  std::optional<double> left_s;
};

/// Computes a replay again, with a simulation of its own, until its end, the first state that differs, or until `stop`
/// returns true. `name` is the file's, for messages. Throws UsageError or std::runtime_error that starts with
/// "NAME:LINE: " if a line cannot be carried out here.
ReplayOutcome play_replay(const Backends& backends, const Replay& replay, const std::string& name,
                          const std::function<bool()>& stop, const std::function<void(const ReplayProgress&)>& show);

}  // namespace orrery
