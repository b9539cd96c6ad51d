#include "compute/sim/simulation.h"

#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/sim/backends.h"

namespace orrery {
namespace {

/// Whether the viewer sends it again and again by itself: such a command leaves the last message.
bool comes_by_itself(const Command& command) {
  return std::holds_alternative<ProbeForces>(command) || std::holds_alternative<MeasureConserved>(command) ||
         std::holds_alternative<ReadAccelerations>(command) || std::holds_alternative<ReadDomains>(command) ||
         std::holds_alternative<ReadTreeCells>(command) || std::holds_alternative<KeepCheckpoint>(command);
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
  engine();  // says why, where the kernel cannot run here
  kernel_ = backends_.make_kernel(*choice_.kernel, choice_.settings);
  load(request);
}

Engine& Simulation::engine_for(Backend backend) {
  std::unique_ptr<Engine>& engine = engines_[static_cast<std::size_t>(backend)];
  if (!engine) engine = backends_.make_engine(backend, storage_);
  return *engine;
}

/// The present one where the choice is the same, otherwise one that is ready for this many bodies.
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

/// Makes everything that can fail before it changes anything. `made` is the kernel of `choice`, if it is there already.
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

/// To the engine that has the bodies from now on. If it throws, the present ones go on.
void Simulation::upload(Engine& target, const Bodies& bodies, Digits digits, const StepPlan& plan) {
  if (digits == bodies.digits()) {
    target.upload(bodies, plan);
  } else {
    target.upload(with_digits(bodies, digits), plan);
  }
  if (&target != &engine()) engine().bodies_moved();
}

/// Stores the settings for when the kernel is named again, unless `auto` chose them.
void Simulation::remember_settings() {
  if (!choice_.automatic) remembered_settings_[choice_.kernel->id] = choice_.settings.values();
}

/// Its initial ones if it was never named. A kernel that was replaced may not have all that the one before it had.
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
  const auto carry_out_checked = [this](const auto& c) {
    check_arguments(c);
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

/// The engine that holds the latest checkpoint; null if there is none.
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

/// From the first state of `scene`, which is what `request` stands for.
void Simulation::begin(SceneRequest request, Scene scene, Choice choice) {
  request.count = scene.bodies.count();
  replace_bodies(scene.bodies, scene.time, std::move(choice), /*other_system=*/request != request_);
  scene_ = std::make_shared<const Scene>(std::move(scene));
  request_ = std::move(request);
}

/// Scenes bring a time step for leapfrog under gravity.
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

/// Where the kernel is `auto`, it is chosen anew for other bodies, another law or another kind of integrator.
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

/// Of all engines. One of another backend than `used` whose device is lost goes: the bodies are not there.
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

/// Makes everything that can fail before it changes anything.
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

/// As bodies(); keeps them for after the loss of a device.
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

}  // namespace orrery
