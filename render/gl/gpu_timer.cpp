#include "render/gl/gpu_timer.h"

namespace orrery::render {

GpuTimer::GpuTimer() {
  if (waits_) return;
  for (Span& span : spans_) span.query = make_query(GL_TIME_ELAPSED);
}

void GpuTimer::begin(std::int64_t tag) {
  if (measuring_ || pending_ == capacity) return;
  Span& span = next();
  span.tag = tag;
  if (waits_) {
    glFinish();
    span.begin = std::chrono::steady_clock::now();
  } else {
    glBeginQuery(GL_TIME_ELAPSED, span.query.id());
  }
  measuring_ = true;
}

void GpuTimer::end() {
  if (!measuring_) return;
  if (waits_) {
    glFinish();
    Span& span = next();
    span.waited = std::chrono::steady_clock::now() - span.begin;
  } else {
    glEndQuery(GL_TIME_ELAPSED);
  }
  measuring_ = false;
  ++pending_;
}

std::optional<GpuTime> GpuTimer::poll() {
  if (pending_ == 0) return std::nullopt;
  const Span& span = spans_[static_cast<std::size_t>(first_)];
  GpuTime time{span.tag, std::chrono::duration<double, std::milli>(span.waited).count()};
  if (!waits_) {
    GLuint64 available = GL_FALSE, nanoseconds = 0;
    glGetQueryObjectui64v(span.query.id(), GL_QUERY_RESULT_AVAILABLE, &available);
    if (available == GL_FALSE) return std::nullopt;
    glGetQueryObjectui64v(span.query.id(), GL_QUERY_RESULT, &nanoseconds);
    time.ms = 1e-6 * static_cast<double>(nanoseconds);
  }
  first_ = (first_ + 1) % capacity;
  --pending_;
  return time;
}

}  // namespace orrery::render
