#pragma once

#include <optional>

#include "app/text/console.h"
#include "app/ui_state/command.h"

namespace orrery {

/// An activity that needs the machine for itself, and the ways to end it.
struct MachineUser {
  const char* name;     ///< "a race"
  const char* state;    ///< "a race is being measured"
  const char* button;   ///< of the window, with its place
  const char* command;  ///< in a script
  const char* title;    ///< "Race"
  Request (*stop)();
};

/// A measurement in progress. No steps run meanwhile.
struct MeasurementInProgress {
  const MachineUser* user;
  double done = 0;                 ///< its share that is done, 0 to 1
  std::optional<double> left_s{};  ///< until the end, estimated; none: not known
};

/// `done` of `total` parts are measured; `left_s` is 0 while it is not known.
inline MeasurementInProgress in_progress(const MachineUser& user, int done, int total, double left_s) {
  return {&user, part_of(done, total), left_s > 0 ? std::optional{left_s} : std::nullopt};
}

}  // namespace orrery
