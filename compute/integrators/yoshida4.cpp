#include "compute/integrators/integrator.h"

namespace orrery {
namespace {

constexpr double outer = 1.3512071919596578;   // 1 / (2 - 2^(1/3))
constexpr double inner = -1.7024143839193153;  // 1 - 2 outer

}  // namespace

/// Fourth-order scheme of three leapfrog steps, the second one backwards: H. Yoshida, Physics Letters A 150 (1990) 262.
/// Adjacent kicks are joined into one.
extern const IntegratorInfo yoshida4;
constinit const IntegratorInfo yoshida4{
    .id = "yoshida4",
    .title = "Yoshida 4",
    .notes = "Three leapfrog steps of 1.35, -1.70 and 1.35 dt: fourth order, symplectic, time-reversible.",
    .order = 4,
    .evaluations_per_step = 3,
    .step =
        [](StepOps& ops, float dt) {
          if (!ops.accelerations_current()) ops.force(/*store=*/true, 0);
          ops.kick_drift(outer * dt / 2, outer * dt);
          for (const double drift : {inner * dt, outer * dt}) {
            ops.force(/*store=*/false, (outer + inner) * dt / 2);
            ops.kick_drift(0, drift);
          }
          ops.force(/*store=*/true, outer * dt / 2);
        },
};

}  // namespace orrery
