#include "compute/sim/simulation.h"

#include <utility>

#include "compute/core/error.h"
#include "compute/sim/backends.h"
#include "compute/sim/physics_ranges.h"

namespace orrery {
namespace {

constexpr int max_steps_per_frame = 1000;

void require_accuracy(double median_error) {
  if (median_error == 0 || (median_error > 0 && median_error < 1)) return;
  throw UsageError("the accuracy cannot be " + std::to_string(median_error) +
                   "; it must be a median error above 0 and below 1, or 0: exact");
}

/// Whether a program sends it again and again, unasked: such a command leaves what was said last.
bool comes_by_itself(const Command& command) {
  return std::holds_alternative<ProbeForces>(command) || std::holds_alternative<MeasureConserved>(command) ||
         std::holds_alternative<ReadTreeCells>(command) || std::holds_alternative<KeepGoodState>(command);
}

void refuse_settings(const SelectKernel& command, const Backends& backends) {
  if (command.settings.empty()) return;
  throw UsageError(command.settings.begin()->first + " cannot be set with the kernel " + command.id +
                   ", which chooses settings as well; name a kernel: " + backends.available_kernels());
}

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};

}  // namespace

Simulation::Simulation(const Backends& backends, const SceneRequest& request, KernelPtr kernel, DeviceStorage* storage,
                       KernelChooser* chooser, Choosing choosing)
    : backends_{backends},
      storage_{storage},
      chooser_{chooser},
      choosing_{choosing},
      choice_{.kernel = kernel ? std::move(kernel) : backends.default_kernel(),
              .settings = {},
              .integrator = &leapfrog,
              .law = {},
              .time_step = 0} {
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
  std::shared_ptr<ForceKernel> kernel = kernel_;
  if (!same_kernel(*choice.kernel, *choice_.kernel) || choice.settings != choice_.settings) {
    kernel = backends_.make_kernel(*choice.kernel, choice.settings);
    kernel->prepare(count);
  } else if (count != count_) {
    kernel->prepare(count);
  }
  return kernel;
}

/// Makes everything that can fail before it changes anything.
void Simulation::adopt(const Choice& choice) {
  Engine& target = engine_for(choice.kernel->backend);
  const bool other_forces =
      !same_kernel(*choice.kernel, *choice_.kernel) || choice.settings != choice_.settings || choice.law != choice_.law;
  std::shared_ptr<ForceKernel> kernel = kernel_of(choice, count_);
  std::optional<KernelCard> card = kernel_card(*kernel, backends_.device(), choice.law, count_, masses_);
  settle();
  if (&target != &engine()) target.upload(engine().download());
  choice_ = choice;
  kernel_ = std::move(kernel);
  card_ = std::move(card);
  remember_settings();
  target.set_plan(plan());
  if (other_forces) diagnostics_.forget_forces();
  if (choice_.under_way) choice_.under_way->start();
}

