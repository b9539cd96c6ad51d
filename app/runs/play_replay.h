#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/runs/replay.h"
#include "compute/sim/simulation.h"

namespace orrery {

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
