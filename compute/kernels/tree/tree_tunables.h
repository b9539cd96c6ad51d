#pragma once

#include <string>

#include "compute/kernels/kernel.h"

// Tunables that several trees have, and the meaning of their values.
namespace orrery {

inline constexpr const char* leaf_values[] = {"4", "8", "16", "32", "64"};
constexpr Tunable leaf_tunable(const char* initial) {
  return {.name = "leaf",
          .notes = "A cell of at most so many bodies is not divided.",
          .values = leaf_values,
          .initial = initial};
}

inline constexpr const char* order_values[] = {"monopole", "quadrupole"};
inline constexpr Tunable order_tunable{
    .name = "order",
    .notes = "What a cell's pull is made of: its mass alone, or its quadrupole moment too.",
    .values = order_values,
    .initial = "quadrupole"};
inline bool has_quadrupoles(const Settings& settings) {
  return settings.text("order") == "quadrupole";
}

/// The opening angle.
inline float theta(const Settings& settings) {
  return std::stof(settings.text("theta"));
}

}  // namespace orrery
