// The one Status of a simulation.
#include <utility>

#include "compute/sim/simulation.h"

namespace orrery {

double Simulation::interactions_per_step() const {
  if (choice_.integrator->block_steps) {
    return diagnostics_.levels() ? timing_.interactions_per_evaluation * timing_.evaluations / timing_.steps : 0;
  }
  const double evaluations = choice_.integrator->evaluations_per_step;
  if (!choice_.kernel->is_tree) return evaluations * kernel_->interactions(count_);
  return diagnostics_.tree() ? evaluations * static_cast<double>(diagnostics_.tree()->interactions) : 0;
}

const Status& Simulation::status() const {
  if (std::exchange(setup_changed_, false)) describe_setup();
  if (std::exchange(progress_changed_, false)) describe_progress();
  return status_;
}

/// What only commands and the end of a choice change: names, settings and everything else that is not copied in vain.
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
  // Enqueued on the GPU is counted as done.
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
  status_.levels = diagnostics_.levels();
  status_.tree = diagnostics_.tree();
  status_.device_loads = diagnostics_.device_loads();
  status_.tree_cells = diagnostics_.tree_cells();
  status_.force_probe = diagnostics_.force_probe();
  status_.accelerations = diagnostics_.accelerations();
  status_.domains = diagnostics_.domains();
  status_.conserved = diagnostics_.conserved();
  status_.non_finite = diagnostics_.non_finite();
  status_.checkpoint_step = keeper ? std::optional{keeper->checkpoint()->step} : std::nullopt;
  status_.undo_step = departure_ ? std::optional{departure_->at.step} : std::nullopt;
  if (status_.last_error != last_error_) status_.last_error = last_error_;
}

}  // namespace orrery
