#pragma once

#include <cstdint>

namespace orrery {

/// The instruction set that a target of Highway stands for, by its usual name: "AVX-512" for AVX3.
const char* simd_name(std::int64_t target);

}  // namespace orrery
