#pragma once

#include <glm/glm.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "render/appearance.h"
#include "render/camera.h"
#include "render/drawn_bodies.h"
#include "render/gl/program.h"

namespace orrery::render {

/// How large and how bright bodies are drawn, in the terms of shaders/body.glsl. Sprites and splats both use it.
struct BodyLight {
  glm::mat4 view, projection;
  float pixels_per_tangent;
  bool weigh_mass;
  float intensity;  ///< light of a pixel in the middle of a sprite of normal size
  float radius;     ///< of a sprite, in world units
  float large_radius_px;
  int colour_by;           ///< as in body.glsl
  std::string_view glsl;   ///< see ColourBy::glsl
  glm::vec2 colour_range;  ///< of the value that colours show, or of its logarithm
  bool logarithmic;
  Theme theme;        ///< of the colours of parts
  float normal_mass;  ///< of a body with a sprite of normal size
  /// Sum over all pixels of the light of one body of normal size at the camera's target.
  float light_at_target;
};

/// Returns the light for a picture of `width` x `height` pixels, both > 0, of at least one body.
BodyLight body_light(const DrawnBodies& bodies, const OrbitCamera& camera, const Appearance& appearance,
                     const ValueRanges& ranges, int width, int height);

/// The programs of shaders that include body.glsl: one for each way to compute a value, made when first used.
class BodyPrograms {
 public:
  /// `make` returns the program with these lines in front of its code.
  explicit BodyPrograms(Program (*make)(const std::string& preamble)) : make_{make} {}
  /// Returns the program that computes the values which `light` shows, and any program if it shows others.
  const Program& of(const BodyLight& light);

 private:
  Program (*make_)(const std::string& preamble);
  std::vector<std::pair<std::string_view, Program>> programs_;  // by ColourBy::glsl
};

/// Sets the uniforms of body.glsl that say where a body is seen and how large it is. The caller sets `large_radius_px`
/// for a shader that draws or finds sprites.
void set_body_place(const Program& program, const BodyLight& light);
/// The same, and the uniforms of its light and colour.
void set_body_light(const Program& program, const BodyLight& light);

}  // namespace orrery::render
