#pragma once

#include <glm/glm.hpp>
#include <optional>

namespace orrery::render {

/// A perspective camera that circles a target. Its up axis is y in its own frame and z in the world. It is never upside
/// down or inside out: moves stop at limits, and a number that is not finite has no effect.
class OrbitCamera {
 public:
  /// Turns the camera by a mouse drag. Each coordinate is a fraction of the viewport's height (right and down
  /// positive); a full height is half a turn.
  void orbit(glm::vec2 drag);
  /// Moves the target so that it stays under the cursor. `drag`: as in orbit().
  void pan(glm::vec2 drag);
  /// Moves camera and target together: to the right, up and forward as seen, in units of the distance to the target.
  void fly(glm::vec3 by);
  /// Changes the distance. Positive steps (wheel notches) move nearer.
  void zoom(float steps);
  /// Zooms so that the point at the target's depth that is seen at `pointer` (normalized device coordinates) stays
  /// there.
  void zoom_at(float steps, glm::vec2 pointer, float aspect);
  /// Moves the target, keeping direction and distance.
  void aim_at(glm::vec3 target);
  /// Aims at `centre` from where a ball of `radius` > 0 just fills the view, keeping the direction. reset() returns to
  /// this ball. Sprites and brightness are scaled for it, so pass one that holds most bodies, not all outliers.
  void frame(glm::vec3 centre, float radius);
  /// Aims at a ball as frame() does, but keeps the sprites, the limits and reset() of the ball framed last.
  void show(glm::vec3 centre, float radius);
  /// Sets the part of the viewport into which frame() fits its ball. `share` > 0: the part's shorter side over the
  /// viewport's height. `middle`: the part's middle, where the target is seen, in normalized device coordinates.
  /// Initially, or if `share` is too large, the part is the whole viewport.
  void fit_into(float share, glm::vec2 middle = {});
  /// Returns to the ball of the last frame() and the direction of home().
  void reset();
  /// Sets the direction to which reset() returns. Angles: as in look_from().
  void home(float azimuth, float elevation);
  /// Sets the direction. Angles in radians: `azimuth` about z from the x axis, `elevation` over the xy plane.
  void look_from(float azimuth, float elevation);

  /// Aims at `target` from `distance` > 0. Angles: as in look_from(). The limits of moves do not apply.
  void place(glm::vec3 target, float azimuth, float elevation, float distance);

  /// Returns a camera between `from` (`share` 0) and this one (`share` 1), which turns the shorter way around.
  OrbitCamera on_the_way_from(const OrbitCamera& from, float share) const;

  glm::mat4 view() const;
  /// Returns the projection. `aspect`: width / height. The shorter side of the part set by fit_into() sees
  /// `field_of_view`. There is no far plane.
  glm::mat4 projection(float aspect) const;
  glm::vec3 position() const;
  /// Returns the unit vector along the view, from the camera to the target.
  glm::vec3 sight() const { return -direction(); }
  /// Returns where a point is seen, in normalized device coordinates; none if it is not in front of the camera.
  std::optional<glm::vec2> seen_at(glm::vec3 point, float aspect) const;
  /// Returns the length that the viewport's height covers at the target.
  float world_per_height() const { return 2.0f * distance_ * tangent(1.0f); }
  glm::vec3 target() const noexcept { return target_; }
  float distance() const noexcept { return distance_; }
  float framed_radius() const noexcept { return framed_radius_; }
  float azimuth() const noexcept { return azimuth_; }
  float elevation() const noexcept { return elevation_; }

  static constexpr float field_of_view = 0.7854f;  ///< radians: 45 degrees

 private:
  void move_target(glm::vec3 by);
  glm::vec3 direction() const;
  static float distance_of(float radius);
  float tangent(float aspect) const;

  float home_azimuth_ = -1.1f, home_elevation_ = 0.6f;
  glm::vec3 framed_centre_{0.0f};
  float framed_radius_ = 1.0f;
  glm::vec3 target_{0.0f};
  float azimuth_ = home_azimuth_, elevation_ = home_elevation_;
  float distance_ = distance_of(framed_radius_);
  float fitted_share_ = 1.0f;  // larger values change nothing
  glm::vec2 middle_{0.0f};
};

}  // namespace orrery::render
