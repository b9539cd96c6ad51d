#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "render/gl/gl_objects.h"

namespace orrery::render {

struct GpuTime {
  std::int64_t tag;
  double ms;
};

/// A query's result in ms; none if it is longer than `wall`, the time since the span began. llvmpipe returns the time
/// since the machine started for the first span of a context.
std::optional<double> plausible_ms(std::uint64_t nanoseconds, std::chrono::steady_clock::duration wall);

/// Measures GPU time without waiting for it: results come some frames later, in order. While `capacity` spans are in
/// flight, no other span is measured.
class GpuTimer {
 public:
  GpuTimer();

  /// `tag` comes back with the result, such as a frame number. Spans must not nest, not even those of two timers.
  void begin(std::int64_t tag);
  void end();
  /// The oldest finished span that was not returned yet; none if the GPU is not done with it. Skips spans whose time is
  /// not plausible.
  std::optional<GpuTime> poll();

  static constexpr int capacity = 16;

 private:
  struct Span {
    Query query;
    std::int64_t tag = 0;
    std::chrono::steady_clock::time_point begin{};
  };
  std::array<Span, capacity> spans_;
  int first_ = 0, pending_ = 0;
  bool measuring_ = false;
};

}  // namespace orrery::render
