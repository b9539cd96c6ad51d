#include "app/colours/body_colour.h"

namespace orrery {
namespace {

constexpr render::ColourBy by_mass{
    .source = render::ColourBy::Source::computed, .glsl = "position.w", .range = &render::ValueRanges::mass};

}  // namespace

extern const BodyColour colour_mass;
constinit const BodyColour colour_mass{
    .id = "mass",
    .title = "mass",
    .notes = "The mass of the body.",
    .quantity = "mass",
    .unit = "mass",
    .dimension = dimension::mass,
    .by = &by_mass,
    .computed = {.of = [](const Vec4& position, const Vec4&, const Vec3&) { return position.w; },
                 .example = {.position = {1, 2, 3, 0.25f}, .velocity = {}, .sight = {1, 0, 0}, .value = 0.25f}},
};

}  // namespace orrery
