#pragma once

#include <array>
#include <vector>

#include "compute/snapshots/snapshot.h"

namespace orrery {

/// A property of bodies and its datasets' names in the files of GADGET, AREPO and SWIFT. The first is written.
struct Hdf5Property {
  std::vector<float> BodyProperties::*values;
  std::array<const char*, 3> names;
  bool gas, stars, others;  ///< which types it is written for
};
inline constexpr std::array<Hdf5Property, 4> hdf5_properties{{
    {&BodyProperties::softening, {"Softenings", "Softening"}, true, true, true},
    {&BodyProperties::temperature, {"Temperature", "Temperatures"}, true, false, false},
    {&BodyProperties::metals, {"Metallicity", "GFM_Metallicity"}, true, true, false},
    {&BodyProperties::formation_time, {"StellarFormationTime", "GFM_StellarFormationTime"}, false, true, false},
}};

}  // namespace orrery
