#include "compute/integrators/integrator.h"
#include "compute/integrators/time_step_levels.h"

namespace orrery {

/// Fourth-order Hermite scheme with one correction: J. Makino & S. J. Aarseth, PASJ 44 (1992) 141.
extern const IntegratorInfo hermite4;
constinit const IntegratorInfo hermite4{
    .id = "hermite4",
    .title = "Hermite 4",
    .notes =
        "Predicts each body by its acceleration and jerk, evaluates both, corrects: fourth order with one evaluation, "
        "in double precision. Needs a kernel that gives jerks.",
    .order = 4,
    .evaluations_per_step = 1,
    .needs_jerks = true,
    .step =
        [](StepOps& ops, float dt) {
          HermiteOps& bodies = ops.hermite();
          bodies.begin(dt, /*share_steps=*/true);
          const Substep end{.time_step = dt, .deepest = 0, .number = 1};
          bodies.predict(end);
          bodies.evaluate(end);
          bodies.correct(end);
          bodies.end();
        },
};

}  // namespace orrery
