#include "compute/integrators/integrator.h"

namespace orrery {

extern const IntegratorInfo euler;
constinit const IntegratorInfo euler{
    .id = "euler",
    .title = "Semi-implicit Euler",
    .notes = "Kick by dt, then drift by dt: first order, symplectic; one fused force pass and one move.",
    .order = 1,
    .evaluations_per_step = 1,
    .step =
        [](StepOps& ops, float dt) {
          ops.force(/*store=*/false, dt);
          ops.kick_drift(0, dt);
        },
};

}  // namespace orrery
