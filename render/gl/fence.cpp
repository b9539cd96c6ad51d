#include "render/gl/fence.h"

#include "render/gl/gl.h"

namespace orrery::render {

void Fence::set() {
  sync_ = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
}

void Fence::clear() noexcept {
  if (sync_) glDeleteSync(static_cast<GLsync>(std::exchange(sync_, nullptr)));
}

bool Fence::passed(bool flush) const {
  const GLbitfield flags = flush ? GL_SYNC_FLUSH_COMMANDS_BIT : 0;
  const GLenum state = glClientWaitSync(static_cast<GLsync>(sync_), flags, 0);
  return state == GL_ALREADY_SIGNALED || state == GL_CONDITION_SATISFIED;
}

void Fence::wait() const {
  constexpr GLuint64 second = 1'000'000'000;
  const auto sync = static_cast<GLsync>(sync_);
  while (glClientWaitSync(sync, GL_SYNC_FLUSH_COMMANDS_BIT, second) == GL_TIMEOUT_EXPIRED) continue;
}

}  // namespace orrery::render
