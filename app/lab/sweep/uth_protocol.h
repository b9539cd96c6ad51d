#pragma once

#include <array>

#include "app/lab/variant_result.h"

namespace orrery {

/// How the University of Thessaly's homework measures (literature.md, row 21; source 003, section 2.3): 10 runs of 10
/// steps each, the mean of the runs' total times. Nothing is run before the first run and none is left out. The
/// source writes 30k, 64k and 128k; k is taken as 1000, since its tiled kernel has a last tile apart, which multiples
/// of its block of 1024 would never need. Its integrator is ours named euler.
namespace uth_protocol {
inline constexpr std::array counts{30'000, 64'000, 128'000};
inline constexpr const char* integrator = "euler";
inline constexpr Procedure procedure{.warmup_steps = 0, .repeats = 10, .fresh_steps = 10};
}  // namespace uth_protocol

}  // namespace orrery
