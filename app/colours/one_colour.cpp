#include "app/colours/body_colour.h"

namespace orrery {
namespace {

constexpr render::ColourBy by_nothing{.source = render::ColourBy::Source::none, .map = "stellar"};

}  // namespace

extern const BodyColour colour_one_colour;
constinit const BodyColour colour_one_colour{
    .id = "none",
    .title = "one colour",
    .notes = "All bodies have the last colour of the map.",
    .quantity = "",
    .by = &by_nothing,
};

}  // namespace orrery
