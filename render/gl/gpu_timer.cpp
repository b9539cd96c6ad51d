#include "render/gl/gpu_timer.h"

#include "render/gl/gl.h"

namespace orrery::render {

std::optional<double> plausible_ms(std::uint64_t nanoseconds, std::chrono::steady_clock::duration wall) {
  const double ms = 1e-6 * static_cast<double>(nanoseconds);
  if (!(ms <= std::chrono::duration<double, std::milli>(wall).count())) return std::nullopt;
  return ms;
}

GpuTimer::GpuTimer() {
  for (Span& span : spans_) span.query = make_query(GL_TIME_ELAPSED);
}

void GpuTimer::begin(std::int64_t tag) {
  if (measuring_ || pending_ == capacity) return;
  Span& span = spans_[static_cast<std::size_t>((first_ + pending_) % capacity)];
  span.tag = tag;
  span.begin = std::chrono::steady_clock::now();
  glBeginQuery(GL_TIME_ELAPSED, span.query.id());
  measuring_ = true;
}

void GpuTimer::end() {
  if (!measuring_) return;
  glEndQuery(GL_TIME_ELAPSED);
  measuring_ = false;
  ++pending_;
}

std::optional<GpuTime> GpuTimer::poll() {
  while (pending_ > 0) {
    const Span& span = spans_[static_cast<std::size_t>(first_)];
    GLuint64 available = GL_FALSE, nanoseconds = 0;
    glGetQueryObjectui64v(span.query.id(), GL_QUERY_RESULT_AVAILABLE, &available);
    if (available == GL_FALSE) return std::nullopt;
    glGetQueryObjectui64v(span.query.id(), GL_QUERY_RESULT, &nanoseconds);
    first_ = (first_ + 1) % capacity;
    --pending_;
    if (const auto ms = plausible_ms(nanoseconds, std::chrono::steady_clock::now() - span.begin)) {
      return GpuTime{span.tag, *ms};
    }
  }
  return std::nullopt;
}

}  // namespace orrery::render
