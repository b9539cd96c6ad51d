#pragma once

#include "render/appearance.h"
#include "render/camera.h"
#include "render/gl_objects.h"
#include "render/program.h"

namespace orrery::render {

/// The name of a GL buffer of 2 x `count` vec4: first all positions with the mass in w, then all velocities. It may not
/// be mapped elsewhere.
struct DrawnBodies {
  unsigned buffer = 0;
  int count = 0;
};

/// Values that take the first and the last colour of the map.
struct ValueRange {
  float low = 0.0f;
  float high = 1.0f;
};

/// The values at the ends of the colour map, for this scene. Percentiles make better pictures than extremes. Bodies of
/// mass `mass.high` get sprites of normal size.
struct ValueRanges {
  ValueRange speed;
  ValueRange mass;
};

/// Where to draw: a framebuffer (0 is the window) and its size in pixels.
struct Canvas {
  unsigned framebuffer = 0;
  int width = 0;
  int height = 0;
};

/// Draws bodies as soft lights that add up, then glow, tone mapping and sRGB encoding. One draw call for
/// any number of bodies. Allocates only when the canvas changes its size, and never waits for the GPU.
class BodyRenderer {
 public:
  /// Needs a current context, load_gl() done. Throws std::runtime_error if a shader does not compile.
  BodyRenderer();

  /// Fills the whole canvas, if it has an area. Skips bodies with numbers that are not finite. Leaves
  /// framebuffer and viewport of the canvas bound, blending and depth test off.
  void draw(const DrawnBodies& bodies, const OrbitCamera& camera, const Appearance& appearance,
            const ValueRanges& ranges, const Canvas& canvas);

 private:
  struct Programs {
    Program bodies{"bodies.vert", "bodies.frag"};
    Program reduce{"screen.vert", "reduce.frag"};
    Program enlarge{"screen.vert", "enlarge.frag"};
    Program finish{"screen.vert", "finish.frag"};
  };
  static constexpr int glow_levels = 4;  ///< each half as wide as the one before; the first a quarter of the canvas

  void resize(int width, int height);
  void draw_sprites(const DrawnBodies& bodies, const OrbitCamera& camera, const Appearance& appearance,
                    const ValueRanges& ranges);
  void draw_glow();

  Programs programs_;
  VertexArray body_array_, no_array_;
  Texture colours_;  ///< one row per colour map
  RenderTarget light_;
  RenderTarget glow_[glow_levels];
};

}  // namespace orrery::render
