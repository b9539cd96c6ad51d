#include "compute/sim/physics_ranges.h"

#include <cmath>
#include <string>

#include "compute/core/error.h"

namespace orrery {
namespace {

/// Throws a UsageError that states the range unless `holds` and the value is finite.
void require(bool holds, const std::string& name, float value, const std::string& range) {
  if (holds && std::isfinite(value)) return;
  throw UsageError(name + " cannot be " + std::to_string(value) + "; it must be a number " + range);
}

}  // namespace

void require_time_step(float time_step) {
  require(time_step > 0, "dt", time_step, "above 0");
}

void require_law(const Law& law) {
  require(law.softening >= Law::min_softening && law.softening <= Law::max_softening, "softening", law.softening,
          "from 1e-6 to 1e6");
  require(law.repulsion >= 0 && law.repulsion <= Law::max_repulsion, "repulsion", law.repulsion, "from 0 to 1e6");
  require(law.drag >= 0 && law.drag <= Law::max_drag, "drag", law.drag, "from 0 to 1e6");
}

}  // namespace orrery