/// For when the kernel is named again: not what was chosen for it, which nobody asked for.
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
  Choice next = choice_;
  std::visit(Overloaded{
                 [&](const SelectKernel& c) {
                   const KernelPtr named = find_kernel_or_auto(backends_.kernels(), c.id);
                   if (!named) {
                     refuse_settings(c, backends_);
                     choose_kernel_again(next);
                     return adopt(next);
                   }
                   next.name_kernel();
                   next.kernel = named;
                   next.settings = remembered_settings(*named);
                   for (const auto& [name, value] : c.settings) next.settings.set(name, value);
                   adopt(next);
                 },
                 [&](const SetTunable& c) {
                   next.settings.set(c.name, c.value);
                   next.name_kernel();
                   adopt(next);
                 },
                 [&](const SetAccuracy& c) {
                   require_accuracy(c.median_error);
                   next.accuracy = c.median_error;
                   if (next.automatic && next.accuracy != choice_.accuracy) choose_kernel_again(next);
                   adopt(next);
                 },
                 [&](const SelectIntegrator& c) {
                   next.integrator = &find_integrator(c.id);
                   adopt(next);
                 },
                 [&](const SelectLaw& c) {
                   next.law.id = find_law(c.id);
                   if (next.automatic && next.law.id != choice_.law.id) choose_kernel_again(next);
                   adopt(next);
                 },
                 [&](const SetTimeStep& c) {
                   require_time_step(c.time_step);
                   next.time_step = c.time_step;
                   adopt(next);
                 },
                 [&](const SetSoftening& c) {
                   next.law.softening = c.softening;
                   require_law(next.law);
                   adopt(next);
                 },
                 [&](const SetRepulsion& c) {
                   next.law.repulsion = c.repulsion;
                   require_law(next.law);
                   adopt(next);
                 },
                 [&](const SetDrag& c) {
                   next.law.drag = c.drag;
                   require_law(next.law);
                   adopt(next);
                 },
                 [&](const SetStepsPerFrame& c) {
                   if (c.steps < 1 || c.steps > max_steps_per_frame) {
                     throw UsageError("steps per frame cannot be " + std::to_string(c.steps) + "; it must be 1 to " +
                                      std::to_string(max_steps_per_frame));
                   }
                   steps_per_frame_ = c.steps;
                 },
                 [&](const SetPaused& c) { paused_ = c.paused || diagnostics_.fault(); },
                 [&](const StepOnce&) {
                   paused_ = true;
                   step_once_ = !diagnostics_.fault();
                 },
                 [&](const Restart&) { set_bodies(scene_->bodies); },
                 [&](const Reset&) {
                   take_physics(next, scene_physics());
                   replace_bodies(scene_->bodies, next, /*other_system=*/false);
                 },
                 [&](const LoadScene& c) { load(c.request); },
                 [&](const ReturnToRun& c) { return_to(c.run); },
                 [&](const UndoReturn&) { undo_return(); },
                 [&](const ProbeForces& c) { diagnostics_.ask(c); },
                 [&](const MeasureConserved& c) { diagnostics_.ask(c); },
                 [&](const ReadTreeCells& c) { diagnostics_.ask(c); },
                 [&](const KeepGoodState&) {
                   if (!diagnostics_.fault()) engine().keep(after_all());
                 },
                 [&](const RestoreGoodState&) { restore_good(); },
             },
             command);
  if (!comes_by_itself(command)) last_error_ = diagnostics_.line();
}

/// The engine that has the latest state that was kept; null where none was.
Engine* Simulation::engine_with_good() const {
  Engine* latest = nullptr;
  for (const std::unique_ptr<Engine>& engine : engines_) {
    if (!engine || !engine->good()) continue;
    if (!latest || engine->good()->step > latest->good()->step) latest = engine.get();
  }
  return latest;
}

void Simulation::restore_good() {
  settle();
  Engine* const from = engine_with_good();
  if (!from) throw UsageError("no good state was kept; Reset starts again");
  const Moment at = *from->good();
  engine().upload(from->good_bodies());
  done_ = at;
  diagnostics_.return_to(at.step);
}

void Simulation::load(const SceneRequest& request) {
  Scene scene = load_scene(request);
  Choice choice = choice_;
  choice.law.softening = scene.softening;
  choice.time_step = scene.time_step;
  begin(request, std::move(scene), std::move(choice));
}

/// From the first state of `scene`, which is what `request` stands for.
void Simulation::begin(SceneRequest request, Scene scene, Choice choice) {
  request.count = scene.bodies.count();
  replace_bodies(scene.bodies, std::move(choice), /*other_system=*/request != request_);
  scene_ = std::make_shared<const Scene>(std::move(scene));
  request_ = std::move(request);
}

/// Scenes bring a time step for leapfrog under gravity.
Physics Simulation::scene_physics() const {
  return {.integrator_id = leapfrog.id, .law = {.softening = scene_->softening}, .time_step = scene_->time_step};
}

void Simulation::take_physics(Choice& choice, const Physics& physics) {
  choice.integrator = &find_integrator(physics.integrator_id);
  choice.law = physics.law;
  choice.time_step = physics.time_step;
}

