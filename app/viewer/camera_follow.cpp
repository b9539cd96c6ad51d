#include "app/viewer/camera_follow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/names.h"

namespace orrery {
namespace {

constexpr double most_ahead = 3;  // of the time between two centres: the extrapolation ends there

/// Shares of the difference between a centre and what was expected, by which place and step are corrected: the gains of
/// an alpha-beta filter.
struct Gains {
  float place, step;
};
constexpr Gains exact{1, 1};
constexpr Gains smooth{0.2f, 0.02f};  // a cluster has no sharp centre: bodies enter it and leave it

bool has_part(const Parts& parts, const std::string& name) {
  return std::ranges::find(parts.names, name) != parts.names.end();
}

void check_part(const std::string& name, const Parts& parts) {
  if (parts.names.empty()) {
    throw UsageError("the scene has no parts that the camera could follow; follow can be body, mass, cluster or off");
  }
  if (name.empty()) throw UsageError("follow part needs the name of a part: " + joined(parts.names));
  if (has_part(parts, name)) return;
  const std::vector<std::string_view> known{parts.names.begin(), parts.names.end()};
  throw unknown_name("part", name, known);
}

}  // namespace

void CameraFollow::start(const Follow& what, const Parts& parts) {
  if (what.what == Followed::part) {
    check_part(what.name, parts);
  } else if (!what.name.empty()) {
    throw UsageError(fmt::format("follow {} takes no name; only a part has one: follow part NAME", word_of(what.what)));
  }
  stop();
  what_ = what;
}

void CameraFollow::stop() {
  what_ = {.what = Followed::nothing};
  number_.reset();
  target_.reset();
  from_.reset();
  forget_centre();
}

void CameraFollow::forget_centre() {
  if (finder_) finder_->restart();
  latest_.reset();
  parts_ = {};
  is_old_ = true;
}

std::string CameraFollow::take_scene(const Parts& parts) {
  const Follow old = what_;
  stop();
  if (old.what == Followed::body) return {};
  if (old.what == Followed::part && !has_part(parts, old.name)) {
    const std::string has = parts.names.empty() ? "no parts" : "only " + joined(parts.names);
    return fmt::format("the camera no longer follows '{}': this scene has {}", old.name, has);
  }
  what_ = old;
  return {};
}

bool CameraFollow::update(const Scene& scene, const BodyPicker& picker) {
  switch (what_.what) {
    case Followed::nothing:
      return false;
    case Followed::body:
      return update_body(picker);
    default:
      return update_centre(scene);
  }
}

/// Ends when the body is no longer picked.
bool CameraFollow::update_body(const BodyPicker& picker) {
  if (!picker.active()) stop();
  if (!picker.position()) return false;
  const bool another = number_ != picker.number();
  if (another) from_.reset();
  number_ = picker.number();
  target_ = picker.position();
  return another;
}

bool CameraFollow::update_centre(const Scene& scene) {
  if (std::exchange(history_, scene.history) != scene.history) forget_centre();
  if (!finder_) finder_.emplace();
  is_old_ |= scene.moved;
  bool another = false;
  if (finder_->in_flight()) {
    if (const auto found = finder_->poll(false)) another = take(*found);
  }
  if (is_old_ && !finder_->in_flight()) request(scene);
  if (lockstep_ && finder_->in_flight()) another = take(*finder_->poll(true));
  if (latest_) target_ = centre_at(scene.time);
  return another;
}

void CameraFollow::request(const Scene& scene) {
  if (what_.what == Followed::mass) {
    finder_->request(scene.bodies, scene.time);
  } else if (what_.what == Followed::cluster) {
    finder_->request_cluster(scene.bodies, scene.time);
  } else {
    request_part(scene);
  }
  is_old_ = !finder_->in_flight();
}

/// Parts may be known some frames before their bodies are drawn: then there is no request.
void CameraFollow::request_part(const Scene& scene) {
  const auto part = std::ranges::find(scene.parts.names, what_.name);
  const bool known = scene.parts.of_body.size() == static_cast<std::size_t>(scene.bodies.count);
  if (!known || part == scene.parts.names.end()) return;
  if (!parts_) {
    std::vector<std::uint8_t> padded = scene.parts.of_body;
    padded.resize((padded.size() + 3) / 4 * 4);
    parts_ = render::Buffer{padded.size()};
    parts_.upload(std::as_bytes(std::span{padded}));
  }
  finder_->request_part(scene.bodies, parts_, static_cast<int>(part - scene.parts.names.begin()), scene.time);
}

/// Returns whether the target is another one, or the first one.
bool CameraFollow::take(const render::FoundCentre& found) {
  if (!found.centre) return false;
  const bool another = found.another && latest_;
  if (another || !latest_) {
    latest_ = {*found.centre, found.time};
  } else if (latest_->time != found.time) {
    move_on(*found.centre, found.time);
  }
  return another || !from_;
}

void CameraFollow::move_on(glm::vec3 centre, double time) {
  const Known& last = *latest_;
  const double duration = time - last.time;
  const bool second = last.duration == 0;
  const Gains gains = what_.what == Followed::cluster && !second ? smooth : exact;
  const glm::vec3 expected = second ? glm::vec3{0.0f} : static_cast<float>(duration / last.duration) * last.step;
  const glm::vec3 error = centre - (last.centre + expected);
  latest_ = {last.centre + expected + gains.place * error, time, expected + gains.step * error, duration};
}

glm::vec3 CameraFollow::centre_at(double time) const {
  if (latest_->duration == 0) return latest_->centre;
  const double share = std::clamp((time - latest_->time) / latest_->duration, 0.0, most_ahead);
  return latest_->centre + static_cast<float>(share) * latest_->step;
}

void CameraFollow::aim(render::OrbitCamera& camera) {
  if (!target_) return;
  const glm::vec3 offset = from_ ? camera.target() - *from_ : glm::vec3{0.0f};
  camera.aim_at(*target_ + offset);
  from_ = target_;
}

}  // namespace orrery
