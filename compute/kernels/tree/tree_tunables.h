#pragma once

#include <string>

#include "compute/kernels/dispatch.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/tree/multipole.h"

// Settings that several tree kernels share, and functions that interpret their values.
namespace orrery {

inline constexpr Values<4, 8, 16, 32, 64> leaf_values;
constexpr Tunable leaf_tunable(const char* initial) {
  return {.name = "leaf",
          .notes = "A cell of at most this many bodies is not divided.",
          .values = leaf_values.names(),
          .initial = initial};
}

inline constexpr const char* tolerance_values[] = {"off",  "1e-2", "5e-3", "2e-3", "1e-3", "7e-4",
                                                   "5e-4", "3e-4", "2e-4", "1e-4", "7e-5", "5e-5",
                                                   "2e-5", "1e-5", "5e-6", "2e-6", "1e-6"};
inline constexpr Tunable tolerance_tunable{
    .name = "tolerance",
    .notes =
        "A cell counts as a whole only if, besides theta, the error of its pull is less than this fraction of the "
        "total pull on the bodies. The errors of cells add up, so a body's error may be larger. off: theta alone "
        "decides.",
    .values = tolerance_values,
    .initial = "1e-3",
    .numbers = Range<double>{1e-8, 1e-2},
    .trades_accuracy = true};
/// Returns the value of the setting `tolerance`; 0: off.
inline float tolerance(const Settings& settings) {
  const std::string value = settings.text("tolerance");
  return value == "off" ? 0.0f : std::stof(value);
}

inline constexpr Values<FarField::monopole, FarField::quadrupole, FarField::local, FarField::high> order_values{
    "monopole", "quadrupole", "local", "high"};
inline constexpr Tunable order_tunable{
    .name = "order",
    .notes =
        "How cells pull. monopole: by mass; quadrupole: by second moments, too; local: as quadrupole, and cells far "
        "from a group through one expansion around its centre; high: as local, with moments to fifth order, for "
        "small tolerances. Under attract-repel, local and high act as quadrupole.",
    .values = order_values.names(),
    .initial = "local"};
inline FarField far_field(const Settings& settings) {
  return order_values.find(settings.text("order"));
}

/// Values for the threads per block of cuda-tree-lock's kernels. No CUDA tree launches its TreeLog with more.
inline constexpr Values<64, 128, 256, 512, 1024> tree_block_values;
inline constexpr int max_tree_block = tree_block_values.largest;

/// Values for the maximum number of neighbouring bodies that walk cuda-tree's octree together.
inline constexpr Values<32, 64> octree_group_values;

/// Values for the number of warps that share the walk of a group in cuda-tree.
inline constexpr Values<1, 2, 4> octree_split_values;

/// Returns the value of the setting `theta`, the opening angle.
inline float theta(const Settings& settings) {
  return std::stof(settings.text("theta"));
}

}  // namespace orrery
