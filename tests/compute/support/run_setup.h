#pragma once

#include "compute/sim/command.h"

namespace orrery::test {

/// The run that `status` shows.
inline RunSetup setup_of(const Status& status) {
  return {.scene = status.scene,
          .physics = {.integrator_id = status.integrator_id,
                      .law = status.law,
                      .time_step = status.time_step,
                      .eta = status.eta,
                      .digits = status.digits},
          .kernel_id = status.kernel_id,
          .settings = status.settings.values()};
}

}  // namespace orrery::test
