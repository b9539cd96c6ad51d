#pragma once

#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace orrery {

/// Starts a thread that runs `work`, a function of a std::stop_token. Throws std::runtime_error, one line that names
/// what may help, if the system gives no more threads.
template <class Work>
std::jthread start_thread(Work&& work) {
  try {
    return std::jthread{std::forward<Work>(work)};
  } catch (const std::system_error& error) {
    throw std::runtime_error(
        "no thread can be started: this user or container may run no more processes and threads "
        "(see ulimit -u): " +
        error.code().message());
  }
}

}  // namespace orrery
