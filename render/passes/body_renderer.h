// Bodies as light: sprites or splats, then exposure, glow and tone mapping.
#pragma once

#include <array>
#include <glm/glm.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "render/appearance.h"
#include "render/camera.h"
#include "render/colour_map.h"
#include "render/gl/gl_objects.h"
#include "render/gl/program.h"

namespace orrery::render {

/// Size and brightness of drawn bodies, in the terms of shaders/bodies.glsl. Sprites and splats both use it.
struct BodyLight {
  glm::mat4 view, projection;
  float pixels_per_tangent;
  bool weigh_mass;
  float intensity;  ///< light of a pixel in the middle of a sprite of normal size
  float radius;     ///< radius of a sprite, in world units
  float large_radius_px;
  int colour_by;           ///< as colour_by in bodies.glsl
  std::string_view glsl;   ///< see ColourBy::glsl
  glm::vec2 colour_range;  ///< range of the value that colours show, or of its logarithm
  bool logarithmic;
  Theme theme;        ///< theme of the colours of parts
  float normal_mass;  ///< mass of a body with a sprite of normal size
  /// Sum over all pixels of the light of one body of normal size at the camera's target.
  float light_at_target;
};

/// Returns the light of bodies in a picture of `width` x `height` pixels, both > 0. Needs at least one body.
BodyLight body_light(const DrawnBodies& bodies, const OrbitCamera& camera, const Appearance& appearance,
                     const ValueRanges& ranges, int width, int height);

/// Programs of shaders that include bodies.glsl#body: one for each way to compute a value, made when first used.
class BodyPrograms {
 public:
  /// `make` returns the program with these lines inserted before its code.
  explicit BodyPrograms(Program (*make)(const std::string& preamble)) : make_{make} {}
  /// Returns the program that computes the values which `light` shows; any program if these are not computed.
  const Program& of(const BodyLight& light);

 private:
  Program (*make_)(const std::string& preamble);
  std::vector<std::pair<std::string_view, Program>> programs_;  // each with its ColourBy::glsl
};

/// Sets the uniforms of bodies.glsl#body for the place and size of bodies. If the shader draws or finds sprites, the
/// caller must also set `large_radius_px`.
void set_body_place(const Program& program, const BodyLight& light);
/// Does the same, and sets the uniforms for the light and colour of bodies.
void set_body_light(const Program& program, const BodyLight& light);

/// Draws bodies as point sprites whose light adds up: one draw call for any number of bodies, on any driver. Needs a
/// current context after load_gl().
class Sprites {
 public:
  Sprites();

  /// Replaces the contents of `light`. A GL_RG32F image gets the light, and the light times its first share. A
  /// GL_RGBA32F image gets all shares (see bodies.glsl#body). Skips bodies with numbers that are not finite.
  void draw(const DrawnBodies& bodies, const BodyLight& body_light, const RenderTarget& light);

 private:
  BodyPrograms programs_;
  VertexArray array_;
};

/// Adds bodies to images of integers by compute shaders. A small body adds to one texel of an image of twice the
/// picture's width and height; a large one is a sprite. The same bodies give the same bits in any order. Needs a
/// current context after load_gl().
class Splats {
 public:
  Splats();

  /// Returns whether the driver adds 64-bit integers in one operation. Otherwise, sprites are faster.
  static bool fast_here();
  /// Returns whether the driver's largest shader buffer holds this many bodies and pixels. `all_shares`: with all
  /// shares of the light, not only the first.
  static bool can_draw(int count, int width, int height, bool all_shares = false);

  /// Draws the same as Sprites::draw(). Throws std::runtime_error if memory is short.
  void draw(const DrawnBodies& bodies, const BodyLight& body_light, const RenderTarget& light);

 private:
  void resize(int count, int width, int height, bool all_shares);

  Program clear_, gather_;
  BodyPrograms splat_, large_;
  // If all shares are summed up, splats_ and sprites_ are twice as large: the second half is for the second and third
  // share.
  Buffer splats_;        // one texel of 8 bytes per quarter of a pixel
  Buffer sprites_;       // one texel per pixel
  Buffer large_bodies_;  // number of large bodies, then their indices
};

/// Makes a soft, wide copy of an image of light (bloom). Needs a current context after load_gl().
class Glow {
 public:
  /// Makes the glow and returns its texture, which has all components of `light` and stays valid until the next call. A
  /// texel covers 4 x 4 pixels of `light`; the last texels may extend beyond its edge.
  unsigned make(const RenderTarget& light);

