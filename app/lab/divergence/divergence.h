#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "app/lab/divergence/distances.h"
#include "app/lab/divergence/growth.h"

namespace orrery {

/// Two runs of the same bodies at one time.
struct DivergenceSample {
  std::array<std::int64_t, 2> steps{};  ///< of A and of B, since they had the same state
  double time = 0;                      ///< since then
  Distances distances{};
  std::array<std::optional<double>, 2> energy_error{};  ///< |E - E0| / |E0| of A and of B; none: not measured
};

/// The growth of the median distance in these samples, whose times grow; `identical` if all bodies stay together.
/// `size` and `digits` as for fit_growth().
Growth growth_of(const std::vector<DivergenceSample>& samples, double size, Digits digits = Digits::single);

}  // namespace orrery
