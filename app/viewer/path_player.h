#pragma once

#include <optional>
#include <vector>

#include "app/camera_path/camera_path.h"
#include "render/camera.h"

namespace orrery {

CameraView view_of(const render::OrbitCamera& camera);
void place(render::OrbitCamera& camera, const CameraView& view);

/// Makes a camera path of views, key frame by key frame, and moves a camera along a path.
class PathPlayer {
 public:
  /// Adds the camera's view as a key frame, `after_s` after the last one; the first one is at 0 s.
  const KeyFrame& add(const render::OrbitCamera& camera, double after_s);
  void clear();
  const std::vector<KeyFrame>& made() const { return made_; }
  /// Whether key frames were added since the path was saved.
  bool unsaved() const { return unsaved_; }
  void mark_saved() { unsaved_ = false; }

  /// Both clocks are the caller's: any time in seconds that only grows.
  void play(CameraPath path, double now_s);
  void stop() { playing_.reset(); }
  /// Moves the camera to its place on the path. Stops after the end.
  void follow(double now_s, render::OrbitCamera& camera);

 private:
  struct Playing {
    CameraPath path;
    double begin_s;
  };

  std::vector<KeyFrame> made_;
  bool unsaved_ = false;
  std::optional<Playing> playing_;
};

}  // namespace orrery
