// The comparison of two runs in the window: the second lane, and how both are drawn.
#include "app/features/compare/compare_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

#include "app/ui_state/window_commands.h"
#include "app/window/colouring.h"
#include "app/window/session.h"
#include "app/window/window_feature.h"
#include "compute/core/error.h"
#include "compute/core/process.h"
#include "compute/diagnostics/conserved.h"
#include "compute/kernels/kernel.h"
#include "render/colour_map.h"
#include "render/gl/gl.h"

namespace orrery {
std::array<StagePart, 2> split_stage(const render::Canvas& window, glm::vec3 covered) {
  const auto width = static_cast<float>(window.width), height = static_cast<float>(std::max(window.height, 1));
  const float begin = covered.x * width, end = (1 - covered.z) * width;
  const float split = std::clamp(std::round(0.5f * (begin + end)), 1.0f, std::max(width - 1, 1.0f));
  StagePart left{.canvas = window,
                 .share = std::min((end - split) / height, 1 - covered.y),
                 .middle = {begin / split, covered.y},
                 .window_width = window.width};
  StagePart right = left;
  right.middle.x = (end - width) / (width - split);
  left.canvas.width = static_cast<int>(split);
  right.canvas.left = window.left + left.canvas.width;
  right.canvas.width = std::max(window.width - left.canvas.width, 0);
  return {left, right};
}
namespace {

constexpr std::int64_t samples_per_energy = 8;
constexpr int few_bodies = 1 << 14;  // with more bodies, energies are measured a quarter as often

bool is_idle(Lane& lane) {
  return lane.simulation().idle() && !lane.simulation().measuring();
}

std::vector<Vec4> plain_positions(std::span<const glm::vec4> positions) {
  std::vector<Vec4> plain;
  plain.reserve(positions.size());
  for (const glm::vec4& p : positions) plain.push_back({p.x, p.y, p.z, p.w});
  return plain;
}

std::string run_name(const Status& status, bool with_integrator, bool with_time_step, double nudge) {
  std::string name = kernel_words(trial_of(status));
  if (const std::string changes = status.settings.changes(); !changes.empty()) name += ' ' + changes;
  if (with_integrator) name += ' ' + status.integrator_id;
  if (with_time_step) name += fmt::format(" dt={}", status.time_step);
  if (nudge > 0) name += fmt::format(" nudge={:g}", nudge);
  return name;
}

}  // namespace

std::unique_ptr<Lane> SecondLane::make_lane(const Status& a, const CompareWith& with, std::unique_ptr<Lane> old) const {
  const KernelPtr kernel = backends_.kernels().find(*with.kernel);
  const Settings settings{*kernel, with.settings};
  const bool again = old && old->status().scene == a.scene;
  auto lane = again ? std::move(old)
                    : std::make_unique<Lane>(rescue_, backends_, sharing_, a.scene, kernel, nullptr, lockstep_);
  Simulation& simulation = lane->simulation();
  simulation.apply(SelectIntegrator{leapfrog.id});  // every kernel supports it; the final integrator is set below
  simulation.apply(SelectKernel{versioned_id(*kernel), settings.values()});
  simulation.apply(SelectLaw{law_info(a.law.id).id});
  simulation.apply(SetSoftening{a.law.softening});
  simulation.apply(SetRepulsion{a.law.repulsion});
  simulation.apply(SetDrag{a.law.drag});
  simulation.apply(SelectIntegrator{with.integrator.empty() ? a.integrator_id : with.integrator});
  simulation.apply(SetEta{a.eta});
  simulation.apply(SetDigits{a.digits});
  simulation.apply(SetPaused{true});  // B runs only the steps that advance() starts
  simulation.apply(SetTimeStep{with.time_step.value_or(a.time_step)});
  return lane;
}

void SecondLane::begin(Lane& first, const CompareWith& with) {
  std::unique_ptr<Lane> old = std::move(lane_);
  end(first);
  if (first.status().choosing) throw UsageError("auto is measuring kernels; compare when it has chosen one");
  Bodies bodies = first.simulation().snapshot().bodies;  // these bodies are kept even if the device is lost
  const Status& a = first.status();
  std::unique_ptr<Lane> lane = make_lane(a, with, std::move(old));
  lock_step_ = lock_step_of(a.time_step, lane->status().time_step);
  begin_ = {.trial = trial_of(a), .history = first.history(), .step = a.step, .time = a.sim_time};
  size_ = median_radius(bodies.positions);
  const bool measures_energies = bodies.count() <= most_energy_bodies;
  const auto energy = [&] { return measures_energies ? conserved(bodies, a.law).energy() : NAN; };
  first_energy_.fill(energy());
  std::vector<float> distances(bodies.positions.size(), 0);
  if (with.nudge > 0) {
    const std::vector<Vec4> before = bodies.positions;
    nudge_bodies(bodies, with.nudge);
    distances = distances_of(before, bodies.positions);
    first_energy_[1] = energy();
  }
  lane->take_bodies(bodies, a.sim_time);
  lane_ = std::move(lane);
  for (Lane* each : {&first, lane_.get()}) each->log().begin_period();
  with_ = with;
  sampled_at_ = seen_ = 0;
  stride_ = 1;
  samples_.clear();
  DivergenceSample start{.distances = summary_of(distances)};
  if (measures_energies) start.energy_error = {0, 0};
  add(start);
  take_distances(first, std::move(distances));
}

void SecondLane::end(Lane& first) {
  for (render::BufferReadback& readback : positions_) readback.cancel();
  pending_.reset();
  lane_.reset();
  view_ = {};
  first.give_distances(nullptr);
}

void SecondLane::follow(Lane& first) {
  const Status& a = first.status();
  if (a.choosing || (trial_of(a) == begin_.trial && first.history() == begin_.history)) return;
  begin(first, CompareWith{with_});
}

std::int64_t SecondLane::due(const Status& a) const {
  return steps_of(a) / lock_step_.a * lock_step_.b - lane_->status().step;
}

bool SecondLane::in_step(Lane& first) const {
  const Status& a = first.status();
  return is_idle(first) && is_idle(*lane_) && steps_of(a) % lock_step_.a == 0 && due(a) == 0;
}

void SecondLane::advance(Lane& first, std::int64_t frame, double now_s, const ViewStatus& view) {
  const std::int64_t steps = due(first.status());
  view_.diagnostics = {.probe = false};
  view_.appearance = view.appearance;
  view_.overlays = view.overlays;
  lane_->examine(now_s, view_);
  if (steps > 0) {
    lane_->start(static_cast<int>(std::min<std::int64_t>(steps, std::numeric_limits<int>::max())), frame);
  } else {
    (void)lane_->advance(frame);  // makes the measurements for the colours
  }
}

/// Returns whether energies are due at the next sample. Samples that will be dropped have none.
bool SecondLane::wants_energies() const {
  const std::int64_t next = seen_ + 1, every = samples_per_energy * (lane_->status().count > few_bodies ? 4 : 1);
  return !std::isnan(first_energy_[0]) && next % (stride_ * every) == 0;
}

void SecondLane::ask_for_energies(Lane& first) {
  const Status& a = first.status();
  const bool meets = (steps_of(a) + (a.paused ? 1 : a.steps_per_frame)) % lock_step_.a == 0;
  if (!meets || !wants_energies()) return;
  for (Lane* lane : {&first, lane_.get()}) lane->simulation().apply(MeasureConserved{});
}

void SecondLane::take(Lane& first) {
  lane_->take_timings();
  poll(first);
  if (pending_ || !in_step(first) || steps_of(first.status()) == sampled_at_ || !problem().empty()) return;
  request(first);
  if (lockstep_) poll(first);
}

void SecondLane::request(Lane& first) {
  const Status& a = first.status();
  sampled_at_ = steps_of(a);
  DivergenceSample sample{.steps = {sampled_at_, lane_->status().step}, .time = a.sim_time - begin_.time};
  take_energies(sample, a);
  pending_ = Pending{sample};
  rescue_.outside([&] {
    const std::array<render::DrawnBodies, 2> bodies{first.drawn(), lane_->drawn()};
    for (const std::size_t which : {0, 1}) {
      const render::BufferReadback::Part part{0, static_cast<std::size_t>(bodies[which].count)};
      positions_[which].request(bodies[which].buffer, {&part, 1});
    }
  });
}

void SecondLane::take_energies(DivergenceSample& sample, const Status& a) const {
  const std::array<const Status*, 2> both{&a, &lane_->status()};
  for (const std::size_t which : {0, 1}) {
    const std::optional<ConservedProbe>& probe = both[which]->conserved;
    if (std::isnan(first_energy_[which]) || !probe || probe->step != both[which]->step) continue;
    sample.energy_error[which] = std::abs((probe->sums.energy() - first_energy_[which]) / first_energy_[which]);
  }
}

void SecondLane::poll(Lane& first) {
  if (!pending_) return;
  rescue_.outside([this] {
    for (const std::size_t which : {0, 1}) {
      if (pending_->positions[which]) continue;
      if (const auto copy = positions_[which].poll(lockstep_)) pending_->positions[which] = plain_positions(*copy);
    }
  });
  const auto& [a, b] = pending_->positions;
  if (!a || !b) return;
  std::vector<float> distances = distances_of(*a, *b);
  DivergenceSample sample = std::exchange(pending_, {})->sample;
  sample.distances = summary_of(distances);
  ++seen_;
  if (seen_ % stride_ == 0) add(sample);
  take_distances(first, std::move(distances));
}

void SecondLane::take_distances(Lane& first, std::vector<float> distances) {
  const auto shared = std::make_shared<const std::vector<float>>(std::move(distances));
  first.give_distances(shared);
  lane_->give_distances(shared);
}

void SecondLane::add(const DivergenceSample& sample) {
  samples_.push_back(sample);
  if (samples_.size() > most_samples) {
    for (std::size_t i = 1; 2 * i < samples_.size(); ++i) samples_[i] = samples_[2 * i];
    samples_.resize((samples_.size() + 1) / 2);
    stride_ *= 2;
  }
  growth_ = growth_of(samples_, size_);
}

std::string SecondLane::problem() const {
  const Status& b = lane_->status();
  const std::string name = run_name(b, false, false, 0);
  if (b.non_finite) {
    return fmt::format("the comparison ends: in B ({}), body {} is not finite after step {}", name, b.non_finite->body,
                       b.non_finite->step);
  }
  return b.last_error.empty() ? std::string{} : fmt::format("the comparison ends: B ({}): {}", name, b.last_error);
}

render::DrawnBodies SecondLane::both(const Lane& first) {
  const std::array<render::DrawnBodies, 2> bodies{first.drawn(), lane_->drawn()};
  const int count = bodies[0].count;
  if (count < 1 || bodies[1].count != count) return bodies[0];  // B has not been drawn yet
  const auto one = static_cast<std::size_t>(count) * sizeof(Vec4);
  if (both_.size_bytes() != 4 * one) {
    both_ = {};  // frees the old memory first
    values_ = {};
    both_ = render::Buffer{4 * one};
    values_ = render::Buffer{2 * static_cast<std::size_t>(count) * sizeof(float)};
    std::vector<float> runs(2 * static_cast<std::size_t>(count), 0);
    std::fill(runs.begin() + count, runs.end(), 1.0f);
    values_.upload(std::as_bytes(std::span{runs}));
  }
  for (const std::size_t which : {0, 1}) {
    for (const std::size_t array : {0, 1}) {  // positions, velocities
      glCopyNamedBufferSubData(bodies[which].buffer, both_.id(), static_cast<GLintptr>(array * one),
                               static_cast<GLintptr>((2 * array + which) * one), static_cast<GLsizeiptr>(one));
    }
  }
  return {both_.id(), 2 * count, values_.id()};
}

void SecondLane::describe(ViewStatus& view, Lane& first, double wall_s) {
  lane_->describe(view_, wall_s);
  view.times.draw_ms += view_.times.draw_ms;
  const std::array<const Status*, 2> both{&first.status(), &lane_->status()};
  const std::array<const StepStatistics*, 2> times{&first.log().statistics(), &lane_->log().statistics()};
  const bool integrators = both[0]->integrator_id != both[1]->integrator_id;
  const bool time_steps = both[0]->time_step != both[1]->time_step;
  CompareStatus& compare = view.features.of<CompareStatus>();
  compare.active = true;
  compare.with = with_;
  for (const std::size_t which : {0, 1}) {
    const double ms = times[which]->period_median_ms();
    compare.runs[which] = {.name = run_name(*both[which], integrators, time_steps, which == 1 ? with_.nudge : 0),
                           .step_ms = ms,
                           .interactions_per_s = ms > 0 ? both[which]->interactions_per_step / (ms * 1e-3) : 0};
  }
  compare.begin_time = begin_.time;
  compare.time = samples_.back().time;
  compare.size = size_;
  compare.samples = samples_;
  compare.growth = growth_;
}
namespace {

/// The comparison of the shown run A with a second run B, as a part of the window.
class CompareWindow final : public WindowFeature {
 public:
  explicit CompareWindow(Session& session)
      : session_{session},
        second_{session.rescue, session.backends, session.sharing, session.lockstep, session.second} {}

