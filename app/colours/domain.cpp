#include <algorithm>
#include <limits>
#include <utility>

#include "app/colours/body_colour.h"
#include "compute/sim/results.h"

namespace orrery {
namespace {

constexpr render::ColourBy by_domain{.source = render::ColourBy::Source::parts, .map = "stellar"};

class OwnersOfBodies final : public ColourValues {
 public:
  bool renew(const ValueSources& from, std::vector<float>& values) override {
    if (from.status.domains == taken_) return false;
    const std::shared_ptr<const Domains> before = std::exchange(taken_, from.status.domains);
    const BodyOwners owners = taken_ ? taken_->owners : BodyOwners{.why_unknown = "not read"};
    if (before && before->owners == owners) return false;
    const bool one_has_all = owners.names.empty() && owners.why_unknown.empty();
    std::ranges::fill(values, one_has_all ? 0 : std::numeric_limits<float>::quiet_NaN());
    if (owners.of_body.size() == values.size()) {
      std::ranges::transform(owners.of_body, values.begin(),
                             [](int owner) { return static_cast<float>(owner % render::part_colour_count); });
    }
    return true;
  }

 private:
  std::shared_ptr<const Domains> taken_;
};

/// Requests the domains with each batch of steps; while paused, once.
std::optional<Command> request(const Status& status) {
  if (status.non_finite || (status.busy && status.backend == Backend::cpu)) return std::nullopt;
  if (status.paused && status.domains && status.domains->step == status.step) return std::nullopt;
  return ReadDomains{};
}

PartNames names(const Status& status, const Parts&) {
  if (!status.domains) return {.names = {}, .why_unknown = "not known yet"};
  const BodyOwners& owners = status.domains->owners;
  return {owners.names, "all bodies: one domain", owners.why_unknown};
}

}  // namespace

extern const BodyColour colour_domain;
constinit const BodyColour colour_domain{
    .id = "domain",
    .title = "domain",
    .notes =
        "The rank or device that evaluates the body, if several share the evaluations; with block steps, in the latest "
        "evaluation of all bodies. The kernel cuda-symmetric has no domains.",
    .quantity = "domain",
    .by = &by_domain,
    .create = create_values<OwnersOfBodies>,
    .basis = [](const Status& status) { return status.kernel_id + ' ' + status.settings.to_string(); },
    .request = request,
    .parts = names,
};

}  // namespace orrery
