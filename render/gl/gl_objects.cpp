#include "render/gl/gl_objects.h"

#include <stdexcept>
#include <string>

#include "render/gl/gl.h"

namespace orrery::render {

void delete_buffer(unsigned id) {
  glDeleteBuffers(1, &id);
}
void delete_vertex_array(unsigned id) {
  glDeleteVertexArrays(1, &id);
}
void delete_texture(unsigned id) {
  glDeleteTextures(1, &id);
}
void delete_framebuffer(unsigned id) {
  glDeleteFramebuffers(1, &id);
}
void delete_query(unsigned id) {
  glDeleteQueries(1, &id);
}

VertexArray make_vertex_array() {
  unsigned id = 0;
  glCreateVertexArrays(1, &id);
  return VertexArray{id};
}

Query make_query(unsigned target) {
  unsigned id = 0;
  glCreateQueries(target, 1, &id);
  return Query{id};
}

Texture make_texture_2d(unsigned internal_format, int width, int height) {
  unsigned id = 0;
  glCreateTextures(GL_TEXTURE_2D, 1, &id);
  Texture texture{id};
  glTextureStorage2D(id, 1, internal_format, width, height);
  glTextureParameteri(id, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
  glTextureParameteri(id, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  glTextureParameteri(id, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTextureParameteri(id, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  return texture;
}

Buffer::Buffer(std::size_t size_bytes) : size_bytes_{size_bytes} {
  unsigned id = 0;
  glCreateBuffers(1, &id);
  static_cast<GlObject&>(*this) = GlObject{id};
  while (glGetError() != GL_NO_ERROR) continue;  // discards errors of earlier calls
  // A DYNAMIC_DRAW buffer may be in host memory, where CUDA kernels would be very slow.
  glNamedBufferData(id, static_cast<GLsizeiptr>(size_bytes), nullptr, GL_DYNAMIC_COPY);
  if (glGetError() != GL_NO_ERROR) {
    throw std::runtime_error{"OpenGL has no memory for a buffer of " + std::to_string(size_bytes) + " bytes"};
  }
}

void Buffer::upload(std::span<const std::byte> bytes) {
  if (bytes.size() > size_bytes()) throw std::logic_error{"upload of more bytes than the buffer holds"};
  glNamedBufferSubData(id(), 0, static_cast<GLsizeiptr>(bytes.size()), bytes.data());
}

void Buffer::replace(std::span<const std::byte> bytes) {
  if (bytes.size() > size_bytes()) *this = Buffer{bytes.size() + bytes.size() / 2};
  upload(bytes);
}

void Buffer::download(std::span<std::byte> bytes) const {
  if (bytes.size() > size_bytes()) throw std::logic_error{"download of more bytes than the buffer holds"};
  glGetNamedBufferSubData(id(), 0, static_cast<GLsizeiptr>(bytes.size()), bytes.data());
}

void bind_storage(unsigned binding, const Buffer& buffer) {
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, binding, buffer.id());
}

RenderTarget::RenderTarget(unsigned internal_format, int width, int height)
    : texture_{make_texture_2d(internal_format, width, height)},
      format_{internal_format},
      width_{width},
      height_{height} {
  unsigned id = 0;
  glCreateFramebuffers(1, &id);
  framebuffer_ = Framebuffer{id};
  glNamedFramebufferTexture(id, GL_COLOR_ATTACHMENT0, texture_.id(), 0);
  if (glCheckNamedFramebufferStatus(id, GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
    throw std::runtime_error{"OpenGL cannot draw into a texture of " + std::to_string(width) + " x " +
                             std::to_string(height) + " pixels"};
  }
}

}  // namespace orrery::render
