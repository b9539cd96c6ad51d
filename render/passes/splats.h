#pragma once

#include "render/gl/gl_objects.h"
#include "render/gl/program.h"
#include "render/passes/body_light.h"

namespace orrery::render {

/// Adds bodies to images of integers by compute shaders: a small body to one texel of an image of twice the picture's
/// width and height, a large one as a sprite. The same bodies give the same bits in any order. Needs a current context,
/// load_gl() done.
class Splats {
 public:
  Splats();

  /// Whether the driver adds 64-bit integers in one operation. Otherwise sprites are faster.
  static bool fast_here();
  /// Whether the driver's largest shader buffer holds so many bodies and pixels, with `all_shares` of the light or with
  /// the first alone.
  static bool can_draw(int count, int width, int height, bool all_shares = false);

  /// As Sprites::draw(). Throws std::runtime_error if the memory is not enough.
  void draw(const DrawnBodies& bodies, const BodyLight& body_light, const RenderTarget& light);

 private:
  void resize(int count, int width, int height, bool all_shares);

  Program clear_, splat_, large_, gather_;
  // If all shares are summed up, another texel of each for the second and the third one, behind all these.
  Buffer splats_;        // one texel of 8 bytes for a quarter of a pixel
  Buffer sprites_;       // one texel for a pixel
  Buffer large_bodies_;  // how many, then their indices
};

}  // namespace orrery::render
