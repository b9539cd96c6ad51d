#pragma once

#include <span>
#include <string_view>

namespace orrery {

struct Substep;

/// Operations of which Hermite integrators consist. The engine holds positions, velocities, accelerations and jerks in
/// double precision. It converts them from the bodies (floats with or without low words) if the bodies were replaced,
/// or moved by another integrator; Engine::go_on() restores those of an earlier run. The kernel must compute jerks.
/// With block steps, a CUDA engine waits for the GPU in begin() and correct().
class HermiteOps {
 public:
  virtual ~HermiteOps() = default;
  /// Begins a whole step. Gives each body the level that suits it, or level 0 if all `share_steps`. Returns the deepest
  /// level that has bodies.
  virtual int begin(float time_step, bool share_steps) = 0;
  /// Predicts all bodies at `now`.
  virtual void predict(const Substep& now) = 0;
  /// Evaluates the accelerations and jerks of the active bodies at `now` due to all bodies at their predicted
  /// positions.
  virtual void evaluate(const Substep& now) = 0;
  /// Corrects the active bodies, whose steps end at `now`, and gives them new levels if begin() gave levels. Returns
  /// the deepest level that has bodies. If the step was cancelled, the integrator may return at once.
  virtual int correct(const Substep& now) = 0;
  /// Calls predict(), evaluate() and correct() at each moment of a whole step at which a body's own step ends.
  /// `deepest`: result of begin(). Moments are numbered in steps of most_level.
  virtual void take_moments(float time_step, int deepest);
  /// Ends a whole step, when all own steps have ended: writes the rounded bodies.
  virtual void end() = 0;
};

/// Operations of which integrators consist. Each acts on all bodies; a CUDA engine enqueues it.
class StepOps {
 public:
  virtual ~StepOps() = default;
  /// Evaluates the accelerations at the current positions. Stores them if `store`, and kicks the velocities by kick_dt
  /// (0: no kick) in the same pass. Under Digits::single, times here and below are rounded to float.
  virtual void force(bool store, double kick_dt) = 0;
  /// Computes v += (a - D v / m) kick_dt with the stored accelerations (skipped for 0), then x += v drift_dt.
  virtual void kick_drift(double kick_dt, double drift_dt) = 0;
  /// Returns whether the stored accelerations belong to the current positions, kernel and law.
  virtual bool accelerations_current() const = 0;

  // The next three functions are for bodies with time steps of their own, see time_step_levels.h.
  /// Gives each body the level that suits its stored acceleration. Returns the deepest level that has bodies. A CUDA
  /// engine waits for the GPU.
  virtual int assign_levels(float time_step) = 0;
  /// Evaluates and stores the accelerations of the active bodies at `now`, and perhaps of other bodies.
  virtual void force_levels(const Substep& now) = 0;
  /// Kicks the active bodies at `now` by their stored accelerations. Then all bodies drift to the next substep, if
  /// there is one.
  virtual void kick_drift_levels(const Substep& now) = 0;

  /// Returns the operations for integrators that need jerks.
  virtual HermiteOps& hermite() = 0;
};

/// Descriptor of an integrator. Each integrator is in a separate file.
struct IntegratorInfo {
  const char* id;
  const char* title;
  const char* notes;
  int order;                 ///< the global error falls as dt^order
  int evaluations_per_step;  ///< force evaluations per step, without the first one of a run; with block steps, the
                             ///< minimum
  bool block_steps = false;  ///< bodies have levels: a step evaluates bodies of deep levels more often
  bool needs_jerks = false;  ///< uses StepOps::hermite(), with a kernel that computes jerks
  void (*step)(StepOps& ops, float dt);
};

extern const IntegratorInfo leapfrog;  ///< the default: the scenes' time steps suit it

std::span<const IntegratorInfo* const> integrators();
/// Returns the integrator with this id. If there is none, throws UsageError, which lists the known ids.
const IntegratorInfo& find_integrator(std::string_view id);

}  // namespace orrery
