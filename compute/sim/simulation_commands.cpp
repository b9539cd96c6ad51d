// What a simulation does for each command. Arguments are in their ranges: Simulation::apply has checked them.
#include <tuple>
#include <utility>

#include "compute/core/error.h"
#include "compute/sim/simulation.h"

namespace orrery {
namespace {

void refuse_settings(const SelectKernel& command, const Backends& backends) {
  if (command.settings.empty()) return;
  throw UsageError(command.settings.begin()->first + " cannot be set with the kernel " + command.id +
                   ", which chooses settings as well; name a kernel: " + backends.available_kernels());
}

}  // namespace

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
  Choice next = choice_;
  next.integrator = &find_integrator(c.id);
  suit_kernel(next);
  adopt(next);
}

void Simulation::carry_out(const SelectLaw& c) {
  Choice next = choice_;
  next.law.id = find_law(c.id);
  suit_kernel(next);
  adopt(next);
}

void Simulation::carry_out(const SetTimeStep& c) {
  Choice next = choice_;
  next.time_step = c.time_step;
  adopt(next);
}

void Simulation::carry_out(const SetEta& c) {
  Choice next = choice_;
  next.eta = c.eta;
  adopt(next);
}

void Simulation::carry_out(const SetDigits& c) {
  Choice next = choice_;
  next.digits = c.digits;
  const bool begins = after_all().step == 0 && scene_->bodies.digits() == Digits::compensated;
  if (begins && c.digits == Digits::compensated && choice_.digits == Digits::single) {
    replace_bodies(scene_->bodies, scene_->time, next, /*other_system=*/false);  // with what a file's doubles have left
    return;
  }
  adopt(next);
}

void Simulation::carry_out(const SetSoftening& c) {
  Choice next = choice_;
  next.law.softening = c.softening;
  adopt(next);
}

void Simulation::carry_out(const SetRepulsion& c) {
  Choice next = choice_;
  next.law.repulsion = c.repulsion;
  adopt(next);
}

void Simulation::carry_out(const SetDrag& c) {
  Choice next = choice_;
  next.law.drag = c.drag;
  adopt(next);
}

void Simulation::carry_out(const SetStepsPerFrame& c) {
  steps_per_frame_ = c.steps;
}

void Simulation::carry_out(const SetPaused& c) {
  paused_ = c.paused || diagnostics_.non_finite();
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

void Simulation::carry_out(const LoadScene& c) {
  load(c.request);
}

void Simulation::carry_out(const ProbeForces& c) {
  diagnostics_.ask(c);
}

void Simulation::carry_out(const ReadDomains& c) {
  diagnostics_.ask(c);
}

void Simulation::carry_out(const ReadAccelerations& c) {
  diagnostics_.ask(c);
}

void Simulation::carry_out(const MeasureConserved& c) {
  diagnostics_.ask(c);
}

void Simulation::carry_out(const ReadTreeCells& c) {
  diagnostics_.ask(c);
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

}  // namespace orrery
