#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>

#include "render/camera.h"
#include "render/canvas.h"
#include "render/gl/gl_objects.h"
#include "render/gl/program.h"

namespace orrery::render {

inline constexpr int vertices_per_stroke = 6;
/// A width of a pixel is one pixel of a picture with this many pixels on its shorter side, and no less in others.
inline constexpr float usual_side_px = 800;

/// Smooth translucent lines over a picture, in instances: some lines for each. Needs a current context, load_gl() done.
class Strokes {
 public:
  /// `vertex_shader` includes stroke.glsl. An instance has `stride` bytes; each attribute is four floats at one of the
  /// `offsets`.
  Strokes(const char* vertex_shader, std::size_t stride, std::initializer_list<std::size_t> offsets);

  /// Replaces the instances. Throws std::runtime_error if the memory is not enough.
  void set(std::span<const std::byte> instances);
  /// Draws `lines` lines for each instance over the canvas. Leaves framebuffer and viewport of the canvas bound,
  /// blending off.
  void draw(int lines, const OrbitCamera& camera, const Canvas& canvas) const;

  const Program& program() const noexcept { return program_; }

 private:
  Program program_;
  std::size_t stride_;
  VertexArray array_;
  Buffer instances_;
  int count_ = 0;
};

}  // namespace orrery::render
