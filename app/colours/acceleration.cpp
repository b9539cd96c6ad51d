#include "app/colours/body_colour.h"
#include "compute/sim/results.h"

namespace orrery {
namespace {

constexpr render::ColourBy by_acceleration{.map = "inferno"};

}  // namespace

std::optional<Command> request_accelerations(const Status& status) {
  if (status.non_finite || (status.busy && status.backend == Backend::cpu)) return std::nullopt;
  if (status.accelerations && status.accelerations->step == status.step) return std::nullopt;
  return ReadAccelerations{};
}

bool AccelerationValues::renew(const ValueSources& from, std::vector<float>& values) {
  const std::shared_ptr<const Accelerations>& read = from.status.accelerations;
  if (!read || read == taken_) return false;
  taken_ = read;
  if (read->magnitudes.size() != values.size()) return false;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = convert(from.status, read->magnitudes[i]);
  return true;
}

extern const BodyColour colour_acceleration;
constinit const BodyColour colour_acceleration{
    .id = "acceleration",
    .title = "acceleration",
    .notes = "The magnitude of the acceleration, as the kernel found it last.",
    .quantity = "acceleration",
    .unit = "length / time\u00b2",
    .dimension = dimension::acceleration,
    .by = &by_acceleration,
    .create = create_values<AccelerationValues>,
    .request = request_accelerations,
};

}  // namespace orrery
