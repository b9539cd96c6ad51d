// Owners of OpenGL objects, and canvases to draw on.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace orrery::render {

/// Owner of a GL object: move-only, empty by default. Its destructor deletes the object, for which the context must
/// still be current. `id()` is for users that never own it (CUDA, ImGui).
template <void (*destroy)(unsigned id)>
class GlObject {
 public:
  GlObject() = default;
  explicit GlObject(unsigned id) noexcept : id_{id} {}
  GlObject(GlObject&& other) noexcept : id_{std::exchange(other.id_, 0)} {}
  GlObject& operator=(GlObject&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~GlObject() {
    if (id_ != 0) destroy(id_);
  }

  unsigned id() const noexcept { return id_; }
  explicit operator bool() const noexcept { return id_ != 0; }

 private:
  unsigned id_ = 0;
};

void delete_buffer(unsigned id);
void delete_vertex_array(unsigned id);
void delete_texture(unsigned id);
void delete_framebuffer(unsigned id);
void delete_query(unsigned id);

using VertexArray = GlObject<delete_vertex_array>;
using Texture = GlObject<delete_texture>;
using Framebuffer = GlObject<delete_framebuffer>;
using Query = GlObject<delete_query>;

VertexArray make_vertex_array();
Query make_query(unsigned target);

/// Returns a texture with one level, linear filtering, and coordinates clamped to its edges.
Texture make_texture_2d(unsigned internal_format, int width, int height);

/// A buffer of fixed size, in video memory where there is some.
class Buffer : public GlObject<delete_buffer> {
 public:
  Buffer() = default;
  /// Makes a buffer with undefined contents. Throws std::runtime_error if memory is short.
  explicit Buffer(std::size_t size_bytes);

  std::size_t size_bytes() const noexcept { return *this ? size_bytes_ : 0; }
  /// Replaces the beginning of the contents. `bytes` must not be longer than the buffer.
  void upload(std::span<const std::byte> bytes);
  /// Does the same; if the buffer is too short, makes a longer one first. Throws as the constructor.
  void replace(std::span<const std::byte> bytes);
  /// Copies the beginning of the contents back; waits for the GPU. `bytes` must not be longer than the buffer.
  void download(std::span<std::byte> bytes) const;

 private:
  std::size_t size_bytes_ = 0;
};

/// Binds the buffer to a binding point of `buffer` blocks in shaders.
void bind_storage(unsigned binding, const Buffer& buffer);

/// A texture that can be drawn into.
class RenderTarget {
 public:
  RenderTarget() = default;
  /// Makes a texture and its framebuffer. `internal_format`: such as GL_RGBA8 or GL_RGBA16F. Both lengths are in
  /// pixels, at least 1. Throws std::runtime_error if the driver cannot draw into such a texture.
  RenderTarget(unsigned internal_format, int width, int height);

  unsigned framebuffer() const noexcept { return framebuffer_.id(); }
  unsigned texture() const noexcept { return texture_.id(); }
  unsigned format() const noexcept { return format_; }
  int width() const noexcept { return width_; }
  int height() const noexcept { return height_; }

 private:
  Texture texture_;
  Framebuffer framebuffer_;
  unsigned format_ = 0;
  int width_ = 0, height_ = 0;
};

/// Destination of a frame: a framebuffer (0 is the window) and its size in pixels, or a part of it.
struct Canvas {
  unsigned framebuffer = 0;
  int width = 0;
  int height = 0;
  unsigned texture = 0;  ///< GL_RGBA8 texture of the framebuffer; 0: the window has none
  int left = 0;          ///< first column of the part, in pixels
};

}  // namespace orrery::render
