#pragma once

#include "compute/kernels/tree/high_expansion.h"
#include "compute/kernels/tree/octree.h"

#if defined(__CUDACC__)

// Moments of a cell in device memory, for CUDA sources.
namespace orrery {

/// Places of a cell's moments in a tree with high moments.
struct StoredMoments {
  const Vec4 *a, *b;  ///< see Octree::moments_a and moments_b
  Vec4* high;         ///< stored_vectors entries

  __device__ StoredMoments(const Octree& tree, int cell)
      : a{tree.moments_a + cell},
        b{tree.moments_b + cell},
        high{tree.high_moments + static_cast<std::size_t>(cell) * high::stored_vectors} {}
};

inline __device__ high::Moments moments_from(const StoredMoments& stored) {
  const Vec4 a = *stored.a, b = *stored.b;
  high::Moments moments;
  moments.at[0] = a.x;
  constexpr float of_mixed = -1.0f / 3, of_square = of_mixed / 2;
  constexpr int second = high::terms_below(2);
  const float seconds[] = {of_square * a.y, of_mixed * a.z, of_mixed * a.w,
                           of_square * b.x, of_mixed * b.y, of_square * b.z};
  high::for_each<0, 6>([&](auto i) { moments.at[second + decltype(i)::value] = seconds[decltype(i)::value]; });
  high::for_each<0, high::stored_vectors>([&](auto constant) {
    constexpr int first = high::first_high_moment + 4 * decltype(constant)::value;
    const Vec4 four = stored.high[decltype(constant)::value];
    moments.at[first] = four.x;
    moments.at[first + 1] = four.y;
    if constexpr (first + 2 < high::moment_terms) moments.at[first + 2] = four.z;
    if constexpr (first + 3 < high::moment_terms) moments.at[first + 3] = four.w;
  });
  return moments;
}

/// Stores the moments from the third order on.
inline __device__ void store_high_moments(const StoredMoments& stored, const high::Moments& moments) {
  high::for_each<0, high::stored_vectors>([&](auto constant) {
    constexpr int first = high::first_high_moment + 4 * decltype(constant)::value;
    Vec4 four{moments.at[first], moments.at[first + 1], 0, 0};
    if constexpr (first + 2 < high::moment_terms) four.z = moments.at[first + 2];
    if constexpr (first + 3 < high::moment_terms) four.w = moments.at[first + 3];
    stored.high[decltype(constant)::value] = four;
  });
}
static_assert((high::moment_terms - high::first_high_moment) % 4 != 1, "the last vector has two moments or more");

}  // namespace orrery

#endif
