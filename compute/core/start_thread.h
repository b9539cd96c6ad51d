#pragma once

#include <exception>
#include <future>
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

/// Starts a thread that keeps the promise with what `work` returns or throws. A thread that cannot start is such an
/// exception, too. `promise` must outlive the thread.
template <class Result, class Work>
std::jthread start_promised(std::promise<Result>& promise, Work work) {
  try {
    return start_thread([&promise, work = std::move(work)](const std::stop_token& stop) {
      try {
        promise.set_value(work(stop));
      } catch (...) {
        promise.set_exception(std::current_exception());
      }
    });
  } catch (...) {
    promise.set_exception(std::current_exception());
    return {};
  }
}

}  // namespace orrery
