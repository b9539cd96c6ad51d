#pragma once

#include <span>
#include <string_view>

namespace orrery {

struct Substep;

/// The operations that Hermite integrators consist of. The engine then holds positions, velocities, accelerations and
/// jerks in double precision. It converts them from the bodies (floats with or without low words) if these were
/// replaced or moved by another integrator; Engine::go_on() restores those of an earlier run. The kernel must give
/// jerks. With block steps, a CUDA engine waits for the GPU in begin() and correct().
class HermiteOps {
 public:
  virtual ~HermiteOps() = default;
  /// Call first in a whole step. Gives each body the level that suits it, or level 0 if all `share_steps`. Returns the
  /// deepest level that has bodies.
  virtual int begin(float time_step, bool share_steps) = 0;
  /// Predicts all bodies at `now`.
  virtual void predict(const Substep& now) = 0;
  /// Evaluates the accelerations and jerks of the active bodies at `now` due to all bodies at their predicted
  /// positions.
  virtual void evaluate(const Substep& now) = 0;
  /// Corrects the active bodies, whose steps end at `now`, and gives them new levels if begin() did so. Returns the
  /// deepest level that has bodies. If the step was cancelled, the integrator may return at once.
  virtual int correct(const Substep& now) = 0;
  /// Calls predict(), evaluate() and correct() at each moment of a whole step at which own steps end. `deepest` is what
  /// begin() returned. Numbers of moments count steps of most_level.
  virtual void take_moments(float time_step, int deepest);
  /// Call last in a whole step, when all own steps have ended. Writes the rounded bodies.
  virtual void end() = 0;
};

/// The operations that integrators consist of. Each acts on all bodies; a CUDA engine enqueues it.
class StepOps {
 public:
  virtual ~StepOps() = default;
  /// Evaluates the accelerations at the current positions; keeps them if `store`, and kicks the velocities by kick_dt
  /// (0: no kick) in the same pass. Times here and below are rounded to float under Digits::single.
  virtual void force(bool store, double kick_dt) = 0;
  /// v += (a - D v / m) kick_dt with the stored accelerations (skipped for 0), then x += v drift_dt.
  virtual void kick_drift(double kick_dt, double drift_dt) = 0;
  /// Returns whether the stored accelerations belong to the current positions, kernel and law.
  virtual bool accelerations_current() const = 0;

  // The next three are for bodies with time steps of their own, see time_step_levels.h.
  /// Gives each body the level that suits its stored acceleration. Returns the deepest level that has bodies; a CUDA
  /// engine waits for it.
  virtual int assign_levels(float time_step) = 0;
  /// Evaluates and stores the accelerations of the active bodies at `now`; it may also do so for other bodies.
  virtual void force_levels(const Substep& now) = 0;
  /// Kicks the active bodies at `now` by their stored accelerations. Then all bodies drift to the next substep, if
  /// there is one.
  virtual void kick_drift_levels(const Substep& now) = 0;

  /// Returns the operations for integrators that need jerks.
  virtual HermiteOps& hermite() = 0;
};

/// Descriptor of an integrator. Each is in a file of its own.
struct IntegratorInfo {
  const char* id;
  const char* title;
  const char* notes;
  int order;                 ///< the global error falls as dt^order
  int evaluations_per_step;  ///< force evaluations of one step, after the first; with block steps, at least
  bool block_steps = false;  ///< bodies have levels: a step evaluates bodies of deep levels more often than others
  bool needs_jerks = false;  ///< uses StepOps::hermite(), with a kernel that gives jerks
  void (*step)(StepOps& ops, float dt);
};

extern const IntegratorInfo leapfrog;  ///< the default: the time steps of the scenes suit it

std::span<const IntegratorInfo* const> integrators();
/// Throws UsageError that lists the known ids.
const IntegratorInfo& find_integrator(std::string_view id);

}  // namespace orrery
