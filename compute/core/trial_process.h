#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace orrery {

/// Tries in a copy of this process what may end it, such as a library's work on a damaged file. Returns the signal that
/// ended the copy, such as "Floating point exception"; empty if `trial` returned or threw. A copy that computes for
/// longer than `limit` is ended. `trial` must not touch a GPU or start threads, and must not rely on other threads.
/// Throws std::runtime_error if there can be no copy.
std::string signal_that_ends(const std::function<void()>& trial, std::chrono::seconds limit);

}  // namespace orrery
