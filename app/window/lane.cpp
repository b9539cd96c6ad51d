// A lane: one system on the screen.
#include "app/window/lane.h"

#include <glad/gl.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>
#include <variant>

#include "app/window/colouring.h"

namespace orrery {
glm::vec2 StagePart::to_window(glm::vec2 place) const {
  if (window_width < 1) return place;
  const auto left = static_cast<float>(canvas.left), width = static_cast<float>(canvas.width);
  return {(left + place.x * width) / static_cast<float>(window_width), place.y};
}

glm::vec2 StagePart::from_window(glm::vec2 place) const {
  if (window_width < 1) return place;
  const auto left = static_cast<float>(canvas.left), width = static_cast<float>(std::max(canvas.width, 1));
  return {(place.x * static_cast<float>(window_width) - left) / width, place.y};
}

render::OrbitCamera StagePart::fitted(const render::OrbitCamera& camera) const {
  render::OrbitCamera fitted = camera;
  fitted.fit_into(share, middle);
  return fitted;
}

StagePart whole_stage(const render::Canvas& window, glm::vec3 covered) {
  const float aspect = static_cast<float>(window.width) / static_cast<float>(std::max(window.height, 1));
  return {.canvas = window,
          .share = std::min((1 - covered.x - covered.z) * aspect, 1 - covered.y),
          .middle = {covered.x - covered.z, covered.y},
          .window_width = window.width};
}

namespace {

constexpr std::size_t few = 64;  // with up to this many bodies, none is an outlier
constexpr float margin = 1.15f;  // ratio of the framed radius to the bodies' radius

/// Returns measure(body) of all bodies, omitting values that are not finite.
template <class Measure>
std::vector<float> measured(const std::vector<Vec4>& from, Measure measure) {
  std::vector<float> values;
  values.reserve(from.size());
  for (const Vec4& one : from) {
    if (const float value = measure(one); std::isfinite(value)) values.push_back(value);
  }
  return values;
}

/// Returns a ball that holds the share `inside` of the bodies. Its centre is the middle of each axis' range without the
/// share `outside` at either end.
Ball ball_of(const Bodies& bodies, double outside, double inside) {
  const auto middle = [&](float Vec4::*axis) {
    auto values = measured(bodies.positions, [&](const Vec4& p) { return p.*axis; });
    return 0.5f * (percentile(values, outside) + percentile(values, 1 - outside));
  };
  Ball ball{.centre = {middle(&Vec4::x), middle(&Vec4::y), middle(&Vec4::z)}};
  auto distances = measured(bodies.positions, [&](const Vec4& p) {
    return glm::distance(ball.centre, glm::vec3{p.x, p.y, p.z});
  });
  ball.radius = margin * percentile(distances, inside);
  if (!(ball.radius > 0)) ball.radius = 1.0f;
  return ball;
}

}  // namespace

Framing framing_of(const Bodies& bodies) {
  Framing framing;
  framing.all = ball_of(bodies, 0, 1);
  const Ball bulk = bodies.positions.size() <= few ? framing.all : ball_of(bodies, 0.02, 0.95);
  framing.centre = bulk.centre;
  framing.radius = bulk.radius;
  framing.ranges.speed = range_of(measured(bodies.velocities, [](const Vec4& v) { return std::hypot(v.x, v.y, v.z); }));
  const std::vector<float> masses = measured(bodies.positions, [](const Vec4& p) { return p.w; });
  const double mass = std::accumulate(masses.begin(), masses.end(), 0.0);
  framing.ranges.mass = range_of(masses);
  const auto [least, most] = std::ranges::minmax_element(masses);
  if (!masses.empty() && *least == *most) framing.only_mass = *least;
  const double mean = std::max(mass, 1e-30) / (std::numbers::pi * framing.radius * framing.radius);
  framing.ranges.mass_per_area = {static_cast<float>(1e-2 * mean), static_cast<float>(1e2 * mean)};
  return framing;
}
void ScenePicture::draw(const render::DrawnBodies& bodies, bool moved, const render::OrbitCamera& camera,
                        const render::Appearance& appearance, const render::ValueRanges& ranges,
                        const render::Canvas& canvas, const OverlayPainter& overlays) {
  const int width = canvas.width, height = canvas.height;
  if (width < 1 || height < 1) return;
  const float aspect = static_cast<float>(width) / static_cast<float>(height);
  const Look look{camera.view(), camera.projection(aspect), camera.framed_radius(), appearance, width, height};
  if (moved || look != kept_look_) {
    if (kept_.width() != width || kept_.height() != height) {
      kept_look_.reset();
      kept_ = render::RenderTarget{GL_RGBA8, width, height};
    }
    renderer_.draw(bodies, camera, appearance, ranges, kept_);
    overlays.draw(camera, {.framebuffer = kept_.framebuffer(), .width = width, .height = height});
    kept_look_ = look;
  }
  copy_.draw(kept_, canvas);
}
namespace {

constexpr std::chrono::seconds longest_step{10};  // may be longer, see Simulation::watch_steps()

bool replaces_bodies(const Command& command) {
  return std::holds_alternative<LoadScene>(command) || std::holds_alternative<Restart>(command) ||
         std::holds_alternative<Reset>(command) || std::holds_alternative<ReturnToRun>(command) ||
         std::holds_alternative<UndoReturn>(command) || std::holds_alternative<RestoreCheckpoint>(command);
}

}  // namespace

Lane::Lane(Rescue& rescue, const Backends& backends, const Sharing& sharing, const SceneRequest& scene,
           KernelPtr kernel, KernelChooser* chooser, bool lockstep)
    : rescue_{rescue},
      bridge_{sharing, backends.device()},
      overlays_{lockstep},
      colouring_{lockstep},
      values_{lockstep},
      simulation_{backends,          scene,   std::move(kernel),
                  bridge_.storage(), chooser, lockstep || !chooser ? Choosing::at_once : Choosing::beside},
      monitor_{lockstep},
      lockstep_{lockstep} {
  simulation_.watch_steps(longest_step);
}

void Lane::apply(const Command& command, const Diagnostics& wanted) {
  if (std::holds_alternative<StepOnce>(command)) {
    for (const Command& look : monitor_.with_step(status(), wanted)) simulation_.apply(look);
  }
  const SceneRequest scene = status().scene;
  simulation_.apply(command);
  drawn_is_old_ = true;
  history_ += replaces_bodies(command);
  scene_is_new_ |= std::holds_alternative<LoadScene>(command) || status().scene != scene;
}

bool Lane::ready() const {
  return simulation_.idle() || bridge_.mode(status().backend) == Interop::mapped;
}

void Lane::examine(double now_s, const ViewStatus& view) {
  const Status& now = status();
  if (now.choosing) return;  // the choice would measure this work as well
  const bool by_itself = !lockstep_ && !now.preparing;
  if (by_itself && accuracy_watch_.tune_again(now_s, now)) return apply(SelectKernel{auto_kernel}, view.diagnostics);
  Diagnostics wanted = view.wanted_diagnostics();
  wanted.every_body = values_.wants_errors(now, view.appearance);
  for (const Command& command : monitor_.due(now_s, now, wanted)) simulation_.apply(command);
  if (const auto command = BodyValues::request(now, view.appearance)) simulation_.apply(*command);
  if (const auto command = overlays_.due(now_s, now, view)) simulation_.apply(*command);
}

int Lane::advance(std::int64_t frame) {
  const Status& before = status();
  moved_ |= bridge_.mode(before.backend) == Interop::mapped;
  const int steps = simulation_.advance_frame(frame);
  if (steps > 0) log_.started(frame, before);
  return steps;
}

void Lane::start(int steps, std::int64_t frame) {
  const Status& before = status();
  moved_ |= bridge_.mode(before.backend) == Interop::mapped;
  simulation_.start(steps, frame);
  log_.started(frame, before);
}

void Lane::take_bodies(const Bodies& bodies, double time) {
  simulation_.set_bodies(bodies, time);
  drawn_is_old_ = scene_is_new_ = true;
  ++history_;
}

bool Lane::collect() {
  const bool measured = simulation_.measuring(), prepared = status().preparing.has_value();
  std::ranges::move(simulation_.collect(), std::back_inserter(timings_));
  drawn_is_old_ |= measured != simulation_.measuring() || (prepared && !status().preparing);
  return simulation_.idle();
}

/// Adds the time for copying the bodies to StepTiming::map_ms of the latest batch, which moved them.
bool Lane::take_timings() {
  collect();
  std::vector<StepTiming> timings = std::exchange(timings_, {});
  drawn_is_old_ |= !timings.empty();
  moved_ |= simulation_.measuring();  // measures under the load of a moving picture
  if (drawn_is_old_ && simulation_.idle()) {
    drawn_is_old_ = false;
    moved_ = true;
    const double copy_ms = copy_drawn();
    if (!timings.empty()) timings.back().map_ms += copy_ms;
  }
  for (const StepTiming& timing : timings) log_.add(timing);
  while (const auto time = draw_timer_.poll()) log_.add_draw(*time);
  if (!scene_is_new_ || drawn_is_old_) return false;
  scene_is_new_ = false;
  framing_ = renew_framing();
  return true;
}

/// Copies the simulation's bodies to the drawn buffer if needed. Returns the time that this takes, in ms.
double Lane::copy_drawn() {
  const auto begin = std::chrono::steady_clock::now();
  if (!bridge_.fetch(simulation_, status())) return 0;
  copied_time_ = status().sim_time;
  rescue_.outside([this] { bridge_.upload(); });
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

void Lane::describe(ViewStatus& view, double wall_s) {
  const Status& now = status();
  if (now.force_probe) take_probe(now, *now.force_probe);
  log_.describe(view, now);
  monitor_.describe(view, now, wall_s);
  view.drawn = picture_.drawn();
  view.interop = bridge_.mode(now.backend);
  view.interop_reason = bridge_.reason(now.backend);
}

/// Adds the force error to the results, once per trial and step. After Reset, one step may have another kernel's probe.
void Lane::take_probe(const Status& status, const ForceProbe& probe) {
  TakenProbe taken{trial_of(status), probe.step};
  if (taken == taken_probe_ || !log_.statistics().add_error(taken.trial, probe.error)) return;
  taken_probe_ = std::move(taken);
}

void Lane::draw(std::int64_t frame, const render::OrbitCamera& camera, const render::Appearance& appearance,
                const render::Canvas& canvas) {
  draw(frame, camera, appearance, canvas, drawn(), ranges(), take_moved());
}

void Lane::draw(std::int64_t frame, const render::OrbitCamera& camera, const render::Appearance& appearance,
                const render::Canvas& canvas, const render::DrawnBodies& bodies, const render::ValueRanges& ranges,
                bool moved) {
  draw_timer_.begin(frame);
  picture_.draw(bodies, moved, camera, appearance, ranges, canvas, overlays_);
  draw_timer_.end();
}

double Lane::drawn_time() const {
  const Status& now = status();
  return bridge_.mode(now.backend) == Interop::mapped ? now.sim_time : copied_time_;
}

void Lane::prepare_overlays(const render::OrbitCamera& camera, const render::Canvas& canvas, ViewStatus& view) {
  const OverlayScene scene{.bodies = drawn(),
                           .time = drawn_time(),
                           .history = history_,
                           .centre = framing_.centre,
                           .radius = framing_.radius,
                           .ranges = colouring_.ranges(),
                           .canvas = canvas};
  moved_ |= overlays_.update(scene, camera, status(), view);
}

Framing Lane::renew_framing() {
  const Framing now = framing_of(rescue_.outside([this] { return bridge_.read_drawn(); }));
  colouring_.restart(now.ranges);
  moved_ = true;
  return now;
}

void Lane::follow_colours(const render::Appearance& appearance, const render::OrbitCamera& camera, double now_s) {
  const glm::vec3 sight = camera.sight();
  rescue_.outside([&] {
    const render::DrawnBodies bodies = bridge_.drawn();
    const auto change = values_.follow(status(), simulation_.parts(), bodies, appearance, moved_, now_s);
    if (change != BodyValues::Change::none) {
      moved_ = true;
      colouring_.take_values(values_.values(), change == BodyValues::Change::subject);
    }
    colouring_.follow(bodies, appearance, {sight.x, sight.y, sight.z}, moved_, now_s);
  });
}

void Lane::describe_without_range(Legend& legend, const render::Appearance& appearance) const {
  const BodyColour& colour = body_colour(appearance);
  const bool of_values = render::shows_values(appearance);
  if (of_values && values_.known() <= 0) {
    return describe_no_values(legend, colour.why_unknown ? colour.why_unknown(status()) : "not measured yet");
  }
  if (appearance.low || appearance.high || colour.class_unit) return;
  const std::optional<Colouring::Sample> sample = colouring_.sample(appearance);
  const bool whole = status().count <= Colouring::most_sampled && (!of_values || values_.known() >= 1);
  if (appearance.colour_by->range == &render::ValueRanges::mass) {
    if (framing_.only_mass) describe_only_value(legend, "all", *framing_.only_mass, status().units);
  } else if (!sample) {
    describe_no_values(legend, "not measured yet");
  } else if (!sample->has_finite) {
    describe_no_values(legend, "no value is finite");
  } else if (sample->only) {
    describe_only_value(legend, whole ? "all" : "sampled", *sample->only, status().units);
  }
}

void Lane::describe(Legend& legend, const render::Appearance& appearance) const {
  const BodyColour& colour = body_colour(appearance);
  if (appearance.look == render::Look::density || appearance.colour_by->source == render::ColourBy::Source::none)
    return;
  colouring_.describe(legend, appearance);
  if (render::shows_values(appearance)) legend.known = values_.known();
  if (colour.parts) return describe_parts(legend, colour.parts(status(), simulation_.parts()), appearance.theme);
  if (colour.class_unit) describe_classes(legend, appearance, ranges(), colour.class_unit(status()));
  describe_without_range(legend, appearance);
}

}  // namespace orrery
