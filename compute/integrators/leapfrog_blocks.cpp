#include "compute/integrators/integrator.h"
#include "compute/integrators/time_step_levels.h"

namespace orrery {

extern const IntegratorInfo leapfrog_blocks;
constinit const IntegratorInfo leapfrog_blocks{
    .id = "leapfrog-blocks",
    .title = "Leapfrog, block steps",
    .notes =
        "Leapfrog in which each body has its own time step: dt, dt/2, ... or dt/256, chosen at the begin of each dt as "
        "suits its acceleration; few bodies join those with the next shorter steps. Only the bodies whose steps end "
        "are evaluated, if the kernel can.",
    .order = 2,
    .evaluations_per_step = 1,
    .block_steps = true,
    .step =
        [](StepOps& ops, float dt) {
          if (!ops.accelerations_current()) ops.force(/*store=*/true, 0);
          Substep now{.time_step = dt, .deepest = ops.assign_levels(dt)};
          ops.kick_drift_levels(now);
          for (now.number = 1; now.number <= now.last(); ++now.number) {
            ops.force_levels(now);
            ops.kick_drift_levels(now);
          }
        },
};

}  // namespace orrery
