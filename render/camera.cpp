#include "render/camera.h"

#include <algorithm>
#include <cmath>
#include <glm/gtc/constants.hpp>
#include <glm/gtc/matrix_transform.hpp>
#include <numbers>

namespace orrery::render {
namespace {

constexpr float steepest = glm::half_pi<float>();    // beyond this, the picture would be upside down
constexpr float step_factor = 0.88f;                 // factor of the distance per wheel notch
constexpr float nearest = 2e-3f, farthest = 100.0f;  // distances in framed radii

bool finite(glm::vec2 v) {
  return std::isfinite(v.x) && std::isfinite(v.y);
}
bool finite(glm::vec3 v) {
  return finite(glm::vec2{v}) && std::isfinite(v.z);
}

}  // namespace

void OrbitCamera::orbit(glm::vec2 drag) {
  if (!finite(drag)) return;
  look_from(azimuth_ - drag.x * glm::pi<float>(), elevation_ + drag.y * glm::pi<float>());
}

void OrbitCamera::pan(glm::vec2 drag) {
  if (!finite(drag)) return;
  const glm::mat4 axes = glm::transpose(view());
  move_target(world_per_height() * (drag.y * glm::vec3{axes[1]} - drag.x * glm::vec3{axes[0]}));
}

void OrbitCamera::fly(glm::vec3 by) {
  if (!finite(by)) return;
  const glm::mat4 axes = glm::transpose(view());
  move_target(distance_ * (by.x * glm::vec3{axes[0]} + by.y * glm::vec3{axes[1]} - by.z * glm::vec3{axes[2]}));
}

OrbitCamera OrbitCamera::on_the_way_from(const OrbitCamera& from, float share) const {
  OrbitCamera camera = *this;
  constexpr float turn = 2 * std::numbers::pi_v<float>;
  camera.target_ = glm::mix(from.target_, target_, share);
  camera.azimuth_ = from.azimuth_ + share * std::remainder(azimuth_ - from.azimuth_, turn);
  camera.elevation_ = glm::mix(from.elevation_, elevation_, share);
  camera.distance_ = from.distance_ * std::pow(distance_ / from.distance_, share);
  return camera;
}

void OrbitCamera::move_target(glm::vec3 by) {
  const glm::vec3 moved = target_ + by, away = moved - framed_centre_;
  const float limit = farthest * framed_radius_;
  const float length = glm::length(away);
  target_ = length > limit ? framed_centre_ + away * (limit / length) : moved;
}

void OrbitCamera::zoom(float steps) {
  if (!std::isfinite(steps)) return;
  distance_ = std::clamp(distance_ * std::pow(step_factor, steps), nearest * framed_radius_, farthest * framed_radius_);
}

void OrbitCamera::zoom_at(float steps, glm::vec2 pointer, float aspect) {
  if (!finite(pointer) || !std::isfinite(aspect)) return;
  const float before = distance_;
  zoom(steps);
  const glm::vec2 offset = (pointer - middle_) * glm::vec2{aspect, 1.0f} * tangent(aspect) * (before - distance_);
  const glm::mat4 axes = glm::transpose(view());
  move_target(offset.x * glm::vec3{axes[0]} + offset.y * glm::vec3{axes[1]});
}

void OrbitCamera::aim_at(glm::vec3 target) {
  if (finite(target)) target_ = target;
}

void OrbitCamera::frame(glm::vec3 centre, float radius) {
  if (!finite(centre) || !std::isfinite(radius)) return;
  framed_centre_ = target_ = centre;
  framed_radius_ = radius > 0.0f ? radius : 1.0f;
  distance_ = distance_of(framed_radius_);
}

void OrbitCamera::show(glm::vec3 centre, float radius) {
  if (!finite(centre) || !std::isfinite(radius) || !(radius > 0.0f)) return;
  target_ = centre;
  distance_ = distance_of(radius);
}

void OrbitCamera::fit_into(float share, glm::vec2 middle) {
  if (std::isfinite(share) && share > 0.0f) fitted_share_ = std::min(share, 1.0f);
  if (finite({middle.x, middle.y})) middle_ = middle;
}

void OrbitCamera::home(float azimuth, float elevation) {
  home_azimuth_ = azimuth;
  home_elevation_ = elevation;
}

void OrbitCamera::reset() {
  azimuth_ = home_azimuth_;
  elevation_ = home_elevation_;
  target_ = framed_centre_;
  distance_ = distance_of(framed_radius_);
}

void OrbitCamera::look_from(float azimuth, float elevation) {
  if (!finite({azimuth, elevation})) return;
  azimuth_ = std::remainder(azimuth, glm::two_pi<float>());
  elevation_ = std::clamp(elevation, -steepest, steepest);
}

void OrbitCamera::place(glm::vec3 target, float azimuth, float elevation, float distance) {
  if (!finite(target) || !std::isfinite(distance) || !(distance > 0.0f)) return;
  target_ = target;
  distance_ = distance;
  look_from(azimuth, elevation);
}

glm::mat4 OrbitCamera::view() const {
  // The right axis follows from the azimuth. So the up direction is also defined at the poles.
  const glm::vec3 back = direction(), right{-std::sin(azimuth_), std::cos(azimuth_), 0.0f};
  const glm::mat3 axes{right, glm::cross(back, right), back};
  glm::mat4 matrix{glm::transpose(axes)};
  matrix[3] = glm::vec4{-glm::transpose(axes) * position(), 1.0f};
  return matrix;
}

glm::mat4 OrbitCamera::projection(float aspect) const {
  glm::mat4 matrix = glm::infinitePerspective(2.0f * std::atan(tangent(aspect)), aspect, 1e-2f * distance_);
  matrix[2][0] = -middle_.x;  // times -z, the divisor of clip coordinates
  matrix[2][1] = -middle_.y;
  return matrix;
}

glm::vec3 OrbitCamera::position() const {
  return target_ + distance_ * direction();
}

std::optional<glm::vec2> OrbitCamera::seen_at(glm::vec3 point, float aspect) const {
  const glm::vec4 clip = projection(aspect) * view() * glm::vec4{point, 1.0f};
  if (!(clip.w > 0.0f)) return std::nullopt;
  const glm::vec2 place = glm::vec2{clip} / clip.w;
  return finite(place) ? std::optional{place} : std::nullopt;
}

glm::vec3 OrbitCamera::direction() const {
  const float level = std::cos(elevation_);
  return {level * std::cos(azimuth_), level * std::sin(azimuth_), std::sin(elevation_)};
}

/// Returns the distance from which a ball of `radius` just fills the view.
float OrbitCamera::distance_of(float radius) {
  return radius / std::sin(0.5f * field_of_view);
}

/// Returns the tangent of half the vertical field of view.
float OrbitCamera::tangent(float aspect) const {
  return std::tan(0.5f * field_of_view) / std::min(aspect, fitted_share_);
}

}  // namespace orrery::render
