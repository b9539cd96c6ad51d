#include <algorithm>

#include "app/colours/body_colour.h"

namespace orrery {
namespace {

constexpr render::ColourBy by_species{.source = render::ColourBy::Source::parts, .map = "stellar"};

class PartsOfBodies final : public ColourValues {
 public:
  bool renew(const ValueSources& from, std::vector<float>& values) override {
    if (taken_) return false;
    taken_ = true;
    std::ranges::fill(values, 0.0f);
    if (from.parts.of_body.size() == values.size()) std::ranges::copy(from.parts.of_body, values.begin());
    return true;
  }

 private:
  bool taken_ = false;
};

}  // namespace

extern const BodyColour colour_species;
constinit const BodyColour colour_species{
    .id = "species",
    .title = "part of the scene",
    .notes = "The galaxy, the component of a galaxy, or the species in the scene's file.",
    .quantity = "part of the scene",
    .by = &by_species,
    .create = create_values<PartsOfBodies>,
    .parts =
        [](const Status&, const Parts& parts) {
          return PartNames{parts.names, "all bodies"};
        },
};

}  // namespace orrery
