#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compute/core/output_name.h"
#include "compute/snapshots/units.h"

namespace orrery {

/// A TIPSY file holds no units: the lines "dKpcUnit = 1" and "dMsolUnit = 1e10" of its parameter file do. That is
/// NAME.param for NAME.tipsy and, unless they have one of their own, for NAME.00128, NAME_00128.tipsy and NAME-2.tipsy:
/// the states of one run share a file.

struct ParamUnits {
  std::filesystem::path file;    ///< the one that exists, or the one that would be written
  std::optional<Units> units{};  ///< none: it names none, or none that can be used
  std::string problem{};         ///< why they cannot be used: one line that names the file and the field
};
/// The units in the parameter file of a snapshot.
ParamUnits units_beside(const std::filesystem::path& snapshot);

/// Throws std::runtime_error if write_param() would have to change a file that exists.
void check_param(const std::filesystem::path& snapshot, const Units& units, Existing existing);
/// Writes the parameter file of the snapshot `written.front()` and appends its name, unless one there has these units.
void write_param(std::vector<std::filesystem::path>& written, const Units& units, Existing existing);

}  // namespace orrery
