#pragma once

#include <cmath>

#include "compute/scenes/scene.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {

/// A scene that steps with cpu-tree: fast enough here for tens of thousands of bodies.
class Evolution {
 public:
  explicit Evolution(const Scene& scene, const char* theta = "0.8")
      : simulation_{backends(), {.scene = "two-body"}, find_kernel("cpu-tree")} {
    simulation_.set_bodies(scene.bodies);
    simulation_.apply(SetTunable{"theta", theta});
    simulation_.apply(SetSoftening{scene.softening});
    set_time_step(scene.time_step);
  }

  void set_time_step(float time_step) {
    simulation_.apply(SetTimeStep{time_step});
    time_step_ = time_step;
  }

  /// Steps until `duration` later, to the nearest step.
  Bodies after(double duration) {
    const long steps = std::lround(duration / static_cast<double>(time_step_));
    if (steps > 0) simulation_.run(static_cast<int>(steps));
    return simulation_.bodies();
  }

 private:
  Simulation simulation_;
  float time_step_ = 0;
};

}  // namespace orrery::test
