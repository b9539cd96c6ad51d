#pragma once

#include <chrono>
#include <future>

namespace orrery {

/// Whether the result is there, so that get() does not wait. The future must be valid.
template <class Future>
bool is_ready(const Future& future) {
  return future.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
}

}  // namespace orrery
