#pragma once

#include <cstdint>

namespace orrery {

/// The usual name of the instruction set of a Highway target: "AVX-512" for AVX3.
const char* simd_name(std::int64_t target);

}  // namespace orrery
