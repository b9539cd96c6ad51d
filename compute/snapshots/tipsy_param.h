#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "compute/core/output_name.h"
#include "compute/snapshots/units.h"

namespace orrery {

/// A TIPSY file holds no units: the lines "dKpcUnit = 1" and "dMsolUnit = 1e10" of a parameter file do. It is
/// NAME.param of the snapshot's own name, or else the only file in the folder that ends in .param.

/// The units in the parameter file of a snapshot; nothing if there is none, or none that can be used.
std::optional<Units> units_beside(const std::filesystem::path& snapshot);

/// Throws std::runtime_error if write_param() would have to change a file that exists.
void check_param(const std::filesystem::path& snapshot, const Units& units, Existing existing);
/// Writes the parameter file of the snapshot `written.front()` and appends its name, unless one there has these units.
void write_param(std::vector<std::filesystem::path>& written, const Units& units, Existing existing);

}  // namespace orrery
