#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/kernels/division_facet.h"
#include "compute/kernels/tree/host_sort.h"
#include "compute/kernels/tree/morton.h"

// The division of bodies among ranks, each of which gets an interval of the Morton keys.
namespace orrery {

/// The keys from `begin` up to, and without, `end`.
struct KeyRange {
  std::uint64_t begin = 0, end = std::uint64_t{1} << 3 * key_levels;
};

/// Where the ranges of the ranks begin and end: one more than there are ranks, ascending. Each border between two is
/// one between two cells of the octree, and a cell beside it has more than `least` bodies: so no leaf and no group of
/// that many bodies has bodies of two ranks. Where no border near the end of a part is such, a rank gets fewer bodies,
/// or none.
std::vector<std::uint64_t> borders_of_parts(std::span<const KeyedBody> bodies, std::span<const Part> parts, int least);

/// Some of these keys, in their order: enough of `all` keys to find borders near those that are wanted.
std::vector<std::uint64_t> sample_of_keys(std::span<const std::uint64_t> keys, std::size_t all);
/// The same from a sample of all keys, ascending.
std::vector<std::uint64_t> borders_of_parts(std::span<const std::uint64_t> sample, std::span<const Part> parts,
                                            int least);

}  // namespace orrery
