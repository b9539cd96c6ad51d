#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/colours/body_colour.h"
#include "compute/integrators/time_step_levels.h"

namespace orrery {
namespace {

constexpr render::ColourBy by_time_step_class{};
constexpr int most_doublings = 20;  // largest number of doublings or halvings of dt

/// Values: the longest time step, dt times a power of two, that StepCriterion permits a body with this acceleration.
class SuitableTimeSteps final : public AccelerationValues {
  float convert(const Status& status, float acceleration) const override {
    if (std::isnan(acceleration)) return acceleration;
    const StepCriterion criterion{.softening = status.law.softening, .mean_mass = status.mean_mass, .eta = status.eta};
    const double doublings = std::floor(std::log2(criterion.longest_step(acceleration) / status.time_step));
    return status.time_step *
           static_cast<float>(std::exp2(std::clamp<double>(doublings, -most_doublings, most_doublings)));
  }
};

}  // namespace

extern const BodyColour colour_time_step_class;
constinit const BodyColour colour_time_step_class{
    .id = "time-step-class",
    .title = "time-step class",
    .notes =
        "The longest of dt, 2 dt, 4 dt, dt / 2 ... that suits the body: at most sqrt(2 eta L / |a|), where L is the "
        "softening or, if it is longer, the distance at which a body of mean mass pulls as hard. With equal steps, "
        "bodies below dt are stepped too coarsely.",
    .quantity = "suitable time step",
    .unit = "time",
    .dimension = dimension::time,
    .by = &by_time_step_class,
    .create = create_values<SuitableTimeSteps>,
    .basis =
        [](const Status& status) {
          return fmt::format("{} {} {} {}", status.time_step, status.law.softening, status.mean_mass, status.eta);
        },
    .request = request_accelerations,
    .class_unit = [](const Status& status) { return status.time_step; },
};

}  // namespace orrery
