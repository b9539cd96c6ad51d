// The window's camera: initial views of scenes, input, following and paths.
#include "app/window/camera_control.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "app/panels/kit/imgui_versions.h"
#include "app/ui_state/camera_commands.h"
#include "app/ui_state/camera_path.h"
#include "app/window/colouring.h"
#include "compute/core/atomic_file.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/text.h"
#include "render/passes/body_renderer.h"

namespace orrery {
namespace {

struct Row {
  std::string_view scene;
  SceneView view;
};

constexpr int ember = 1, aurora = 2, nebula = 3;  // indices into render::colour_maps()

/// One row per scene. At 60 frames per second, the main event of a scene happens within 5 to 20 s. `cosmic-web` starts
/// small in a picture that its web fills at t = 0.6. Without a map, the colours are those of stars.
const std::array<Row, 9>& rows() {
  static const std::array all{
      Row{"antennae",
          {.azimuth = -1.4f,
           .elevation = 1.25f,
           .appearance = {.colour_by = find_body_colour("species").by},
           .steps_per_frame = 2}},
      Row{"cold-collapse",
          {.azimuth = -0.8f, .elevation = 0.35f, .appearance = {.colour_map = ember}, .steps_per_frame = 2}},
      Row{"collapse",
          {.azimuth = -0.9f,
           .elevation = 0.5f,
           .least_radius = 0.8f,
           .appearance = {.colour_map = aurora},
           .steps_per_frame = 2}},
      Row{"collision", {.azimuth = -1.1f, .elevation = 0.9f}},
      Row{"cosmic-web",
          {.azimuth = -0.7f, .elevation = 0.4f, .least_radius = 1.2f, .appearance = {.colour_map = nebula}}},
      Row{"disc", {.azimuth = -1.2f, .elevation = 0.75f}},
      Row{"plummer", {}},
      Row{"spiral", {.azimuth = -1.1f, .elevation = 1.0f, .steps_per_frame = 2}},
      Row{"two-body", {.azimuth = -1.57f, .elevation = 1.0f, .steps_per_frame = 4}},
  };
  return all;
}

}  // namespace

SceneView scene_view(const SceneRequest& scene) {
  const auto row = std::ranges::find(rows(), scene.scene, &Row::scene);
  return scene.file.empty() && row != rows().end() ? row->view : SceneView{};
}
namespace {

/// Returns whether the left button was clicked: released where it was pressed, once, and not over a panel. ImGui's drag
/// distance omits the movement in the frame of the release, which is the whole drag if frames are slow.
bool clicked(const ImGuiIO& io) {
  constexpr int left = ImGuiMouseButton_Left;
  const float x = io.MousePos.x - io.MouseClickedPos[left].x, y = io.MousePos.y - io.MouseClickedPos[left].y;
  const float moved_sqr = std::max(io.MouseDragMaxDistanceSqr[left], x * x + y * y);
  return io.MouseReleased[left] && !io.MouseDownOwned[left] && io.MouseClickedLastCount[left] <= 1 &&
         moved_sqr < io.MouseDragThreshold * io.MouseDragThreshold && !io.KeyShift;
}

std::optional<FlyView> flight(const ImGuiIO& io, const HeldKeys& held) {
  if (io.WantTextInput || io.KeyCtrl || io.KeyAlt || io.KeySuper) return std::nullopt;
  if (held.right == 0 && held.up == 0 && held.forward == 0) return std::nullopt;
  const float distance = FlyView::per_s * (io.KeyShift ? FlyView::fast : 1) * std::min(io.DeltaTime, 0.1f);
  return FlyView{distance * static_cast<float>(held.right), distance * static_cast<float>(held.up),
                 distance * static_cast<float>(held.forward)};
}

/// Returns whether the mouse is over the picture, which must have an area.
bool is_over_picture(const ImGuiIO& io) {
  return !io.WantCaptureMouse && io.DisplaySize.x > 0 && io.DisplaySize.y > 0;
}

/// Returns the pointer's place in shares of the window; none outside of it.
std::optional<PickAt> place_of(const ImGuiIO& io) {
  const PickAt place{io.MousePos.x / io.DisplaySize.x, io.MousePos.y / io.DisplaySize.y};
  const bool inside = PickAt::shares.contains(place.x) && PickAt::shares.contains(place.y);
  return inside ? std::optional{place} : std::nullopt;
}

Requests mouse_requests(const ImGuiIO& io) {
  Requests requests;
  const float right = io.MouseDelta.x / io.DisplaySize.y, up = -io.MouseDelta.y / io.DisplaySize.y;
  const bool moved = right != 0 || up != 0;
  const bool turning = io.MouseDown[ImGuiMouseButton_Left] || io.MouseDown[ImGuiMouseButton_Middle];
  if (io.MouseDown[ImGuiMouseButton_Right] || (turning && io.KeyShift)) {
    if (moved) requests.push_back(ViewCommand{PanView{right, up}});
  } else if (turning && moved) {
    requests.push_back(ViewCommand{OrbitView{right, up}});
  }
  if (io.MouseWheel != 0) {
    const auto at = place_of(io);
    requests.push_back(ViewCommand{at ? ZoomView{io.MouseWheel, at->x, at->y} : ZoomView{io.MouseWheel}});
  }
  return requests;
}

}  // namespace

HeldKeys held_keys() {
  const auto between = [](ImGuiKey less, ImGuiKey more) {
    const auto down = [](ImGuiKey key) { return ImGui::IsKeyDown(key_index(key)); };
    return int{down(more)} - int{down(less)};
  };
  return {between(ImGuiKey_LeftArrow, ImGuiKey_RightArrow), between(ImGuiKey_PageDown, ImGuiKey_PageUp),
          between(ImGuiKey_DownArrow, ImGuiKey_UpArrow)};
}

/// A click picks immediately, since the bodies move. The second click of a double click undoes that.
void CameraControl::follow_clicks(const ImGuiIO& io, std::optional<int> picked, Requests& requests) {
  if (io.MouseClicked[ImGuiMouseButton_Left] && !io.MouseDoubleClicked[ImGuiMouseButton_Left]) before_click_.reset();
  if (!is_over_picture(io)) return;
  if (const auto place = place_of(io); place && clicked(io)) {
    before_click_ = picked ? ViewCommand{PickBody{*picked}} : ViewCommand{Unpick{}};
    requests.push_back(ViewCommand{*place});
  }
  if (!io.MouseDoubleClicked[ImGuiMouseButton_Left]) return;
  if (before_click_) requests.push_back(*std::exchange(before_click_, {}));
  requests.push_back(ViewCommand{FrameAll{}});
}

Requests CameraControl::requests(const ImGuiIO& io, const HeldKeys& held, std::optional<int> picked) {
  Requests requests = is_over_picture(io) ? mouse_requests(io) : Requests{};
  follow_clicks(io, picked, requests);
  if (const auto flown = flight(io, held)) requests.push_back(*flown);
  return requests;
}

std::vector<KeyHelp> mouse_help() {
  return {{"Click", "Picks a body, or none.", "Camera"},
          {"Drag, middle drag", "Turns the camera."},
          {"Right drag, Shift+drag", "Moves the picture."},
          {"Arrows, PgUp, PgDn", "Flies; with Shift, faster."},
          {"Wheel", "Zooms at the pointer."},
          {"Double click", "Shows all bodies."}};
}

void CameraGlide::start(const render::OrbitCamera& camera, double now_s) {
  glide_ = Glide{shown(camera, now_s), now_s};
}

render::OrbitCamera CameraGlide::shown(const render::OrbitCamera& goal, double now_s) {
  if (!glide_) return goal;
  const auto t = static_cast<float>((now_s - glide_->begin_s) / duration_s);
  if (!(t < 1)) {
    glide_.reset();
    return goal;
  }
  return goal.on_the_way_from(glide_->from, t * t * (3 - 2 * t));  // smoothstep: starts and ends at rest
}
namespace {

constexpr double most_ahead = 3;  // limit of the extrapolation, in intervals between two centres

/// Gains of an alpha-beta filter: shares of the deviation of a measured centre by which place and step are corrected.
struct Gains {
  float place, step;
};

constexpr Gains exact{1, 1};
constexpr Gains smooth{0.2f, 0.02f};  // a cluster has no sharp centre, because bodies enter and leave it

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

/// Follows the picked body; ends when no body is picked. Returns whether it is another body.
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

/// Requests the centre of the part. Does nothing while the parts belong to bodies that are not drawn yet.
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

/// Takes a measured centre. Returns whether the target is another one or the first one.
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

/// Starts a glide. Deterministic runs jump instead, so that each frame shows the requested view.
void CameraFeature::glide() {
  if (!session_.lockstep) glide_.start(camera_, session_.clock_s());
}

void CameraFeature::carry_out(const OrbitView& c) {
  paths_.stop();
  camera_.orbit({c.right, -c.up});
}

void CameraFeature::carry_out(const PanView& c) {
  paths_.stop();
  camera_.pan({c.right, -c.up});
}

void CameraFeature::carry_out(const FlyView& c) {
  paths_.stop();
  follow_.stop();
  camera_.fly({c.right, c.up, c.forward});
}

void CameraFeature::carry_out(const ZoomView& c) {
  paths_.stop();
  if (follow_.active() || !c.x || !c.y) return camera_.zoom(c.notches);
  const render::Canvas canvas = session_.canvas();
  const StagePart part = session_.stage[0].window_width > 0 ? session_.stage[0] : whole_stage(canvas, {});
  glm::vec2 place = part.from_window({*c.x, *c.y});
  if (place.x > 1) place.x += 0.5f * (part.middle.x - 1);  // over the second run: uses the same place over the first
  camera_.zoom_at(c.notches, {2 * place.x - 1, 1 - 2 * place.y},
                  static_cast<float>(part.canvas.width) / static_cast<float>(std::max(part.canvas.height, 1)));
}

void CameraFeature::carry_out(const LookFrom& c) {
  paths_.stop();
  glide();
  camera_.look_from(c.azimuth, c.elevation);
}

void CameraFeature::carry_out(const PickAt& c) {
  const auto& [first, second] = session_.stage;
  picking_in_second_ = session_.second && second.canvas.left > first.canvas.left && c.x >= second.to_window({0, 0}).x;
  picker_.pick_at((picking_in_second_ ? second : first).from_window({c.x, c.y}));
}

void CameraFeature::carry_out(const PickBody& c) {
  const int count = session_.lane.status().count;
  if (c.number >= count) {
    throw UsageError(
        fmt::format("there is no body {}: the scene has {}, counted from 0", c.number, counted_bodies(count)));
  }
  picker_.pick(c.number);
}

void CameraFeature::carry_out(const Unpick&) {
  picker_.unpick();
  session_.view.notice.clear();  // the notice may belong to a click that is undone
}

void CameraFeature::carry_out(const Follow& c) {
  if (c.what == Followed::body && !picker_.active()) {
    throw UsageError("no body is picked that the camera could follow; follow can also be mass, cluster, part or off");
  }
  follow_.start(c, session_.lane.simulation().parts());
  if (follow_.active()) paths_.stop();
}

void CameraFeature::carry_out(const ResetCamera&) {
  paths_.stop();
  follow_.stop();
  glide();
  session_.lane.renew_framing();
  camera_.reset();
}

/// Frames most bodies first, also for a view of all, because sprite size and zoom suit that framing.
void CameraFeature::carry_out(const FrameAll& c) {
  paths_.stop();
  follow_.stop();
  glide();
  const Framing now = session_.lane.renew_framing();
  camera_.frame(now.centre, now.radius);
  framed_all_.reset();
  if (c.bodies == FramedBodies::all) {
    camera_.show(now.all.centre, now.all.radius);
    framed_all_ = {camera_.target(), camera_.distance()};
  }
  session_.panels.lab.covered = 0;  // the next frame measures it again
}

void CameraFeature::carry_out(const AddKeyFrame& c) {
  const KeyFrame& added = paths_.add(camera_, c.after_s);
  session_.view.notice =
      fmt::format("key frame {} of the camera path, at {:g} s", format_count(paths_.made().size()), added.time_s);
}

void CameraFeature::carry_out(const ClearPath&) {
  paths_.clear();
}

void CameraFeature::carry_out(const SavePath& c) {
  if (paths_.made().empty())
    throw UsageError("there is no camera path to save: press F2 to add a view (in a script: add-key-frame)");
  const Session::Output to = session_.output(c.file, "path.txt");
  session_.say_written(write_file(to.file, camera_path_text(paths_.made()), to.existing));
  paths_.mark_saved();
}

void CameraFeature::carry_out(const PlayPath& c) {
  if (c.file.empty() && paths_.made().empty()) {
    throw UsageError(
        "there is no camera path to play: press F2 to add a view (in a script: add-key-frame), or name a file");
  }
  follow_.stop();
  CameraPath path = c.file.empty() ? CameraPath{paths_.made()} : read_camera_path(c.file);
  session_.view.notice = fmt::format("plays the camera path: {:g} s", path.end_s());
  paths_.play(std::move(path), session_.clock_s());
}

BodyPicker::Scene CameraFeature::picker_scene(Lane& lane, const StagePart& part) const {
  return {lane.drawn(),           lane.drawn_time(), lane.history(),           session_.view.appearance,
          session_.lane.ranges(), part.canvas,       lane.simulation().parts()};
}

void CameraFeature::follow_bodies() {
  const Parts& parts = session_.lane.simulation().parts();
  const BodyPicker::Scene scene = picker_scene(session_.lane, session_.stage[0]);
  const bool had_one = session_.view.picked.has_value();
  const bool found =
      std::exchange(picking_in_second_, false) && session_.second
          ? picker_.update(picker_scene(*session_.second, session_.stage[1]), session_.stage[1].fitted(camera_))
          : picker_.update(scene, camera_);
  if (!found && !had_one) session_.view.notice = "no body there";
  if (follow_.update({scene.bodies, scene.time, scene.history, session_.lane.moved(), parts}, picker_)) glide();
  follow_.aim(camera_);
  session_.view.picked = picker_.describe(scene, camera_);
  if (session_.view.picked && session_.view.picked->place) {
    const auto& [x, y] = *session_.view.picked->place;
    const glm::vec2 place = session_.stage[0].to_window({x, y});
    session_.view.picked->place = {place.x, place.y};
  }
  session_.view.followed = follow_.what();
  session_.view.framed_all = framed_all_ == std::pair{camera_.target(), camera_.distance()};
  session_.view.parts = parts.names;
}

render::OrbitCamera CameraFeature::shown() {
  return glide_.shown(camera_, session_.clock_s());
}

void CameraFeature::follow_path() {
  paths_.follow(session_.clock_s(), camera_);
}

void CameraFeature::take_scene() {
  picker_.leave_scene();
  if (std::string ended = follow_.take_scene(session_.lane.simulation().parts()); !ended.empty()) {
    session_.view.notice = std::move(ended);
  }
  const Framing& framing = session_.lane.framing();
  camera_.frame(framing.centre, std::max(framing.radius, scene_view(session_.lane.status().scene).least_radius));
}

namespace {

constexpr float reach_share = 0.01f;  // as a share of the window's height
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
