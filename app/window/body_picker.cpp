#include "app/window/body_picker.h"

#include <algorithm>

#include "render/passes/body_renderer.h"

namespace orrery {
namespace {

constexpr float reach_share = 0.01f;  // of the window's height
constexpr float least_reach_px = 6;

float aspect_of(const render::Canvas& canvas) {
  return static_cast<float>(canvas.width) / static_cast<float>(canvas.height);
}

}  // namespace

void BodyPicker::pick_at(glm::vec2 place) {
  wanted_ = place;
  updated_ = false;
}

void BodyPicker::pick(int number) {
  unpick();
  number_ = number;
  updated_ = false;
}

void BodyPicker::leave_scene() {
  if (updated_) unpick();
}

void BodyPicker::unpick() {
  if (readback_) readback_->cancel();
  wanted_.reset();
  number_.reset();
  state_.reset();
  acceleration_.reset();
}

std::optional<glm::vec3> BodyPicker::position() const {
  if (!number_ || !state_) return std::nullopt;
  return glm::vec3{state_->position};
}

bool BodyPicker::find(const Scene& scene, const render::OrbitCamera& camera) {
  const glm::vec2 place = *wanted_;
  unpick();
  const int width = scene.canvas.width, height = scene.canvas.height;
  const auto up = static_cast<float>(height);
  const render::BodyLight light = body_light(scene.bodies, camera, scene.appearance, scene.ranges, width, height);
  if (!pick_) pick_.emplace();
  number_ = pick_->at({place.x * static_cast<float>(width), (1 - place.y) * up},
                      std::max(least_reach_px, reach_share * up), scene.bodies, light, width, height);
  if (number_) read_now(scene);
  return number_.has_value();
}

void BodyPicker::read_now(const Scene& scene) {
  if (!readback_) readback_.emplace(1);
  take(readback_->read(scene.bodies, {&*number_, 1}, scene.time));
}

void BodyPicker::take(const render::BodySample& sample) {
  const render::BodyState& now = sample.bodies.front();
  const double since = sample.time - state_time_;
  if (state_ && since > 0) {
    acceleration_ = (glm::vec3{now.velocity} - glm::vec3{state_->velocity}) / static_cast<float>(since);
  }
  state_ = now;
  state_time_ = sample.time;
}

bool BodyPicker::update(const Scene& scene, const render::OrbitCamera& camera) {
  if (scene.canvas.width < 1 || scene.canvas.height < 1 || scene.bodies.count < 1) return true;
  updated_ = true;
  const bool found = !wanted_ || find(scene, camera);
  if (number_ && *number_ >= scene.bodies.count) unpick();
  if (!number_) return found;
  if (history_ != scene.history) {
    history_ = scene.history;
    acceleration_.reset();
    state_.reset();
    if (readback_) readback_->cancel();
  }
  if (lockstep_ || !state_) {
    read_now(scene);
  } else {
    if (const auto newest = readback_->poll()) take(*newest);
    readback_->request(scene.bodies, {&*number_, 1}, scene.time);
  }
  return found;
}

std::optional<PickedBody> BodyPicker::describe(const Scene& scene, const render::OrbitCamera& camera) const {
  if (!number_ || !state_) return std::nullopt;
  const auto plain = [](glm::vec4 v) { return std::array{v.x, v.y, v.z}; };
  const glm::vec3 position{state_->position};
  PickedBody body{.number = *number_,
                  .part = {},
                  .mass = state_->position.w,
                  .position = plain(state_->position),
                  .velocity = plain(state_->velocity),
                  .distance = glm::distance(position, camera.target())};
  if (acceleration_) body.acceleration = std::array{acceleration_->x, acceleration_->y, acceleration_->z};
  if (const auto at = static_cast<std::size_t>(*number_); at < scene.parts.of_body.size()) {
    body.part = scene.parts.names[scene.parts.of_body[at]];
  }
  if (scene.canvas.width < 1 || scene.canvas.height < 1) return body;
  if (const auto seen = camera.seen_at(position, aspect_of(scene.canvas))) {
    body.place = {0.5f + 0.5f * seen->x, 0.5f - 0.5f * seen->y};
  }
  return body;
}

}  // namespace orrery
