#include "compute/sim/simulation.h"

#include <cmath>
#include <new>
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

Simulation::Simulation(const SceneRequest& request, DeviceStorage* storage, const KernelInfo& kernel)
    : storage_{storage},
      choice_{.kernel = &kernel, .settings = Settings{kernel}, .integrator = &leapfrog, .law = {}, .time_step = 0} {
  engine();  // says why, where the kernel cannot run here
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
    kernel->prepare(count_);
  }
  std::optional<KernelCard> card = kernel_card(*kernel, choice.law, count_);
  settle();
  if (&target != &engine()) target.upload(engine().download());
  choice_ = choice;
  kernel_ = std::move(kernel);
  card_ = std::move(card);
  remembered_settings_[choice_.kernel] = choice_.settings;
  target.set_plan(plan());
}

void Simulation::apply(const Command& command) {
  Choice next = choice_;
  std::visit(
      Overloaded{
          [&](const SelectKernel& c) {
            next.kernel = &find_kernel(c.id);
            const auto remembered = remembered_settings_.find(next.kernel);
            next.settings = remembered == remembered_settings_.end() ? Settings{*next.kernel} : remembered->second;
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
            require(c.softening >= Law::min_softening && c.softening <= Law::max_softening, "softening", c.softening,
                    "from 1e-6 to 1e6");
            next.law.softening = c.softening;
            adopt(next);
          },
          [&](const SetRepulsion& c) {
            require(c.repulsion >= 0 && c.repulsion <= Law::max_repulsion, "repulsion", c.repulsion, "from 0 to 1e6");
            next.law.repulsion = c.repulsion;
            adopt(next);
          },
          [&](const SetDrag& c) {
            require(c.drag >= 0 && c.drag <= Law::max_drag, "drag", c.drag, "from 0 to 1e6");
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
          [&](const ProbeForces&) {},
          [&](const MeasureConserved&) {},
          [&](const KeepGoodState&) {},
          [&](const RestoreGoodState&) {},
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
  kernel_->prepare(bodies.count());
  const Bodies before = count_ > 0 && bodies.count() != count_ ? engine().download() : Bodies{};
  try {
    engine().upload(bodies);
  } catch (...) {
    if (before.count() > 0) engine().upload(before);
    throw;
  }
  count_ = bodies.count();
  card_ = kernel_card(*kernel_, choice_.law, count_);
  steps_done_ = 0;
  time_done_ = 0;
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

/// Takes in what the engine finished. Throws what a batch failed with.
void Simulation::gather() {
  try {
    for (std::vector<StepTiming> ended = engine().collect(); !ended.empty(); ended = engine().collect()) {
      for (const StepTiming& timing : ended) take_in(timing);
    }
  } catch (const std::bad_alloc&) {
    under_way_.clear();
    throw std::runtime_error("the memory does not suffice for a step of " + std::to_string(count_) + " bodies");
  } catch (...) {
    under_way_.clear();
    throw;
  }
}

void Simulation::take_in(const StepTiming& timing) {
  const UnderWay asked = under_way_.front();
  under_way_.pop_front();
  steps_done_ += timing.steps;
  time_done_ += timing.steps * static_cast<double>(asked.time_step);
  if (timing.steps == 0) return;
  timing_ = timing;
  collected_.push_back(timing);
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
  std::int64_t step = steps_done_;
  double sim_time = time_done_;
  if (choice_.kernel->backend == Backend::cuda) {  // enqueued there is as good as done: what follows sees it so
    for (const UnderWay& batch : under_way_) {
      step += batch.steps;
      sim_time += batch.steps * static_cast<double>(batch.time_step);
    }
  }
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
          .step = step,
          .sim_time = sim_time,
          .interactions_per_step = kernel_->interactions(count_) * choice_.integrator->evaluations_a_step,
          .timing = timing_,
          .card = card_,
          .force_probe = {},
          .conserved = {},
          .fault = {},
          .good_step = {},
          .last_error = last_error_};
}

}  // namespace orrery
