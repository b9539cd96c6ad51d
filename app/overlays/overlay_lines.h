#pragma once

#include <glm/glm.hpp>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "app/ui_state/legend.h"
#include "app/ui_state/overlays_commands.h"
#include "render/appearance.h"
#include "render/camera.h"
#include "render/passes/body_readback.h"
#include "render/passes/strokes.h"

namespace orrery {

/// Tracks of some bodies: the latest state of each, and its positions at equal intervals of simulated time.
class BodyTracks {
 public:
  static constexpr int most_points = 64;

  struct Track {
    render::BodyState state;                ///< state at time()
    std::optional<glm::vec3> acceleration;  ///< mean since the previous reading; none: there was no previous one
    std::vector<glm::vec3> points;          ///< at most most_points, oldest first; the last one is at latest_point()
  };

  void clear() { tracks_.clear(); }
  /// Adds a reading; forgets bodies that it lacks. Points are exactly `interval` > 0 apart in time, interpolated from
  /// positions and velocities of two readings. An earlier reading or another interval restarts the tracks.
  void add(const render::BodySample& sample, double interval);

  /// Returns the tracks, by body index.
  const std::map<int, Track>& tracks() const { return tracks_; }
  double time() const { return time_; }
  double interval() const { return interval_; }
  double latest_point() const { return next_point_ - interval_; }

 private:
  void add_points(const render::BodySample& sample);

  std::map<int, Track> tracks_;
  double time_ = 0, interval_ = 0;
  double next_point_ = 0;  // simulated time of the next point of every track
};

/// Returns the position of a track's body a short time `later` after its reading, by linear motion.
glm::vec3 place_after(const BodyTracks::Track& track, double later);

/// Returns the indices of evenly spaced bodies, at most 1,023 of `count`, and of the picked one. If `every` is false,
/// returns the picked one alone.
std::vector<int> sample_of(int count, bool every, std::optional<int> picked);

/// Returns the default length of trails in simulated time: a fast body then crosses 0.6 `radius`, the scene's radius.
double usual_trail_length(float radius, const render::ValueRanges& ranges);

/// Returns lines along the tracks, which end at the bodies' positions at time `now` and fade into the past. If bodies
/// are coloured by speed, each line has its body's colour. The line of `picked` is highlighted.
std::vector<render::DrawnLine> trail_lines(const BodyTracks& tracks, double now, TrailsOf of, std::optional<int> picked,
                                           const render::Appearance& appearance, const render::ValueRanges& ranges);

/// An amount of something at a position in the world.
struct Amount {
  glm::vec3 place;
  float amount;
};

/// Returns the crowding around each place in the picture: the mean amount per square, whose side is `side` times the
/// picture's height; 0 for a place behind the camera. It changes smoothly as places and camera move.
std::vector<float> crowd_around(std::span<const Amount> amounts, const render::OrbitCamera& camera, float side);

struct Arrows {
  std::vector<render::DrawnLine> lines;
  float value_per_length = 0;  ///< value of an arrow of unit length in the world; 0: there are no arrows
};

/// Returns arrows at the bodies' positions at time `now`. The longest is a tenth of the picture's height. Bodies
/// without a known acceleration get no arrow of it. Crowded arrows are thinned out, except the picked body's.
Arrows arrows_of(const BodyTracks& tracks, double now, Vectors quantity, std::optional<int> picked,
                 const render::OrbitCamera& camera, render::Theme theme);

/// Returns the colour of the arrows, in sRGB. `quantity` must not be `none`.
glm::vec3 arrow_colour(Vectors quantity, render::Theme theme);

struct Axes {
  std::vector<render::DrawnLine> lines;
  std::vector<PictureLabel> labels;  ///< names of the axes, and lengths at tick marks
  double tick = 0;                   ///< distance between two tick marks, in world units
};

/// Returns the axes from `centre`, for a scene of this `radius` > 0 in a picture of `width` x `height` pixels. Tick
/// marks are at round lengths that suit the zoom.
Axes axes_of(glm::vec3 centre, float radius, const render::OrbitCamera& camera, int width, int height,
             render::Theme theme);

/// A colour for a dark background and its counterpart for white, both in sRGB.
struct Ink {
  glm::vec3 on_dark, on_light;

  glm::vec3 in(render::Theme theme) const { return theme == render::Theme::light ? on_light : on_dark; }
  glm::vec4 in(render::Theme theme, float opacity) const { return {in(theme), opacity}; }
};

inline SrgbColour as_values(glm::vec3 colour) {
  return {colour.r, colour.g, colour.b};
}

}  // namespace orrery
