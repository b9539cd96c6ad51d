#include "app/colours/body_colour.h"

namespace orrery {
namespace {

constexpr render::ColourBy by_line_of_sight_velocity{.source = render::ColourBy::Source::computed,
                                                     .glsl = "dot(velocity.xyz, sight)",
                                                     .logarithmic = false,
                                                     .map = "cool-warm"};

}  // namespace

extern const BodyColour colour_line_of_sight_velocity;
constinit const BodyColour colour_line_of_sight_velocity{
    .id = "line-of-sight-velocity",
    .title = "line-of-sight velocity",
    .notes =
        "The velocity along the camera's view, as telescopes measure it: bodies that come nearer have values below 0 "
        "and are blue, those that go away are red. A disc that rotates has one side of each colour.",
    .quantity = "velocity away from the camera",
    .unit = "length / time",
    .dimension = dimension::velocity,
    .by = &by_line_of_sight_velocity,
    .about_zero = true,
    .computed =
        {.of = [](const Vec4&, const Vec4& v,
                  const Vec3& sight) { return v.x * sight.x + v.y * sight.y + v.z * sight.z; },
         .example = {.position = {1, 2, 3, 1}, .velocity = {10, -5, 2, 0}, .sight = {0.6f, 0, -0.8f}, .value = 4.4f}},
};

}  // namespace orrery