  void add_to(Handlers& handlers) override { handlers.add(*this, compare_commands); }

  void carry_out(const CompareWith& c) {
    if (!c.kernel) {
      second_.end(session_.lane);
      forget_all_but_layout();
      leave_distances();
      return;
    }
    session_.refuse_beside_measurement();
    if (session_.lane.log().recording())
      throw UsageError("a recording describes one run; stop it before you compare two");
    forget_all_but_layout();
    second_.begin(session_.lane, c);
    status().active = true;
    session_.view.second_run = &comparison_user;
  }

  void carry_out(const SetCompareLayout& c) { status().layout = c.layout; }

  bool allows_steps(std::int64_t frame) override;

  Lane* catch_up() override {
    if (!second_.active()) return nullptr;
    second_.advance(session_.lane, session_.frame, session_.clock_s(), session_.view);
    return &second_.lane();
  }

  /// Takes the results that B has computed.
  void before_steps() override {
    if (!second_.active()) return;
    second_.take(session_.lane);
    session_.leave_hanging_kernel();  // ending B would wait for a hanging kernel
    if (const std::string why = second_.problem(); !why.empty()) end(why);
  }

  void describe(double wall_s) override {
    if (second_.active()) second_.describe(session_.view, session_.lane, wall_s);
  }

  void divide_stage(const render::Canvas& canvas, glm::vec3 covered) override {
    if (!second_.active() || status().layout != CompareLayout::side) return;
    session_.stage = split_stage(canvas, covered);
    status().left = covered.x;
    status().split = static_cast<float>(session_.stage[1].canvas.left) / static_cast<float>(canvas.width);
  }

