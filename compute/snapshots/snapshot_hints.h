#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compute/snapshots/columns.h"
#include "compute/snapshots/units.h"

namespace orrery {

/// What a user says about a file that does not say it itself.
struct SnapshotHints {
  std::vector<BodyColumn> columns{};    ///< of a text table, in its order; empty: see text.cpp
  std::optional<std::int64_t> state{};  ///< which record of a trajectory, from 0; empty: the last
  std::optional<Units> units{};         ///< in place of the file's; without a velocity, its format's usual one
  std::optional<bool> cosmological{};   ///< whether its numbers are those of an expanding space; empty: it decides
  std::optional<double> hubble{};       ///< h, by which its lengths and masses are to be divided; empty: it decides
  friend bool operator==(const SnapshotHints&, const SnapshotHints&) = default;
};

}  // namespace orrery
