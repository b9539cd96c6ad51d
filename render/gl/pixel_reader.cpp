#include "render/gl/pixel_reader.h"

#include <cstring>
#include <stdexcept>

#include "render/gl/gl.h"

namespace orrery::render {
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
    while (glGetError() != GL_NO_ERROR) continue;  // an older error is not this allocation's
    // Client storage: the processor reads it, the GPU only writes it.
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