  bool draw(const render::OrbitCamera& camera) override {
    if (!second_.active()) return false;
    status().layout == CompareLayout::over ? draw_over(camera) : draw_beside(camera);
    return true;
  }

  void describe_picture(Json& description) const override {
    if (!session_.second) return;
    const Status& b = session_.second->status();
    description["compared_with"] = {
        {"kernel", b.kernel_id}, {"settings", b.settings.to_string()}, {"layout", word_of(status().layout)}};
  }

  void add_left_behind(std::vector<std::string>& things) const override {
    if (session_.second) things.emplace_back("the comparison");
  }

 private:
  CompareStatus& status() const { return session_.view.features.of<CompareStatus>(); }

  void forget_all_but_layout() {
    const CompareLayout layout = status().layout;
    status() = {};
    status().layout = layout;
    session_.view.second_run = nullptr;
  }

  void leave_distances();
  void end(const std::string& why);
  void draw_beside(const render::OrbitCamera& camera);
  void draw_over(const render::OrbitCamera& camera);

  Session& session_;
  SecondLane second_;
};

/// Stops colouring bodies by the distance from B, which has ended.
void CompareWindow::leave_distances() {
  render::Appearance appearance = session_.view.appearance;
  if (!body_colour(appearance).compares_runs) return;
  appearance.colour_by = render::Appearance{}.colour_by;
  appearance.low.reset();
  appearance.high.reset();
  session_.carry_out(SetAppearance{appearance});
}

/// Ends the comparison. Pauses A, so that the user can look at its state.
void CompareWindow::end(const std::string& why) {
  carry_out(CompareWith{});
  if (session_.lockstep) throw std::runtime_error(why);
  session_.lane.simulation().apply(SetPaused{true});
  session_.complain(why);
}

bool CompareWindow::allows_steps(std::int64_t frame) {
  if (!second_.active()) return true;
  try {
    second_.follow(session_.lane);
    if (!second_.in_step(session_.lane)) {
      const bool idle = session_.lane.simulation().idle() && second_.lane().simulation().idle();
      if (!idle) return false;
      if (second_.behind(session_.lane)) {
        if (!session_.lockstep) second_.advance(session_.lane, frame, session_.clock_s(), session_.view);
        return session_.lockstep;
      }
    }
    second_.ask_for_energies(session_.lane);
    if (!session_.lockstep && session_.lane.status().paused && second_.in_step(session_.lane))
      second_.advance(session_.lane, frame, session_.clock_s(), session_.view);
  } catch (const std::exception& error) {
    end(fmt::format("the comparison ends: {}", failure_text(error)));
    return false;
  }
  return true;
}

/// Draws both runs side by side with the colour ranges of A, so that they can be compared.
void CompareWindow::draw_beside(const render::OrbitCamera& camera) {
  Lane& b = second_.lane();
  const std::array<StagePart, 2>& stage = session_.stage;
  const render::OrbitCamera second = stage[1].fitted(camera);
  ViewStatus& view = second_.view();
  view.appearance = session_.view.appearance;
  view.overlays = session_.view.overlays;
  view.picked = session_.view.picked;
  b.prepare_overlays(second, stage[1].canvas, view);
  const auto place_labels = [](std::vector<PictureLabel>& labels, const StagePart& part) {
    for (PictureLabel& label : labels) {
      const glm::vec2 place = part.to_window({label.place[0], label.place[1]});
      label.place = {place.x, place.y};
    }
  };
  place_labels(session_.view.labels, stage[0]);
  place_labels(view.labels, stage[1]);
  session_.view.labels.insert(session_.view.labels.end(), view.labels.begin(), view.labels.end());
  const bool a_moved = session_.lane.take_moved(), b_moved = b.take_moved();
  session_.lane.draw(session_.frame, camera, session_.view.appearance, stage[0].canvas, session_.lane.drawn(),
                     session_.lane.ranges(), a_moved);
  b.draw(session_.frame, second, session_.view.appearance, stage[1].canvas, b.drawn(), session_.lane.ranges(),
         a_moved || b_moved);
}

void CompareWindow::draw_over(const render::OrbitCamera& camera) {
  render::Appearance appearance = session_.view.appearance;
  appearance.look = render::Look::lights;
  appearance.colour_by = find_body_colour("species").by;
  const bool a_moved = session_.lane.take_moved(), b_moved = second_.lane().take_moved();
  session_.lane.draw(session_.frame, camera, appearance, session_.stage[0].canvas, second_.both(session_.lane),
                     session_.lane.ranges(), a_moved || b_moved);
  Legend& legend = session_.view.legend;
  legend.quantity = "run";
  legend.colours.clear();
  legend.parts.clear();
  legend.known.reset();
  legend.note.clear();
  const auto colours = render::part_colours(appearance.theme);
  for (const std::size_t which : {0, 1}) {
    const glm::vec3 colour = colours[which];
    legend.parts.push_back(
        {fmt::format("{}: {}", which == 0 ? "A" : "B", status().runs[which].name), {colour.r, colour.g, colour.b}});
  }
}

}  // namespace

std::unique_ptr<WindowFeature> make_compare(Session& session) {
  return std::make_unique<CompareWindow>(session);
}

}  // namespace orrery
