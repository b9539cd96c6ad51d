#pragma once

#include <array>

#include "app/lab/sampling.h"

namespace orrery {

/// The protocol of the University of Thessaly's homework (literature.md, row 21; source 003, section 2.3): 10 runs of
/// 10 steps each, and the mean of their total times. There is no warm-up, and the first run counts. The source writes
/// 30k, 64k and 128k; k is taken as 1000, since its tiled kernel handles a partial last tile, which it would not need
/// with multiples of its block of 1024. Its integrator is ours named euler.
namespace uth_protocol {
inline constexpr std::array counts{30'000, 64'000, 128'000};
inline constexpr const char* integrator = "euler";
inline constexpr Sampling sampling{.warmup_steps = 0, .samples = 10, .fresh_steps = 10};
}  // namespace uth_protocol

}  // namespace orrery
