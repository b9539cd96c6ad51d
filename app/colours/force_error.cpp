#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "app/colours/body_colour.h"
#include "compute/sim/results.h"

namespace orrery {
namespace {

constexpr render::ColourBy by_force_error{.map = "inferno"};

/// Keeps the value of a body until that body is measured again.
class ForceErrors final : public ColourValues {
 public:
  bool renew(const ValueSources& from, std::vector<float>& values) override {
    const std::optional<ForceProbe>& probe = from.status.force_probe;
    if (!probe || !probe->bodies || probe->bodies == taken_) return false;
    taken_ = probe->bodies;
    for (std::size_t i = 0; i < taken_->bodies.size(); ++i) {
      const auto body = static_cast<std::size_t>(taken_->bodies[i]);
      if (body >= values.size()) return false;  // the probe belongs to bodies that are no longer drawn
      const auto error = static_cast<float>(taken_->errors[i]);
      values[body] = std::isnan(error) ? std::numeric_limits<float>::infinity() : error;
    }
    return true;
  }

 private:
  std::shared_ptr<const BodyErrors> taken_;
};

/// Returns a text that identifies the kernel, its settings and the force law.
std::string basis(const Status& status) {
  const Law& law = status.law;
  return fmt::format("{} {} {} {} {} {}", status.kernel_id, status.settings.to_string(), static_cast<int>(law.id),
                     law.softening, law.repulsion, law.drag);
}

}  // namespace

extern const BodyColour colour_force_error;
constinit const BodyColour colour_force_error{
    .id = "force-error",
    .title = "force error",
    .notes =
        "The relative error of the kernel's force on each body, against sums in double precision. Bodies are "
        "measured in turn, in at most a tenth of the time; grey bodies have not been measured.",
    .quantity = "force error",
    .unit = "relative",
    .by = &by_force_error,
    .create = create_values<ForceErrors>,
    .basis = basis,
    .probes_forces = true,
};

}  // namespace orrery
