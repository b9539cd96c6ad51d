#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "render/gl_objects.h"

namespace orrery::render {

struct GpuTime {
  std::int64_t tag;
  double ms;
};

/// Measures GPU time without waiting for it: results come some frames later, in order. Where more than `capacity` are
/// under way the newest is not measured.
class GpuTimer {
 public:
  GpuTimer();

  /// `tag` comes back with the result, such as a frame number. Spans must not nest, of several timers neither.
  void begin(std::int64_t tag);
  void end();
  /// The oldest finished span that was not returned yet; none when the GPU is not done with it.
  std::optional<GpuTime> poll();

  static constexpr int capacity = 16;

 private:
  struct Span {
    Query query;
    std::int64_t tag = 0;
  };
  std::array<Span, capacity> spans_;
  int first_ = 0, pending_ = 0;
  bool measuring_ = false;
};

}  // namespace orrery::render
