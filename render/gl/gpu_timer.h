#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "render/gl/gl.h"
#include "render/gl/gl_objects.h"

namespace orrery::render {

struct GpuTime {
  std::int64_t tag;
  double ms;
};

/// Measures the time of GPU work without waiting for it. Results come some frames later, in order. While `capacity`
/// spans are in flight, no other span is measured. If OpenGL draws on the CPU, a span waits for the work and measures
/// by the clock, because llvmpipe's queries leave out compute shaders.
class GpuTimer {
 public:
  GpuTimer();

  /// Begins a span. `tag`, such as a frame number, comes back with the result. Spans of all timers must not nest.
  void begin(std::int64_t tag);
  void end();
  /// Returns the oldest finished span that was not returned yet; none if the GPU has not finished it.
  std::optional<GpuTime> poll();

  static constexpr int capacity = 16;

 private:
  struct Span {
    Query query;
    std::int64_t tag = 0;
    std::chrono::steady_clock::time_point begin{};
    std::chrono::steady_clock::duration waited{};  // time of the work, if the span waits for it
  };

  Span& next() { return spans_[static_cast<std::size_t>((first_ + pending_) % capacity)]; }

  const bool waits_ = draws_in_software();
  std::array<Span, capacity> spans_;
  int first_ = 0, pending_ = 0;
  bool measuring_ = false;
};

}  // namespace orrery::render
