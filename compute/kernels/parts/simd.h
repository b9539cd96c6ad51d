// Shared by the files that Highway compiles for several instruction sets.
#pragma once

#include <hwy/targets.h>

#include <cstdint>
#include <string_view>

#include "compute/kernels/dispatch.h"

namespace orrery {

/// Returns the usual name of the instruction set of a Highway target: "AVX-512" for AVX3.
inline const char* simd_name(std::int64_t target) {
  const char* const name = hwy::TargetName(static_cast<decltype(hwy::SupportedTargets())>(target));
  return std::string_view{name}.starts_with("AVX3") ? "AVX-512" : name;
}

/// The values of the tunable `rows` of the kernels that compute with Highway's vectors.
inline constexpr Values<1, 2, 4> simd_rows;
inline constexpr auto simd_rows_or_auto = simd_rows.names_after("auto");
inline constexpr int max_simd_rows = simd_rows.all.back();

/// Returns the value of `auto`: only AVX-512 has enough registers for four rows. G pairs/s of cpu-simd with 1, 2 and 4
/// rows (one thread, 16,384 bodies, 2026-11-21): AVX-512 on a Xeon 3.96, 3.99, 4.20; AVX2 on an EPYC 3.09, 3.07, 2.99.
inline int rows_for_this_processor() {
  return hwy::SupportedTargets() & HWY_AVX3 ? 4 : 2;
}

}  // namespace orrery
