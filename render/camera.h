#pragma once

#include <glm/glm.hpp>
#include <optional>

namespace orrery::render {

/// A perspective camera that circles a target; y is up in its own frame, z in the world. Never upside down, never
/// inside out: moves stop at the limits, and a number that is not finite has no effect.
class OrbitCamera {
 public:
  /// Moves by a mouse drag, each coordinate a fraction of the viewport's height (right and down positive): a full
  /// height is half a turn.
  void orbit(glm::vec2 drag);
  /// Moves the target so that it stays under the cursor; `drag` as above.
  void pan(glm::vec2 drag);
  /// Moves camera and target together: to the right, up and forward as seen, in distances to the target.
  void fly(glm::vec3 by);
  /// Positive steps (wheel notches) move nearer.
  void zoom(float steps);
  /// The same, and what is seen at `pointer`, in normalized device coordinates, at the target's depth stays there.
  void zoom_at(float steps, glm::vec2 pointer, float aspect);
  /// Moves the target, keeping direction and distance.
  void aim_at(glm::vec3 target);
  /// Aims at `centre` from where a ball of `radius` (> 0) just fills the view, keeping the direction; what reset()
  /// returns to. Sprites and brightness are scaled for this ball, so pass one that holds most bodies, not all outliers.
  void frame(glm::vec3 centre, float radius);
  /// Aims at a ball as frame() does, but sprites, limits and reset() stay those of the ball framed last.
  void show(glm::vec3 centre, float radius);
  /// frame() fits its ball into a part of the viewport: `share` > 0 is that part's shorter side over the viewport's
  /// height, and `middle` the part's middle in normalized device coordinates, where the target is seen. Initially, and
  /// if the share is more than the viewport has: the whole of it.
  void fit_into(float share, glm::vec2 middle = {});
  /// Back to the last frame() and the direction of home().
  void reset();
  /// The direction that reset() returns to; angles as look_from().
  void home(float azimuth, float elevation);
  /// Angles in radians: `azimuth` about z from the x axis, `elevation` over the xy plane.
  void look_from(float azimuth, float elevation);

  /// Aims at `target` from `distance` (> 0), with angles as look_from(). The limits of moves do not hold.
  void place(glm::vec3 target, float azimuth, float elevation, float distance);

  /// This camera, but seen from `from` at `share` 0, and as it is at 1; the shorter way around.
  OrbitCamera on_the_way_from(const OrbitCamera& from, float share) const;

  glm::mat4 view() const;
  /// `aspect` is width / height. The shorter side of what frame() fits its ball into sees `field_of_view`; nothing is
  /// too far.
  glm::mat4 projection(float aspect) const;
  glm::vec3 position() const;
  /// The unit vector along the view, from the camera to the target.
  glm::vec3 sight() const { return -direction(); }
  /// Where a point is seen, in normalized device coordinates; none if it is not in front of the camera.
  std::optional<glm::vec2> seen_at(glm::vec3 point, float aspect) const;
  /// The length that the viewport's height shows at the target.
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
  float fitted_share_ = 1.0f;  // more changes nothing
  glm::vec2 middle_{0.0f};
};

}  // namespace orrery::render
