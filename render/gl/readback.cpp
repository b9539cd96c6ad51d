#include "render/gl/readback.h"

#include <cstring>
#include <stdexcept>

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

namespace {

constexpr std::size_t vec4_bytes = sizeof(glm::vec4);

}  // namespace

void BufferReadback::request(unsigned buffer, std::span<const Part> parts) {
  count_ = 0;
  for (const Part& part : parts) count_ += part.count;
  if (count_ > capacity_) {
    capacity_ = 0;
    unsigned id = 0;
    glCreateBuffers(1, &id);
    copy_ = GlObject<delete_buffer>{id};
    while (glGetError() != GL_NO_ERROR) continue;  // discards errors of earlier calls
    glNamedBufferStorage(id, static_cast<GLsizeiptr>(count_ * vec4_bytes), nullptr,
                         GL_MAP_READ_BIT | GL_CLIENT_STORAGE_BIT);
    if (glGetError() != GL_NO_ERROR) throw std::runtime_error{"OpenGL has no memory for a copy of the bodies"};
    capacity_ = count_;
  }
  GLintptr to = 0;
  glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  for (const Part& part : parts) {
    const auto bytes = static_cast<GLsizeiptr>(part.count * vec4_bytes);
    glCopyNamedBufferSubData(buffer, copy_.id(), static_cast<GLintptr>(part.first * vec4_bytes), to, bytes);
    to += bytes;
  }
  fence_.set();
}

std::optional<std::vector<glm::vec4>> BufferReadback::poll(bool wait) {
  if (wait) {
    fence_.wait();
  } else if (!fence_.passed(true)) {
    return std::nullopt;
  }
  fence_.clear();
  std::vector<glm::vec4> values(count_);
  const auto bytes = static_cast<GLsizeiptr>(count_ * vec4_bytes);
  const void* copied = glMapNamedBufferRange(copy_.id(), 0, bytes, GL_MAP_READ_BIT);
  if (!copied) throw std::runtime_error{"OpenGL cannot hand over a copy of the bodies"};
  std::memcpy(values.data(), copied, count_ * vec4_bytes);
  glUnmapNamedBuffer(copy_.id());
  return values;
}

namespace {

std::size_t bytes_of(int width, int height) {
  return 4 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
}

}  // namespace

PixelReader::PixelReader(int width, int height) : width_{width}, height_{height} {
  for (Copy& copy : copies_) {
    unsigned id = 0;
    glCreateBuffers(1, &id);
    copy.buffer = GlObject<delete_buffer>{id};
    while (glGetError() != GL_NO_ERROR) continue;  // discards errors of earlier calls
    // Client storage, because the processor reads the buffer and the GPU only writes it.
    glNamedBufferStorage(id, static_cast<GLsizeiptr>(bytes_of(width, height)), nullptr,
                         GL_MAP_READ_BIT | GL_CLIENT_STORAGE_BIT);
    if (glGetError() != GL_NO_ERROR) throw std::runtime_error{"OpenGL has no memory for the pictures of a film"};
  }
}

void PixelReader::begin(unsigned framebuffer) {
  if (in_flight_ == most) throw std::logic_error{"too many pictures are being copied"};
  Copy& copy = copies_[(oldest_ + in_flight_) % most];
  glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
  glNamedFramebufferReadBuffer(framebuffer, framebuffer == 0 ? GL_BACK : GL_COLOR_ATTACHMENT0);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, copy.buffer.id());
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  glReadPixels(0, 0, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  copy.done.set();
  glFlush();
  ++in_flight_;
}

void PixelReader::take(std::span<std::uint8_t> rgba) {
  const std::size_t bytes = bytes_of(width_, height_);
  if (in_flight_ == 0 || rgba.size() != bytes) throw std::logic_error{"no picture of this size is being copied"};
  Copy& copy = copies_[oldest_];
  copy.done.wait();
  copy.done.clear();
  oldest_ = (oldest_ + 1) % most;
  --in_flight_;
  const void* pixels = glMapNamedBufferRange(copy.buffer.id(), 0, static_cast<GLsizeiptr>(bytes), GL_MAP_READ_BIT);
  if (!pixels) throw std::runtime_error{"OpenGL cannot hand over the picture"};
  std::memcpy(rgba.data(), pixels, bytes);
  glUnmapNamedBuffer(copy.buffer.id());
}

}  // namespace orrery::render
