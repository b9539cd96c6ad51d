#include "app/viewer/path_player.h"

#include <utility>

namespace orrery {

CameraView view_of(const render::OrbitCamera& camera) {
  const glm::vec3 target = camera.target();
  return {.azimuth = camera.azimuth(),
          .elevation = camera.elevation(),
          .distance = camera.distance(),
          .target = {target.x, target.y, target.z}};
}

void place(render::OrbitCamera& camera, const CameraView& view) {
  const auto as_float = [](double value) { return static_cast<float>(value); };
  camera.place({as_float(view.target.x), as_float(view.target.y), as_float(view.target.z)}, as_float(view.azimuth),
               as_float(view.elevation), as_float(view.distance));
}

const KeyFrame& PathPlayer::add(const render::OrbitCamera& camera, double after_s) {
  made_.push_back({.time_s = made_.empty() ? 0 : made_.back().time_s + after_s, .view = view_of(camera)});
  unsaved_ = true;
  return made_.back();
}

void PathPlayer::clear() {
  made_.clear();
  unsaved_ = false;
}

void PathPlayer::play(CameraPath path, double now_s) {
  playing_ = Playing{std::move(path), now_s};
}

void PathPlayer::follow(double now_s, render::OrbitCamera& camera) {
  if (!playing_) return;
  const double time_s = now_s - playing_->begin_s;
  place(camera, playing_->path.at(time_s));
  if (time_s > playing_->path.end_s()) playing_.reset();
}

}  // namespace orrery
