#pragma once

#include <optional>

#include "app/text/console.h"
#include "app/ui_state/command.h"

namespace orrery {

/// An activity that needs the whole machine, and the ways to stop it.
struct MachineUser {
  const char* name;     ///< "a race"
  const char* state;    ///< "a race is being measured"
  const char* button;   ///< where the window's button to stop it is
  const char* command;  ///< script command that stops it
  const char* title;    ///< "Race"
  Request (*stop)();
};

/// A measurement in progress. The shown run does not step during it.
struct MeasurementInProgress {
  const MachineUser* user;
  double done = 0;                 ///< completed fraction, 0 to 1
  std::optional<double> left_s{};  ///< estimated time until the end; none: not known
};

/// Makes a MeasurementInProgress from `done` of `total` parts and `left_s`, which is 0 if not known.
inline MeasurementInProgress in_progress(const MachineUser& user, int done, int total, double left_s) {
  return {&user, part_of(done, total), left_s > 0 ? std::optional{left_s} : std::nullopt};
}

}  // namespace orrery
