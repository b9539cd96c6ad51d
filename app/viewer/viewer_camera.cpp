// How the viewer carries out what concerns the camera, its paths and the picked body: a part of Viewer.
#include <fmt/format.h>

#include <algorithm>

#include "app/camera_path/path_file.h"
#include "app/viewer/viewer.h"
#include "compute/core/atomic_file.h"
#include "compute/core/error.h"
#include "compute/core/format_count.h"

namespace orrery {

/// Runs that can be repeated have jumps: each frame shows what was asked for.
void Viewer::glide() {
  if (!lockstep_) glide_.start(camera_, path_clock_s());
}

void Viewer::carry_out(const OrbitView& c) {
  paths_.stop();
  camera_.orbit({c.right, -c.up});
}
void Viewer::carry_out(const PanView& c) {
  paths_.stop();
  camera_.pan({c.right, -c.up});
}
void Viewer::carry_out(const FlyView& c) {
  paths_.stop();
  follow_.stop();
  camera_.fly({c.right, c.up, c.forward});
}
void Viewer::carry_out(const ZoomView& c) {
  paths_.stop();
  if (follow_.active() || !c.x || !c.y) return camera_.zoom(c.notches);
  const render::Canvas canvas = rescue_.outside([this] { return surface_->canvas(); });
  const StagePart part = stage_[0].window_width > 0 ? stage_[0] : whole_stage(canvas, {});
  glm::vec2 place = part.from_window({*c.x, *c.y});
  if (place.x > 1) place.x += 0.5f * (part.middle.x - 1);  // over B: the same place over A
  camera_.zoom_at(c.notches, {2 * place.x - 1, 1 - 2 * place.y},
                  static_cast<float>(part.canvas.width) / static_cast<float>(std::max(part.canvas.height, 1)));
}
void Viewer::carry_out(const LookFrom& c) {
  paths_.stop();
  glide();
  camera_.look_from(c.azimuth, c.elevation);
}
void Viewer::carry_out(const PickAt& c) {
  const bool split = second_.active() && view_.compare.layout == CompareLayout::side;
  picking_in_second_ = split && c.x >= view_.compare.split;
  picker_.pick_at(stage_[picking_in_second_ ? 1 : 0].from_window({c.x, c.y}));
}
void Viewer::carry_out(const PickBody& c) {
  const int count = lane_.status().count;
  if (c.number >= count) {
    throw UsageError(
        fmt::format("there is no body {}: the scene has {}, counted from 0", c.number, counted_bodies(count)));
  }
  picker_.pick(c.number);
}
void Viewer::carry_out(const Unpick&) {
  picker_.unpick();
  view_.notice.clear();  // it may be of a click that is taken back
}
void Viewer::carry_out(const Follow& c) {
  if (c.what == Followed::body && !picker_.active()) {
    throw UsageError("no body is picked that the camera could follow; follow can also be mass, cluster, part or off");
  }
  follow_.start(c, lane_.simulation().parts());
  if (follow_.active()) paths_.stop();
}
void Viewer::carry_out(const ResetCamera&) {
  paths_.stop();
  follow_.stop();
  glide();
  lane_.renew_framing();
  camera_.reset();
}
/// Sprites and zooming suit most of the bodies, also in a view of all.
void Viewer::carry_out(const FrameAll& c) {
  paths_.stop();
  follow_.stop();
  glide();
  const Framing now = lane_.renew_framing();
  camera_.frame(now.centre, now.radius);
  framed_all_.reset();
  if (c.bodies == FramedBodies::all) {
    camera_.show(now.all.centre, now.all.radius);
    framed_all_ = {camera_.target(), camera_.distance()};
  }
  panel_state_.lab.covered = 0;  // until the next frame measures it
}

double Viewer::path_clock_s() const {
  return lockstep_ ? static_cast<double>(frame_) * frame_s_
                   : std::chrono::duration<double>(frame_begin_.time_since_epoch()).count();
}

void Viewer::carry_out(const AddKeyFrame& c) {
  const KeyFrame& added = paths_.add(camera_, c.after_s);
  view_.notice =
      fmt::format("key frame {} of the camera path, at {:g} s", format_count(paths_.made().size()), added.time_s);
}

void Viewer::carry_out(const ClearPath&) {
  paths_.clear();
}

void Viewer::carry_out(const SavePath& c) {
  if (paths_.made().empty())
    throw UsageError("there is no camera path to save: press F2 to add a view (in a script: add-key-frame)");
  const Output to = output(c.file, "path.txt");
  say_written(write_file(to.file, camera_path_text(paths_.made()), to.existing));
  paths_.mark_saved();
}

void Viewer::carry_out(const PlayPath& c) {
  if (c.file.empty() && paths_.made().empty()) {
    throw UsageError(
        "there is no camera path to play: press F2 to add a view (in a script: add-key-frame), or name a file");
  }
  follow_.stop();
  CameraPath path = c.file.empty() ? CameraPath{paths_.made()} : read_camera_path(c.file);
  view_.notice = fmt::format("plays the camera path: {:g} s", path.end_s());
  paths_.play(std::move(path), path_clock_s());
}

}  // namespace orrery
