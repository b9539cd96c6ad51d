#include "compute/integrators/integrator.h"
#include "compute/integrators/time_step_levels.h"

namespace orrery {

void HermiteOps::take_moments(float time_step, int deepest) {
  for (Substep now{.time_step = time_step, .deepest = most_level}; now.number < now.last();) {
    now.number += 1 << (most_level - deepest);
    predict(now);
    evaluate(now);
    deepest = correct(now);
  }
}

extern const IntegratorInfo hermite4_blocks;
constinit const IntegratorInfo hermite4_blocks{
    .id = "hermite4-blocks",
    .title = "Hermite 4, block steps",
    .notes =
        "Hermite 4 in which each body has its own time step: dt, dt/2, ... or dt/32768, chosen by Aarseth's criterion "
        "whenever one of its steps ends. Only the bodies whose steps end are evaluated.",
    .order = 4,
    .evaluations_per_step = 1,
    .block_steps = true,
    .needs_jerks = true,
    .step =
        [](StepOps& ops, float dt) {
          HermiteOps& bodies = ops.hermite();
          bodies.take_moments(dt, bodies.begin(dt, /*share_steps=*/false));
          bodies.end();
        },
};

}  // namespace orrery
