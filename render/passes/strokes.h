// Lines over a picture: strokes, lines and the edges of boxes.
#pragma once

#include <cstddef>
#include <glm/glm.hpp>
#include <initializer_list>
#include <span>

#include "render/camera.h"
#include "render/gl/gl_objects.h"
#include "render/gl/program.h"

namespace orrery::render {

inline constexpr int vertices_per_stroke = 6;

/// Shorter side of a usual picture, in pixels. If a picture's shorter side is longer, line widths grow in proportion.
inline constexpr float usual_side_px = 800;

/// Smooth translucent lines over a picture. Each instance has the same number of lines. Needs a current context after
/// load_gl().
class Strokes {
 public:
  /// `vertex_shader` must include strokes.glsl#band. An instance has `stride` bytes. Each of its attributes is four
  /// floats at one of the `offsets`.
  Strokes(const char* vertex_shader, std::size_t stride, std::initializer_list<std::size_t> offsets);

  /// Replaces the instances. Throws std::runtime_error if memory is short.
  void set(std::span<const std::byte> instances);
  /// Draws `lines` lines for each instance over the canvas. Leaves the framebuffer and the viewport of the canvas
  /// bound, and blending off.
  void draw(int lines, const OrbitCamera& camera, const Canvas& canvas) const;

  const Program& program() const noexcept { return program_; }

 private:
  Program program_;
  std::size_t stride_;
  VertexArray array_;
  Buffer instances_;
  int count_ = 0;
};

/// One end of a line.
struct LineEnd {
  glm::vec3 place;
  float width_px;    ///< >= 0; see usual_side_px
  glm::vec4 colour;  ///< sRGB and opacity, 0 to 1
};

/// A straight line. Width, colour and opacity change evenly from end to end. A line with an end that is not finite is
/// not drawn.
struct DrawnLine {
  LineEnd from, to;
};

/// Draws lines with smooth edges over a picture. Needs a current context after load_gl().
class LineRenderer {
 public:
  LineRenderer();

  /// Replaces the lines. Throws std::runtime_error if memory is short.
  void set(std::span<const DrawnLine> lines);
  /// Draws the lines over the canvas, in their order. Leaves the canvas's framebuffer and viewport bound, and blending
  /// off.
  void draw(const OrbitCamera& camera, const Canvas& canvas) const;

 private:
  Strokes strokes_;
};

/// A cube to be drawn by its edges.
struct DrawnBox {
  glm::vec3 center;
  float half_size;   ///< half the length of an edge, > 0
  glm::vec4 colour;  ///< sRGB and opacity, 0 to 1
};

/// Draws cubes as thin translucent lines over a picture. Cubes of few pixels fade away. So do cubes that are nearly
/// `widest` picture heights wide, because their edges near the camera would cover the others. Needs a current context
/// after load_gl().
class BoxRenderer {
 public:
  static constexpr float any_width = 1e9f;

  explicit BoxRenderer(float widest = any_width);

  /// Replaces the boxes. Throws std::runtime_error if memory is short.
  void set(std::span<const DrawnBox> boxes);
  /// Draws the boxes over the canvas. Leaves the canvas's framebuffer and viewport bound, and blending off.
  void draw(const OrbitCamera& camera, const Canvas& canvas) const;

 private:
  Strokes strokes_;
};

}  // namespace orrery::render
