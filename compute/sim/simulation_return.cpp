// How a simulation returns to an earlier run, back from there, and to the state of a checkpoint.
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/core/host_memory.h"
#include "compute/sim/simulation.h"

namespace orrery {
namespace {

/// What loads the scene that `shown` names: there, the count is filled in, and a file says itself how many.
SceneRequest to_load(SceneRequest shown) {
  if (!shown.file.empty()) shown.count = 0;
  return shown;
}

/// The first state of the run's scene; `state` where its file cannot be read any more or has other bodies or units.
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

/// The present choice but for what `run` names: nothing of it is left to the program.
Simulation::Choice Simulation::choice_of(const RunSetup& run) const {
  Choice choice = choice_;
  choice.name_kernel();
  choice.kernel = backends_.kernels().find_revision(run.kernel_id, run.kernel_revision);
  choice.settings = Settings{*choice.kernel, run.settings};
  take_physics(choice, run.physics);
  return choice;
}

/// What is shown now. Without the bodies if they are not finite, or if memory does not hold a copy and the next run.
Simulation::Departure Simulation::departure() {
  cancel_and_wait();
  if (choice_.in_flight) choice_.in_flight->cancel();  // chosen again if UndoReturn comes back
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
  } catch (const std::exception& failure) {  // memory is short: so it is for the first step, which reports it
    if (dynamic_cast<const BackendLost*>(&failure)) throw;
  }
}

}  // namespace orrery
