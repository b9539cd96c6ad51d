#include "render/gl/buffer_readback.h"

#include <cstring>
#include <stdexcept>

#include "render/gl/gl.h"

namespace orrery::render {
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
    while (glGetError() != GL_NO_ERROR) continue;  // an older error is not this allocation's
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

}  // namespace orrery::render
