#pragma once

#include <cstddef>

#include "render/camera.h"
#include "render/canvas.h"
#include "render/gl/gl_objects.h"
#include "render/gl/program.h"

namespace orrery::render {

inline constexpr int vertices_per_stroke = 6;
/// A width of a pixel is one pixel of a picture with this many pixels on its shorter side, and no less in others.
inline constexpr float usual_side_px = 800;

/// Adds a per-instance attribute of four floats at `offset` bytes to an array.
void add_instance_attribute(const VertexArray& array, unsigned attribute, std::size_t offset);

/// Draws `count` instances of `stride` bytes of `instances` as smooth translucent lines over the canvas: `strokes` of
/// them for each instance, by a program that includes stroke.glsl and has the uniform width_scale. Leaves framebuffer
/// and viewport of the canvas bound, blending off.
void draw_strokes(const Program& program, const VertexArray& array, const Buffer& instances, std::size_t stride,
                  int count, int strokes, const OrbitCamera& camera, const Canvas& canvas);

}  // namespace orrery::render
