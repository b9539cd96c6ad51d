#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace orrery {

/// How a trial in a copy of this process ended.
struct TrialEnd {
  enum Kind {
    well,      ///< the trial returned or threw
    crashed,   ///< a fault of the code that ran, such as "Segmentation fault"
    too_long,  ///< its time was up
    killed,    ///< by a signal from elsewhere: of a user, or of the system if memory is short
  } kind = well;
  std::string cause{};  ///< one clause that names the signal or the time; empty: well
};

/// Tries in a copy of this process what may end it, such as a library's work on a damaged file. The copy is ended after
/// `limit`, whole seconds of wall-clock time. `trial` must not touch a GPU, start threads or set alarms, and must not
/// rely on other threads. Throws std::runtime_error if there can be no copy.
TrialEnd try_in_copy(const std::function<void()>& trial, std::chrono::seconds limit = std::chrono::seconds{60});

}  // namespace orrery
