#pragma once

#include <string>

#include "compute/kernels/dispatch.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/tree/multipole.h"

// Tunables that several trees have, and the meaning of their values.
namespace orrery {

inline constexpr Values<4, 8, 16, 32, 64> leaf_values;
constexpr Tunable leaf_tunable(const char* initial) {
  return {.name = "leaf",
          .notes = "A cell of at most so many bodies is not divided.",
          .values = leaf_values.names(),
          .initial = initial};
}

inline constexpr Values<FarField::monopole, FarField::quadrupole, FarField::local> order_values{"monopole",
                                                                                                "quadrupole", "local"};
inline constexpr Tunable order_tunable{
    .name = "order",
    .notes =
        "What cells pull by: their masses, or second moments too; local: likewise, and cells far from a group "
        "through one expansion around its center.",
    .values = order_values.names(),
    .initial = "local"};
/// Of cuda-tree, which has high moments too.
inline constexpr Values<FarField::monopole, FarField::quadrupole, FarField::local, FarField::high> octree_order_values{
    "monopole", "quadrupole", "local", "high"};
inline constexpr Tunable octree_order_tunable{
    .name = "order",
    .notes =
        "What cells pull by: their masses, or second moments too; local: likewise, and cells far from a group "
        "through one expansion around its center; high: with moments to fifth order, for small tolerances.",
    .values = octree_order_values.names(),
    .initial = "local"};
inline FarField far_field(const Settings& settings) {
  return octree_order_values.find(settings.text("order"));
}

/// Threads in a block of cuda-tree-lock's kernels; no CUDA tree launches its TreeLog with more.
inline constexpr Values<64, 128, 256, 512, 1024> tree_block_values;
inline constexpr int max_tree_block = tree_block_values.largest;

/// Neighbouring bodies that walk cuda-tree's octree together.
inline constexpr Values<32, 64> octree_group_values;
inline constexpr int max_octree_group = octree_group_values.largest;

/// Warps that share the walk of a group in cuda-tree.
inline constexpr Values<1, 2, 4> octree_split_values;

/// The opening angle.
inline float theta(const Settings& settings) {
  return std::stof(settings.text("theta"));
}

}  // namespace orrery
