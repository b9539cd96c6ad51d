#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "compute/core/start_thread.h"

namespace orrery {

/// What `work` returns or throws, on a thread of its own. Nothing if that takes longer than `limit`: the thread then
/// stays until `work` ends, and `too_late` gets the result. For calls that may never return. Both functions must own
/// what they use. Throws as start_thread().
template <class Result>
std::optional<Result> result_within(std::chrono::milliseconds limit, std::function<Result()> work,
                                    std::function<void(Result&)> too_late) {
  struct Attempt {
    std::promise<Result> promise;
    std::atomic<bool> settled = false;  // by the thread that has a result, or by the caller who gives up
  };
  const auto attempt = std::make_shared<Attempt>();
  std::future<Result> future = attempt->promise.get_future();
  start_thread([attempt, work = std::move(work), too_late = std::move(too_late)](const std::stop_token&) {
    try {
      Result result = work();
      if (attempt->settled.exchange(true)) return too_late(result);
      attempt->promise.set_value(std::move(result));
    } catch (...) {
      attempt->promise.set_exception(std::current_exception());
    }
  }).detach();
  const bool came = future.wait_for(limit) == std::future_status::ready;
  if (!came && !attempt->settled.exchange(true)) return std::nullopt;
  return future.get();
}

}  // namespace orrery
