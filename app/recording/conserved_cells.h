#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "compute/sim/command.h"

namespace orrery {

/// What every CSV file of conserved sums begins its rows with.
inline constexpr std::array<std::string_view, 13> conserved_columns{"step",
                                                                    "sim_time",
                                                                    "kinetic",
                                                                    "potential",
                                                                    "total",
                                                                    "total_drift",
                                                                    "momentum_x",
                                                                    "momentum_y",
                                                                    "momentum_z",
                                                                    "angular_momentum_x",
                                                                    "angular_momentum_y",
                                                                    "angular_momentum_z",
                                                                    "virial_ratio"};

/// These columns and then the columns of one file alone.
template <class... Names>
constexpr auto conserved_columns_and(Names... names) {
  std::array<std::string_view, conserved_columns.size() + sizeof...(names)> all{};
  std::size_t next = 0;
  for (const std::string_view name : conserved_columns) all[next++] = name;
  for (const std::string_view name : {std::string_view{names}...}) all[next++] = name;
  return all;
}

/// The fields of these columns. `drift` is that of the total energy, relative.
std::vector<std::string> conserved_cells(const ConservedProbe& probe, double drift);

}  // namespace orrery
