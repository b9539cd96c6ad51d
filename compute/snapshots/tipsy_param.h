#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "compute/core/output_name.h"
#include "compute/snapshots/units.h"

namespace orrery {

/// A TIPSY file holds no units: the lines "dKpcUnit = 1" and "dMsolUnit = 1e10" of its parameter file do. That is
/// NAME.param for NAME.tipsy and, unless they have one of their own, for NAME.00128, NAME_00128.tipsy and NAME-2.tipsy:
/// the states of one run share a file.

/// Statements of a parameter file of gasoline, ChaNGa or pkdgrav about a snapshot's numbers.
struct TipsyParam {
  std::filesystem::path file;                                ///< the one that exists, or the one that would be written
  std::optional<Units> units{};                              ///< none: it names none, or none that can be used
  std::optional<bool> comoving{};                            ///< bComove
  bool double_positions = false, double_velocities = false;  ///< bDoublePos, bDoubleVel
  double box_size = 0;                                       ///< of a periodic run, in its unit of length; 0: none
  std::optional<double> omega0{};                            ///< dOmega0
  std::string problem{};  ///< why something cannot be used: one line that names the file and the field
};
/// Reads the parameter file of a snapshot, if there is one.
TipsyParam param_beside(const std::filesystem::path& snapshot);

/// Prepares that a snapshot gets these units, or none, and that no other snapshot gets them. Call before it is written.
/// Throws std::runtime_error if this is impossible, or if an existing file gives other units and `existing` keeps it.
/// Otherwise, makes a parameter file for this snapshot alone and returns its name. It has no units until write_param(),
/// so a kill leaves bodies without units at worst.
std::optional<std::filesystem::path> prepare_param(const std::filesystem::path& snapshot,
                                                   const std::optional<Units>& units, Existing existing);
/// Writes the parameter file of a snapshot that was written, unless it has these units anyway: the run's if there is
/// none and no other snapshot reads it, else the snapshot's own. Returns its name.
std::optional<std::filesystem::path> write_param(const std::filesystem::path& snapshot,
                                                 const std::optional<Units>& units, Existing existing);

}  // namespace orrery