void Simulation::set_bodies(const Bodies& bodies) {
  replace_bodies(bodies, choice_, /*other_system=*/false);
}

/// Where the kernel is `auto`, it is chosen anew for other bodies or another law.
void Simulation::replace_bodies(const Bodies& bodies, Choice choice, bool other_system) {
  const MassRange masses = mass_range(bodies.positions);
  const KernelDemand demand = demand_of(bodies.count(), choice, masses);
  if (choice.automatic && (other_system || demand != present_demand(choice_))) {
    choose_kernel(choice, demand, bodies);
  }
  install(bodies, masses, choice);
}

/// Makes what can fail before it changes anything; only an upload that fails may need the bodies brought back.
void Simulation::install(const Bodies& bodies, const MassRange& masses, const Choice& choice) {
  settle();
  const bool other_count = count_ > 0 && bodies.count() != count_;
  std::shared_ptr<ForceKernel> kernel = kernel_of(choice, bodies.count());
  std::optional<KernelCard> card = kernel_card(*kernel, backends_.device(), choice.law, bodies.count(), masses);
  Engine& target = engine_for(choice.kernel->backend);
  const Bodies before = other_count && &target == &engine() ? engine().download() : Bodies{};
  try {
    target.upload(bodies);
  } catch (...) {
    if (before.count() > 0) target.upload(before);
    throw;
  }
  for (const std::unique_ptr<Engine>& engine : engines_) {
    if (engine) engine->forget_good();
  }
  choice_ = choice;
  kernel_ = std::move(kernel);
  remember_settings();
  engine().set_plan(plan());
  count_ = bodies.count();
  masses_ = masses;
  card_ = std::move(card);
  done_ = {};
  diagnostics_.restart();
  if (choice_.under_way) choice_.under_way->start();
}

Bodies Simulation::bodies() {
  settle();
  return engine().download();
}

void Simulation::copy_drawn(std::span<Vec4> positions, std::span<Vec4> velocities) {
  engine().copy_drawn(positions, velocities);
}

std::vector<Vec4> Simulation::accelerations() {
  settle();
  return engine().accelerations();
}

double Simulation::interactions_per_evaluation() const {
  if (!choice_.kernel->is_tree) return kernel_->interactions(count_);
  return diagnostics_.tree() ? static_cast<double>(diagnostics_.tree()->interactions) : 0;
}

Status Simulation::status() const {
  // Enqueued on the GPU is as good as done: what follows sees it so.
  const bool counts_enqueued = choice_.kernel->backend == Backend::cuda && !diagnostics_.fault();
  const Moment now = counts_enqueued ? after_all() : done_;
  Engine* const good = engine_with_good();
  return {.kernel_id = choice_.kernel->id,
          .kernel = choice_.kernel,
          .backend = choice_.kernel->backend,
          .settings = choice_.settings,
          .chosen = kernel_->chosen(count_, masses_),
          .auto_choice = choice_.automatic,
          .choosing = choosing(),
          .accuracy = choice_.accuracy,
          .integrator_id = choice_.integrator->id,
          .law = choice_.law,
          .time_step = choice_.time_step,
          .steps_per_frame = steps_per_frame_,
          .paused = paused_,
          .busy = !under_way_.empty(),
          .scene = request_,
          .scene_name = scene_->name,
          .scene_physics = scene_physics(),
          .count = count_,
          .step = now.step,
          .sim_time = now.sim_time,
          .interactions_per_step = interactions_per_evaluation() * choice_.integrator->evaluations_a_step,
          .timing = timing_,
          .card = card_,
          .tree = diagnostics_.tree(),
          .tree_cells = diagnostics_.tree_cells(),
          .force_probe = diagnostics_.force_probe(),
          .conserved = diagnostics_.conserved(),
          .fault = diagnostics_.fault(),
          .good_step = good ? std::optional{good->good()->step} : std::nullopt,
          .undo_step = departure_ ? std::optional{departure_->at.step} : std::nullopt,
          .last_error = last_error_};
}

}  // namespace orrery
