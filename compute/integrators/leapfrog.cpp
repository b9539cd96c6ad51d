#include "compute/integrators/integrator.h"

namespace orrery {

constinit const IntegratorInfo leapfrog{
    .id = "leapfrog",
    .title = "Leapfrog",
    .notes = "Kick by dt/2, drift by dt, kick by dt/2: second order, symplectic, time-reversible.",
    .order = 2,
    .evaluations_per_step = 1,
    .step =
        [](StepOps& ops, float dt) {
          if (!ops.accelerations_current()) ops.force(/*store=*/true, 0);
          ops.kick_drift(dt / 2, dt);
          ops.force(/*store=*/true, dt / 2);
        },
};

}  // namespace orrery
