#include <algorithm>
#include <limits>

#include "app/colours/body_colour.h"

namespace orrery {
namespace {

constexpr render::ColourBy by_distance{.map = "inferno"};

class Distances final : public ColourValues {
 public:
  bool renew(const ValueSources& from, std::vector<float>& values) override {
    if (from.distances == taken_) return false;
    taken_ = from.distances;
    if (!taken_) {
      std::ranges::fill(values, std::numeric_limits<float>::quiet_NaN());
      return true;
    }
    if (taken_->size() != values.size()) return false;
    values = *taken_;
    return true;
  }

 private:
  std::shared_ptr<const std::vector<float>> taken_;
};

}  // namespace

extern const BodyColour colour_distance;
constinit const BodyColour colour_distance{
    .id = "distance",
    .title = "distance of A from B",
    .notes =
        "How far the body is from the same body in the other run of a comparison (the tab Compare). Without one, all "
        "bodies are grey.",
    .quantity = "distance of A from B",
    .unit = "length",
    .dimension = dimension::length,
    .by = &by_distance,
    .create = create_values<Distances>,
    .compares_runs = true,
    .why_unknown = [](const Status&) -> std::string { return "known while two runs are compared"; },
};

}  // namespace orrery
