#include "compute/sim/simulation.h"

#include <cmath>
#include <stdexcept>
#include <utility>

#include "compute/core/error.h"
#include "compute/sim/backends.h"

namespace orrery {
namespace {

constexpr int max_steps_per_frame = 1000;

/// Throws a UsageError that states the range unless `holds` and the value is finite.
void require(bool holds, const std::string& name, float value, const std::string& range) {
  if (holds && std::isfinite(value)) return;
  throw UsageError(name + " cannot be " + std::to_string(value) + "; it must be a number " + range);
}

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};

}  // namespace

Simulation::Simulation(const SceneRequest& request, DeviceStorage* storage)
    : storage_{storage},
      choice_{.kernel = &default_kernel(),
              .settings = Settings{default_kernel()},
              .integrator = &leapfrog,
              .law = {},
              .time_step = 0} {
  kernel_ = choice_.kernel->create(choice_.settings);
  load(request, /*use_its_parameters=*/true);
}

Engine& Simulation::engine_for(Backend backend) {
  std::unique_ptr<Engine>& engine = engines_[static_cast<std::size_t>(backend)];
  if (!engine) engine = make_engine(backend, storage_);
  return *engine;
}

/// Makes everything that can fail before it changes anything.
void Simulation::adopt(const Choice& choice) {
  Engine& target = engine_for(choice.kernel->backend);
  std::shared_ptr<ForceKernel> kernel = kernel_;
  if (choice.kernel != choice_.kernel || choice.settings != choice_.settings) {
    kernel = choice.kernel->create(choice.settings);
  }
  settle();
  if (&target != &engine()) target.upload(engine().download());
  choice_ = choice;
  kernel_ = std::move(kernel);
  remembered_settings_[choice_.kernel] = choice_.settings;
  target.set_plan(plan());
}

void Simulation::apply(const Command& command) {
  Choice next = choice_;
  std::visit(Overloaded{
                 [&](const SelectKernel& c) {
                   next.kernel = &find_kernel(c.id);
                   const auto remembered = remembered_settings_.find(next.kernel);
                   next.settings =
                       remembered == remembered_settings_.end() ? Settings{*next.kernel} : remembered->second;
                   for (const auto& [name, value] : c.settings) next.settings.set(name, value);
                   adopt(next);
                 },
                 [&](const SetTunable& c) {
                   next.settings.set(c.name, c.value);
                   adopt(next);
                 },
                 [&](const SelectIntegrator& c) {
                   next.integrator = &find_integrator(c.id);
                   adopt(next);
                 },
                 [&](const SelectLaw& c) {
                   next.law.id = find_law(c.id);
                   adopt(next);
                 },
                 [&](const SetTimeStep& c) {
                   require(c.time_step > 0, "dt", c.time_step, "above 0");
                   next.time_step = c.time_step;
                   adopt(next);
                 },
                 [&](const SetSoftening& c) {
                   require(c.softening >= Law::min_softening, "softening", c.softening, "of at least 1e-6");
                   next.law.softening = c.softening;
                   adopt(next);
                 },
                 [&](const SetRepulsion& c) {
                   require(c.repulsion >= 0, "repulsion", c.repulsion, "of at least 0");
                   next.law.repulsion = c.repulsion;
                   adopt(next);
                 },
                 [&](const SetDrag& c) {
                   require(c.drag >= 0, "drag", c.drag, "of at least 0");
                   next.law.drag = c.drag;
                   adopt(next);
                 },
                 [&](const SetStepsPerFrame& c) {
                   if (c.steps < 1 || c.steps > max_steps_per_frame) {
                     throw UsageError("steps per frame cannot be " + std::to_string(c.steps) + "; it must be 1 to " +
                                      std::to_string(max_steps_per_frame));
                   }
                   steps_per_frame_ = c.steps;
                 },
                 [&](const SetPaused& c) { paused_ = c.paused; },
                 [&](const StepOnce&) { paused_ = step_once_ = true; },
                 [&](const Reset&) { set_bodies(scene_.bodies); },
                 [&](const LoadScene& c) { load(c.request, c.use_its_parameters); },
             },
             command);
  last_error_.clear();
}

void Simulation::load(const SceneRequest& request, bool use_its_parameters) {
  Scene scene = load_scene(request);
  set_bodies(scene.bodies);
  scene_ = std::move(scene);
  request_ = request;
  request_.count = count_;
  if (use_its_parameters) {
    choice_.law.softening = scene_.softening;
    choice_.time_step = scene_.time_step;
  }
  engine().set_plan(plan());
}

void Simulation::set_bodies(const Bodies& bodies) {
  settle();
  engine().upload(bodies);
  count_ = bodies.count();
  step_ = 0;
  sim_time_ = 0;
}

int Simulation::advance_frame(std::int64_t tag) {
  const int steps = step_once_ ? 1 : paused_ ? 0 : steps_per_frame_;
  if (steps == 0 || !engine().ready()) return 0;
  step_once_ = false;
  start(steps, tag);
  return steps;
}

void Simulation::start(int steps, std::int64_t tag) {
  engine().advance(steps, tag);
  under_way_.push_back({steps, choice_.time_step});
  step_ += steps;
  sim_time_ += steps * static_cast<double>(choice_.time_step);
}

StepTiming Simulation::run(int steps) {
  wait();
  start(steps, 0);
  wait();
  if (collected_.empty()) throw std::runtime_error("a step was abandoned");
  const StepTiming timing = collected_.back();
  collected_.pop_back();
  return timing;
}

/// Takes in what the engine finished; a batch that was cut short gives back the steps that it did not run.
void Simulation::gather() {
  std::vector<StepTiming> ended;
  try {
    ended = engine().collect();
  } catch (...) {
    under_way_.clear();
    throw;
  }
  for (const StepTiming& timing : ended) {
    const UnderWay asked = under_way_.front();
    under_way_.pop_front();
    const int missing = asked.steps - timing.steps;
    step_ -= missing;
    sim_time_ -= missing * static_cast<double>(asked.time_step);
    if (timing.steps == 0) continue;
    timing_ = timing;
    collected_.push_back(timing);
  }
}

std::vector<StepTiming> Simulation::collect() {
  try {
    gather();
  } catch (const std::exception& failure) {
    paused_ = true;
    last_error_ = failure.what();
  }
  return std::exchange(collected_, {});
}

void Simulation::wait() {
  engine().wait();
  gather();
}

void Simulation::settle() {
  engine().settle();
  gather();
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

Status Simulation::status() const {
  return {.kernel_id = choice_.kernel->id,
          .backend = choice_.kernel->backend,
          .settings = choice_.settings,
          .chosen = kernel_->chosen(count_),
          .integrator_id = choice_.integrator->id,
          .law = choice_.law,
          .time_step = choice_.time_step,
          .steps_per_frame = steps_per_frame_,
          .paused = paused_,
          .busy = !under_way_.empty(),
          .scene = request_,
          .scene_name = scene_.name,
          .count = count_,
          .step = step_,
          .sim_time = sim_time_,
          .interactions_per_step = kernel_->interactions(count_) * choice_.integrator->evaluations_a_step,
          .timing = timing_,
          .last_error = last_error_};
}

}  // namespace orrery