 private:
  static constexpr int level_count = 4;  ///< each is half as wide as the one before; the first is a quarter of the
                                         ///< light

  Program reduce_{ComputeShader{"tone_map.glsl#reduce"}};
  Program widen_{ComputeShader{"tone_map.glsl#widen"}};
  RenderTarget levels_[level_count];
};

/// Finds the exposure for an image of light. The exposure stays on the GPU, so that nothing waits for it. Needs a
/// current context after load_gl().
class Meter {
 public:
  Meter();

  /// Moves the exposure towards that of the light; the first call sets it. Binds it as storage block 0, which
  /// tone_map.glsl#exposure declares.
  void measure(const RenderTarget& light);

 private:
  Program count_{ComputeShader{"tone_map.glsl#meter"}}, expose_{ComputeShader{"tone_map.glsl#expose"}};
  Buffer exposure_;
};

/// Turns light into a picture: colours, tone mapping, sRGB encoding, dithering. Needs a current context after
/// load_gl().
class ToneMap {
 public:
  ToneMap();

  /// Fills `picture`, a GL_RGBA8 image of the size of `light`. `glow`: result of Glow::make() for the light. Automatic
  /// exposure needs an earlier Meter::measure().
  void draw(const RenderTarget& light, unsigned glow, const Appearance& appearance, const RenderTarget& picture);
  /// Fills `picture` with the colours of the density on `scale`.
  void draw_density(const RenderTarget& density, const ColourScale& scale, const Appearance& appearance,
                    const RenderTarget& picture);

 private:
  const Program& lights_program(Theme theme, bool parts);
  void fill(const Program& program, const RenderTarget& light, const Appearance& appearance,
            const RenderTarget& picture) const;

  std::array<std::array<std::optional<Program>, 2>, 2> lights_programs_;  // by Theme and whether parts are shown; made
                                                                          // when needed
  Program density_program_{ComputeShader{"tone_map.glsl#density"}};
  std::array<std::array<Texture, 2>, 2> colours_;  // by Look and Theme: one row per colour map
};

/// Draws bodies as soft lights that add up, then glow, tone mapping and sRGB encoding. Allocates only if the picture's
/// size or the number of bodies changes, and never waits for the GPU. Needs a current context after load_gl().
class BodyRenderer {
 public:
  /// Fills the picture, a GL_RGBA8 image. Skips bodies with numbers that are not finite. Throws std::runtime_error if a
  /// shader does not compile or memory is short.
  void draw(const DrawnBodies& bodies, const OrbitCamera& camera, const Appearance& appearance,
            const ValueRanges& ranges, const RenderTarget& picture);

  /// Returns how the last draw() drew: by sprites or by splats.
  Drawing drawn() const noexcept { return drawn_; }

 private:
  /// Returns the requested way, or the faster one if it is automatic; sprites if splats are not possible.
  Drawing chosen(Drawing asked, int count) const;

  Sprites sprites_;
  std::optional<Splats> splats_;  // made when first used
  Glow glow_;
  std::optional<Meter> meter_;  // exists while exposure is automatic
  ToneMap tone_map_;
  RenderTarget light_;
  const bool splats_are_fast_ = Splats::fast_here();
  Drawing drawn_ = Drawing::sprites;
};

/// Finds the body that a user points at. Needs a current context after load_gl().
///
/// A body's distance is measured from the place to the bright inner half of its sprite, in steps of a quarter of a
/// pixel. The body with the minimum distance is found; among several, the one in front, and among these the one with
/// the lowest index.
class Pick {
 public:
  Pick();

  /// Returns the body at `place`, in pixels from the lower left corner of a picture of `width` x `height` pixels; none
  /// if no body is within `reach_px`. Waits for the GPU.
  std::optional<int> at(glm::vec2 place, float reach_px, const DrawnBodies& bodies, const BodyLight& body_light,
                        int width, int height);

 private:
  Program program_;
  Buffer found_;
};

}  // namespace orrery::render
