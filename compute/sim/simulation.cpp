// Bodies, commands, steps and status of a simulation. Functions that concern its kernel are in simulation_kernel.cpp.
#include "compute/sim/simulation.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/core/process.h"
#include "compute/sim/backends.h"
#include "compute/sim/command_rows.h"

namespace orrery {
namespace {

/// Returns whether the viewer repeats the command automatically. Such a command does not clear the last message.
bool comes_by_itself(const Command& command) {
  return std::holds_alternative<ProbeForces>(command) || std::holds_alternative<MeasureConserved>(command) ||
         std::holds_alternative<ReadAccelerations>(command) || std::holds_alternative<ReadDomains>(command) ||
         std::holds_alternative<ReadTreeCells>(command) || std::holds_alternative<KeepCheckpoint>(command);
}

void refuse_settings(const SelectKernel& command, const Backends& backends) {
  if (command.settings.empty()) return;
  throw UsageError(command.settings.begin()->first + " cannot be set with the kernel " + command.id +
                   ", which chooses settings as well; name a kernel: " + backends.available_kernels());
}

/// Returns the request that loads the scene of `shown`, which has the count filled in. A file determines its count.
SceneRequest to_load(SceneRequest shown) {
  if (!shown.file.empty()) shown.count = 0;
  return shown;
}

/// Returns the first state of the run's scene. If the scene's file cannot be read or has other bodies or units now,
/// returns `state` instead.
Scene first_scene(const RunSetup& run, const Snapshot& state) {
  const SceneRequest request = to_load(run.scene);
  try {
    Scene scene = load_scene(request);
    if (scene.bodies.count() == state.bodies.count() && scene.units == state.units && scene.frame == state.frame)
      return scene;
    throw std::runtime_error("the scene of the checkpoint has " + std::to_string(scene.bodies.count()) +
                             " bodies now, but the checkpoint has " + std::to_string(state.bodies.count()));
  } catch (const std::runtime_error&) {
    if (request.file.empty()) throw;
  }
  return {.name = std::filesystem::path{request.file}.filename().string(),
          .bodies = state.bodies,
          .time_step = run.physics.time_step,
          .softening = run.physics.law.softening,
          .properties = state.properties,
          .time = state.time,
          .units = state.units,
          .frame = state.frame,
          .digits = state.bodies.digits()};
}

}  // namespace

Simulation::Simulation(const Backends& backends, const SceneRequest& request, KernelPtr kernel, DeviceStorage* storage,
                       KernelChooser* chooser, Choosing choosing)
    : backends_{backends},
      storage_{storage},
      chooser_{chooser},
      choosing_{choosing},
      choice_{.kernel = kernel ? kernel : backends.default_kernel(),
              .settings = {},
              .integrator = &leapfrog,
              .law = {},
              .time_step = 0,
              .is_default = !kernel} {
  choice_.settings = Settings{*choice_.kernel};
  engine();  // throws if the kernel cannot run here
  kernel_ = backends_.make_kernel(*choice_.kernel, choice_.settings);
  load(request);
}

Engine& Simulation::engine_for(Backend backend) {
  std::unique_ptr<Engine>& engine = engines_[static_cast<std::size_t>(backend)];
  if (!engine) engine = backends_.make_engine(backend, storage_);
  return *engine;
}

/// Returns the kernel of `choice`, ready for `count` bodies: the current kernel if it is the same, otherwise a new one.
std::shared_ptr<ForceKernel> Simulation::kernel_of(const Choice& choice, int count) const {
  require_jerks(choice);
  std::shared_ptr<ForceKernel> kernel = kernel_;
  if (!same_kernel(*choice.kernel, *choice_.kernel) || choice.settings != choice_.settings) {
    kernel = backends_.make_kernel(*choice.kernel, choice.settings);
    kernel->prepare(count);
  } else if (count != count_) {
    kernel->prepare(count);
  }
  return kernel;
}

/// Makes `choice` the current one. Everything that can fail precedes the first change. `made`: its kernel, if it
/// exists.
void Simulation::adopt(const Choice& choice, std::shared_ptr<ForceKernel> made) {
  wait_for_watched_steps();
  Engine& target = engine_for(choice.kernel->backend);
  const bool other_kernel = !same_kernel(*choice.kernel, *choice_.kernel) || choice.settings != choice_.settings;
  const bool other_forces = other_kernel || choice.law != choice_.law;
  const bool retires = other_kernel && choosing_ == Choosing::beside && choice_.kernel->compiles;
  std::shared_ptr<ForceKernel> kernel = made ? std::move(made) : kernel_of(choice, count_);
  std::optional<KernelCard> card = kernel_card(*kernel, backends_.device(), choice.law, count_, masses_);
  const StepPlan next = plan_of(choice, kernel, mean_mass_);
  cancel_and_wait();
  if (&target != &engine() || choice.digits != choice_.digits) {
    upload(target, engine().download(), choice.digits, next);
  } else {
    target.set_plan(next);
  }
  replace_choice(choice);
  kernel_.swap(kernel);
  if (retires) retire(std::move(kernel));
  card_ = std::move(card);
  remember_settings();
  if (other_forces) diagnostics_.forget_forces();
  diagnostics_.forget_levels();
  if (other_kernel) is_proven_ = failed_ = false;
  start_choice();
}

/// Uploads the bodies to `target`, which has them from now on. If it throws, the current bodies stay.
void Simulation::upload(Engine& target, const Bodies& bodies, Digits digits, const StepPlan& plan) {
  if (digits == bodies.digits()) {
    target.upload(bodies, plan);
  } else {
    target.upload(with_digits(bodies, digits), plan);
  }
  if (&target != &engine()) engine().bodies_moved();
}

/// Stores the kernel's settings for its next selection, unless `auto` chose them.
void Simulation::remember_settings() {
  if (!choice_.automatic) remembered_settings_[choice_.kernel->id] = choice_.settings.values();
}

/// Returns the last settings of a kernel, or its initial ones if it was never selected. Skips settings that a new
/// version of the kernel lacks.
Settings Simulation::remembered_settings(const KernelInfo& kernel) const {
  Settings settings{kernel};
  const auto remembered = remembered_settings_.find(kernel.id);
  if (remembered == remembered_settings_.end()) return settings;
  for (const auto& [name, value] : remembered->second) {
    const Tunable* tunable = kernel.tunable(name);
    if (tunable && tunable->allows(value)) settings.set(name, value);
  }
  return settings;
}

void Simulation::apply(const Command& command) {
  const bool by_itself = comes_by_itself(command);
  if (!by_itself) setup_changed_ = true;
  progress_changed_ = true;
  const auto carry_out_checked = [this]<class C>(const C& c) {
    check_arguments(row_in<C>(simulation_commands), c);
    carry_out(c);
  };
  try {
    std::visit(carry_out_checked, command);
  } catch (const std::exception& failure) {
    const auto* const lost = dynamic_cast<const BackendLost*>(&failure);
    if (!lost) throw;
    throw std::runtime_error(after_loss(*lost, failure_text(failure), !paused_));
  }
  if (!by_itself) last_error_ = diagnostics_.line();
}

/// Returns the engine that holds the latest checkpoint; null if there is none.
Engine* Simulation::engine_with_checkpoint() const {
  Engine* latest = nullptr;
  for (const std::unique_ptr<Engine>& engine : engines_) {
    if (!engine || !engine->checkpoint()) continue;
    if (!latest || engine->checkpoint()->step > latest->checkpoint()->step) latest = engine.get();
  }
  return latest;
}

void Simulation::load(const SceneRequest& request) {
  Scene scene = load_scene(request);
  Choice choice = choice_;
  choice.law.softening = scene.softening;
  choice.time_step = scene.time_step;
  if (scene.digits == Digits::compensated) choice.digits = Digits::compensated;
  begin(request, std::move(scene), std::move(choice));
}

/// Starts a run from the first state of `scene`, which `request` loads.
void Simulation::begin(SceneRequest request, Scene scene, Choice choice) {
  request.count = scene.bodies.count();
  replace_bodies(scene.bodies, scene.time, std::move(choice), /*other_system=*/request != request_);
  scene_ = std::make_shared<const Scene>(std::move(scene));
  request_ = std::move(request);
}

/// Returns the physics of the scene: leapfrog and gravity, for which its time step is meant.
Physics Simulation::scene_physics() const {
  return {.integrator_id = leapfrog.id,
          .law = {.softening = scene_->softening},
          .time_step = scene_->time_step,
          .digits = scene_->digits};
}

void Simulation::take_physics(Choice& choice, const Physics& physics) {
  choice.integrator = &find_integrator(physics.integrator_id);
  choice.law = physics.law;
  choice.time_step = physics.time_step;
  choice.eta = physics.eta;
  choice.digits = physics.digits;
}

void Simulation::set_bodies(const Bodies& bodies, double time) {
  setup_changed_ = progress_changed_ = true;
  replace_bodies(bodies, time, choice_, /*other_system=*/false);
  host_copy_ = {bodies, done_};
}

/// Replaces the bodies. An automatic kernel is chosen again for other bodies, another law or another kind of
/// integrator.
void Simulation::replace_bodies(const Bodies& bodies, double time, Choice choice, bool other_system) {
  const MassRange masses = mass_range(bodies.positions);
  const KernelDemand demand = demand_of(bodies.count(), choice, masses);
  if (choice.automatic && (other_system || demand != present_demand(choice_))) {
    choose_kernel(choice, demand, bodies);
  } else if (!choice.automatic) {
    suit_kernel(choice);
  }
  install(bodies, time, masses, choice);
}

/// Discards the checkpoints of all engines. If the device of an engine is lost, destroys the engine; if its backend is
/// `used`, throws instead.
void Simulation::forget_checkpoints(Backend used) {
  for (std::unique_ptr<Engine>& engine : engines_) {
    if (!engine) continue;
    try {
      engine->forget_checkpoint();
    } catch (const std::exception& failure) {
      if (engine == engines_[static_cast<std::size_t>(used)] || !dynamic_cast<const BackendLost*>(&failure)) throw;
      engine.reset();
    }
  }
}

/// Replaces the bodies and the choice. Everything that can fail precedes the first change.
void Simulation::install(const Bodies& bodies, double time, const MassRange& masses, const Choice& choice) {
  cancel_and_wait();  // before a kernel is made, see wait_for_watched_steps()
  std::shared_ptr<ForceKernel> kernel = kernel_of(choice, bodies.count());
  std::optional<KernelCard> card = kernel_card(*kernel, backends_.device(), choice.law, bodies.count(), masses);
  const float mean = mean_mass(bodies.positions);
  upload(engine_for(choice.kernel->backend), bodies, choice.digits, plan_of(choice, kernel, mean));
  forget_checkpoints(choice.kernel->backend);
  replace_choice(choice);
  kernel_ = std::move(kernel);
  remember_settings();
  mean_mass_ = mean;
  count_ = bodies.count();
  masses_ = masses;
  card_ = std::move(card);
  done_ = {.sim_time = time};
  diagnostics_.restart();
  host_copy_.reset();
  proven_.reset();
  is_proven_ = failed_ = false;
  start_choice();
}

Bodies Simulation::bodies() {
  cancel_and_wait();
  return engine().download();
}

HermiteState Simulation::hermite_state() {
  cancel_and_wait();
  return diagnostics_.non_finite() ? HermiteState{} : engine().hermite_state();
}

/// Returns bodies(), and keeps a copy in case a device is lost.
Bodies Simulation::copied_bodies() {
  Bodies now = bodies();
  if (!diagnostics_.non_finite()) host_copy_ = {now, done_};
  return now;
}

Snapshot Simulation::snapshot() {
  Snapshot now{.bodies = copied_bodies()};
  now.units = scene_->units;
  now.frame = scene_->frame;
  if (now.bodies.count() == scene_->bodies.count()) now.properties = scene_->properties;
  now.time = done_.sim_time;
  now.softening = choice_.law.softening;
  return now;
}

SnapshotView Simulation::snapshot_view() {
  static const BodyProperties none;
  cancel_and_wait();
  std::unique_ptr<BodySource> bodies = engine().bodies_in_place();
  if (!bodies) bodies = std::make_unique<HeldBodies>(std::make_unique<const Bodies>(copied_bodies()));
  return {.bodies = std::move(bodies),
          .properties = count_ == scene_->bodies.count() ? scene_->properties : none,
          .time = done_.sim_time,
          .softening = choice_.law.softening,
          .units = scene_->units,
          .frame = scene_->frame};
}

void Simulation::copy_drawn(std::span<Vec4> positions, std::span<Vec4> velocities) {
  engine().copy_drawn(positions, velocities);
}

std::vector<Vec4> Simulation::accelerations(std::span<const int> targets) {
  cancel_and_wait();
  return engine().accelerations(targets);
}

// Commands. Arguments are in their ranges: apply() has checked them.

void Simulation::carry_out(const SelectKernel& c) {
  Choice next = choice_;
  const KernelPtr named = find_kernel_or_auto(backends_.kernels(), c.id);
  if (!named) {
    refuse_settings(c, backends_);
    choose_kernel_again(next);
    adopt(next);
    return drop_preparation();
  }
  next.name_kernel();
  next.kernel = named;
  next.settings = remembered_settings(*named);
  next.settings.set(c.settings);
  change_kernel(next);
}

void Simulation::carry_out(const SetTunable& c) {
  Choice next = choice_;
  next.name_kernel();
  std::tie(next.kernel, next.settings) = wanted_kernel();
  next.settings.set(c.name, c.value);
  change_kernel(next);
}

void Simulation::carry_out(const SetAccuracy& c) {
  Choice next = choice_;
  next.accuracy = c.median_error;
  if (next.automatic && next.accuracy != choice_.accuracy) choose_kernel_again(next);
  adopt(next);
}

void Simulation::carry_out(const SelectIntegrator& c) {
  adopt_with([&](Choice& next) {
    next.integrator = &find_integrator(c.id);
    suit_kernel(next);
  });
}

void Simulation::carry_out(const SelectLaw& c) {
  adopt_with([&](Choice& next) {
    next.law.id = find_law(c.id);
    suit_kernel(next);
  });
}

void Simulation::carry_out(const SetDigits& c) {
  Choice next = choice_;
  next.digits = c.digits;
  const bool begins = after_all().step == 0 && scene_->bodies.digits() == Digits::compensated;
  if (begins && c.digits == Digits::compensated && choice_.digits == Digits::single) {
    replace_bodies(scene_->bodies, scene_->time, next,
                   /*other_system=*/false);  // with the low words from the file's doubles
    return;
  }
  adopt(next);
}

void Simulation::carry_out(const StepOnce&) {
  paused_ = true;
  step_once_ = !diagnostics_.non_finite();
}

void Simulation::carry_out(const Restart&) {
  replace_bodies(scene_->bodies, scene_->time, choice_, /*other_system=*/false);
}

void Simulation::carry_out(const Reset&) {
  Choice next = choice_;
  take_physics(next, scene_physics());
  replace_bodies(scene_->bodies, scene_->time, next, /*other_system=*/false);
}

void Simulation::carry_out(const KeepCheckpoint&) {
  if (!diagnostics_.non_finite()) engine().keep(after_all());
}

void Simulation::carry_out(const RestoreCheckpoint&) {
  cancel_and_wait();
  Engine* const from = engine_with_checkpoint();
  if (!from) throw UsageError("there is no checkpoint: 'reset' returns to the scene's first state");
  const StepTime at = *from->checkpoint();
  engine().upload(with_digits(from->checkpoint_bodies(), choice_.digits), plan());
  done_ = at;
  diagnostics_.return_to(at.step);
}

// ReturnToRun, UndoReturn and resume().

/// Returns the current choice with everything that `run` sets, so that nothing is left to `auto`.
Simulation::Choice Simulation::choice_of(const RunSetup& run) const {
  Choice choice = choice_;
  choice.name_kernel();
  choice.kernel = backends_.kernels().find_revision(run.kernel_id, run.kernel_revision);
  choice.settings = Settings{*choice.kernel, run.settings};
  take_physics(choice, run.physics);
  return choice;
}

/// Returns the current run for UndoReturn. Leaves out the bodies if they are not finite, or if memory cannot hold this
/// copy and the next run.
Simulation::Departure Simulation::departure() {
  cancel_and_wait();
  if (choice_.in_flight) choice_.in_flight->cancel();  // UndoReturn chooses again
  Departure now{.choice = choice_, .request = request_, .scene = scene_, .at = {.sim_time = scene_->time}};
  if (diagnostics_.non_finite() || count_ > bodies_that_fit(simulation_bytes_per_body)) return now;
  now.bodies = engine().download();
  now.at = done_;
  return now;
}

void Simulation::carry_out(const ReturnToRun& c) {
  const RunSetup& run = c.run;
  Choice choice = choice_of(run);
  Departure before = departure();
  if (run.scene == request_ && !diagnostics_.non_finite()) {
    adopt(choice);
  } else {
    const SceneRequest request = to_load(run.scene);
    begin(request, load_scene(request), std::move(choice));
  }
  drop_preparation();
  departure_ = std::move(before);
}

void Simulation::carry_out(const UndoReturn&) {
  if (!departure_) throw UsageError("there is nothing to undo: no row of the results was returned to");
  const Departure& before = *departure_;
  const Bodies& bodies = before.bodies ? *before.bodies : before.scene->bodies;
  install(bodies, before.at.sim_time, mass_range(bodies.positions), before.choice);
  scene_ = before.scene;
  request_ = before.request;
  done_ = before.at;
  if (before.bodies) host_copy_ = {bodies, done_};
  departure_.reset();
  drop_preparation();
}

void Simulation::resume(const RunSetup& run, const Snapshot& state, std::int64_t step, const HermiteState& hermite) {
  setup_changed_ = progress_changed_ = true;
  const Choice choice = choice_of(run);
  auto scene = std::make_shared<const Scene>(first_scene(run, state));
  install(state.bodies, state.time, mass_range(state.bodies.positions), choice);
  scene_ = std::move(scene);
  request_ = run.scene;
  request_.count = count_;
  done_ = {.step = step, .sim_time = state.time};
  host_copy_ = {state.bodies, done_};
  departure_.reset();
  drop_preparation();
  if (hermite.bodies.empty() || !choice_.integrator->needs_jerks) return;
  try {
    engine().go_on(hermite);
  } catch (const std::exception& failure) {  // memory is short; the first step will report that
    if (dynamic_cast<const BackendLost*>(&failure)) throw;
  }
}

// Batches of steps: how they start and end.

int Simulation::advance_frame(std::int64_t tag) {
  int steps = 0;
  try {
    if (!failed_) steps = start_frame(tag);
  } catch (const std::exception& failure) {
    report_failure(failure);
  }
  if (failed_) return_to_proven_kernel();
  return steps;
}

int Simulation::start_frame(std::int64_t tag) {
  if (!engine().ready()) return 0;
  gather_or_report();  // an ended batch may have failed or have a non-finite body
  if (measuring()) return 0;
  if (preparing_ && preparing_->ended()) return 0;  // the new kernel takes over when no steps are in flight
  const int steps = step_once_ ? 1 : paused_ ? 0 : steps_per_frame_;
  if (steps == 0) {
    if (diagnostics_.wants_no_step() && !diagnostics_.non_finite() && in_flight_.empty()) start(0, tag);
    return 0;
  }
  step_once_ = false;
  start(steps, tag);
  return steps;
}

void Simulation::start(int steps, std::int64_t tag) {
  progress_changed_ = true;
  if (diagnostics_.non_finite()) throw std::runtime_error(diagnostics_.line());
  BatchRequest request{.tag = tag, .steps = steps, .begin = after_all()};
  Measuring measuring;
  for (const auto& [before, time_step] : in_flight_) {
    measuring.forces |= before.probe.sample > 0;
    measuring.conserved |= before.measure_conserved;
    measuring.cells |= before.tree_cells.most > 0;
    measuring.accelerations |= before.accelerations;
  }
  diagnostics_.add_to(request, measuring);
  if (!kernel_->tree()) request.tree_cells = {};
  engine().advance(request);
  if (in_flight_.empty()) progress_ = std::chrono::steady_clock::now();
  in_flight_.push_back({request, choice_.time_step});
}

StepTiming Simulation::run(int steps) {
  wait();
  start(steps, 0);
  wait();
  if (diagnostics_.non_finite()) throw std::runtime_error(diagnostics_.line());
  if (collected_.empty()) throw std::runtime_error("a step was cancelled");
  const StepTiming timing = collected_.back();
  collected_.pop_back();
  return timing;
}

/// Collects the batches that the engine has finished. Throws the error of a failed batch.
void Simulation::gather() {
  progress_changed_ = true;
  try {
    for (std::vector<BatchResult> ended = engine().collect(); !ended.empty(); ended = engine().collect()) {
      for (const BatchResult& result : ended) take_in(result);
    }
    require_progress();
  } catch (const std::bad_alloc&) {
    in_flight_.clear();
    throw std::runtime_error("not enough memory for a step of " + std::to_string(count_) + " bodies");
  } catch (...) {
    in_flight_.clear();
    throw;
  }
}

void Simulation::take_in(const BatchResult& result) {
  progress_ = std::chrono::steady_clock::now();
  const InFlight asked = in_flight_.front();
  in_flight_.pop_front();
  if (diagnostics_.non_finite()) return;  // batches after the non-finite body did nothing
  const StepTiming& timing = result.timing;
  done_ = asked.request.begin.after(timing.steps, asked.time_step);
  diagnostics_.take_in(result);
  if (asked.request.steps == 0 && asked.request.tree_cells.most > 0 && !result.tree_cells) diagnostics_.forget_tree();
  if (result.non_finite) {
    diagnostics_.stop(*result.non_finite, choice_.kernel->id);
    paused_ = true;
    step_once_ = false;
    last_error_ = diagnostics_.line();
  }
  if (timing.steps == 0) return;
  if (!std::exchange(is_proven_, true)) {
    if (proven_ && !same_kernel(*proven_->kernel, *choice_.kernel)) proven_before_ = proven_;
    proven_ = {choice_.kernel, choice_.settings, choice_.automatic};
  }
  timing_ = timing;
  collected_.push_back(timing);
}

/// Calls gather(), and reports an exception instead of throwing it.
void Simulation::gather_or_report() {
  try {
    gather();
  } catch (const std::exception& failure) {
    report_failure(failure);
  }
}

std::vector<StepTiming> Simulation::collect() {
  gather_or_report();
  take_over_choice();
  start_choice();
  take_over_preparation();
  return std::exchange(collected_, {});
}

void Simulation::wait(const std::stop_token& stop) {
  engine().wait(stop);
  gather();
}

/// Blocks until the steps of a watched kernel have ended; throws if the kernel hangs, since it cannot be cancelled.
/// Call before making another kernel: destroying the old one would wait for the device.
void Simulation::wait_for_watched_steps() {
  constexpr std::chrono::microseconds nap{100};
  while (watched()) {
    gather();
    if (watched()) std::this_thread::sleep_for(nap);
  }
}

void Simulation::cancel_and_wait() {
  wait_for_watched_steps();
  engine().cancel_and_wait();
  gather();
}

// Status.

double Simulation::interactions_per_step() const {
  if (choice_.integrator->block_steps) {
    return diagnostics_.measured().levels ? timing_.interactions_per_evaluation * timing_.evaluations / timing_.steps
                                          : 0;
  }
  const double evaluations = choice_.integrator->evaluations_per_step;
  if (!choice_.kernel->is_tree) return evaluations * kernel_->interactions(count_);
  return diagnostics_.measured().tree ? evaluations * static_cast<double>(diagnostics_.measured().tree->interactions)
                                      : 0;
}

const Status& Simulation::status() const {
  if (std::exchange(setup_changed_, false)) describe_setup();
  if (std::exchange(progress_changed_, false)) describe_progress();
  return status_;
}

/// Updates the parts of the status that only commands and the end of a choice change, such as names and settings.
void Simulation::describe_setup() const {
  status_.kernel_id = choice_.kernel->id;
  status_.kernel = choice_.kernel;
  status_.backend = choice_.kernel->backend;
  status_.settings = choice_.settings;
  status_.preparing.reset();
  if (preparing_) status_.preparing = {preparing_->kernel(), preparing_->settings()};
  status_.chosen = kernel_->chosen(count_, masses_);
  status_.auto_choice = choice_.automatic;
  status_.accuracy = choice_.accuracy;
  status_.integrator_id = choice_.integrator->id;
  status_.block_steps = choice_.integrator->block_steps;
  status_.law = choice_.law;
  status_.time_step = choice_.time_step;
  status_.eta = choice_.eta;
  status_.digits = choice_.digits;
  status_.steps_per_frame = steps_per_frame_;
  status_.scene = request_;
  status_.scene_name = scene_->name;
  status_.units = scene_->units;
  status_.scene_physics = scene_physics();
  status_.count = count_;
  status_.mean_mass = mean_mass_;
  status_.card = card_;
}

void Simulation::describe_progress() const {
  // Steps that are enqueued on the GPU count as done.
  const bool counts_enqueued = choice_.kernel->backend == Backend::cuda && !diagnostics_.non_finite();
  const StepTime now = counts_enqueued ? after_all() : done_;
  Engine* const keeper = engine_with_checkpoint();
  status_.choosing = choice_.in_flight != nullptr;
  status_.paused = paused_;
  status_.busy = !in_flight_.empty();
  status_.step = now.step;
  status_.sim_time = now.sim_time;
  status_.interactions_per_step = interactions_per_step();
  status_.timing = timing_;
  static_cast<Measured&>(status_) = diagnostics_.measured();
  status_.checkpoint_step = keeper ? std::optional{keeper->checkpoint()->step} : std::nullopt;
  status_.undo_step = departure_ ? std::optional{departure_->at.step} : std::nullopt;
  if (status_.last_error != last_error_) status_.last_error = last_error_;
}

void DiagnosticsState::add_to(BatchRequest& request, const Measuring& in_flight) {
  if (!in_flight.cells) request.tree_cells = std::exchange(cells_wanted_, {});
  if (!in_flight.accelerations) request.accelerations = std::exchange(accelerations_wanted_, false);
  request.domains = std::exchange(domains_wanted_, false);
  if (!in_flight.forces) {
    const ProbeForces probe = std::exchange(probe_wanted_, {});
    request.probe = {probe.sample, probe.turn, probe.body};
  }
  if (!in_flight.conserved) request.measure_conserved = std::exchange(conserved_wanted_, false);
}

void DiagnosticsState::take_in(const BatchResult& result) {
  if (result.force_probe) measured_.force_probe = result.force_probe;
  if (result.conserved) measured_.conserved = result.conserved;
  if (result.tree) {
    const std::optional<TreeReport> before = std::exchange(measured_.tree, result.tree);
    if (before && measured_.tree->phases.empty()) {  // only some batches time the phases
      measured_.tree->phases = before->phases;
      measured_.tree->phases_age = before->phases_age + result.timing.steps;
    }
  }
  if (result.levels) measured_.levels = result.levels;
  if (!result.device_loads.empty()) measured_.device_loads = result.device_loads;
  if (result.accelerations) measured_.accelerations = result.accelerations;
  if (result.domains) measured_.domains = result.domains;
  if (result.tree_cells) measured_.tree_cells = result.tree_cells;
}

void DiagnosticsState::stop(const NonFinite& body, const std::string& kernel_id) {
  measured_.non_finite = body;
  measured_.domains.reset();  // the domains belong to an earlier step
  line_ = "body " + std::to_string(body.body) + " is not finite after step " + std::to_string(body.step) + " (kernel " +
          kernel_id + "): the run stops there";
}

void DiagnosticsState::forget_forces() {
  measured_.force_probe.reset();
  measured_.accelerations.reset();
  measured_.tree.reset();
  measured_.tree_cells.reset();
  measured_.device_loads.clear();
  measured_.domains.reset();
}

void DiagnosticsState::restart() {
  measured_ = {};
  line_.clear();
}

void DiagnosticsState::return_to(std::int64_t step) {
  if (measured_.force_probe && measured_.force_probe->step > step) measured_.force_probe.reset();
  if (measured_.conserved && measured_.conserved->step > step) measured_.conserved.reset();
  measured_.accelerations.reset();
  measured_.domains.reset();
  forget_levels();
  measured_.tree.reset();  // the tree was built from other bodies
  measured_.tree_cells.reset();
  measured_.non_finite.reset();
  line_.clear();
}

}  // namespace orrery
