#pragma once

#include <span>
#include <string_view>

namespace orrery {

/// The operations an integrator is written in. Each acts on all bodies at once; a CUDA engine enqueues it.
class StepOps {
 public:
  virtual ~StepOps() = default;
  /// Evaluates the accelerations at the present positions; keeps them if `store`, and kicks the velocities by kick_dt
  /// (0: no kick) in the same pass.
  virtual void force(bool store, float kick_dt) = 0;
  /// v += (a - D v / m) kick_dt with the stored accelerations (skipped for 0), then x += v drift_dt.
  virtual void kick_drift(float kick_dt, float drift_dt) = 0;
  /// Whether the stored accelerations belong to the present positions, kernel and law.
  virtual bool accelerations_current() const = 0;
};

/// An integrator's descriptor, one per file like the kernels.
struct IntegratorInfo {
  const char* id;
  const char* title;
  const char* notes;
  int order;                 ///< the global error falls as dt^order
  int evaluations_per_step;  ///< force evaluations of one step, after the first
  void (*step)(StepOps& ops, float dt);
};

extern const IntegratorInfo leapfrog;  ///< the default: the time steps of the scenes suit it

std::span<const IntegratorInfo* const> integrators();
/// Throws UsageError that lists the known ids.
const IntegratorInfo& find_integrator(std::string_view id);

}  // namespace orrery
