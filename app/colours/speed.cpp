#include <cmath>

#include "app/colours/body_colour.h"

namespace orrery {

extern const BodyColour colour_speed;
constinit const BodyColour colour_speed{
    .id = "speed",
    .title = "speed",
    .notes = "The magnitude of the velocity.",
    .quantity = "speed",
    .unit = "length / time",
    .dimension = dimension::velocity,
    .by = &render::by_speed,
    .computed = {.of = [](const Vec4&, const Vec4& v, const Vec3&) { return std::hypot(v.x, v.y, v.z); },
                 .example = {.position = {}, .velocity = {2, -3, 6, 0}, .sight = {1, 0, 0}, .value = 7}},
};

}  // namespace orrery
