#pragma once

#include <array>
#include <vector>

#include "compute/snapshots/snapshot.h"

namespace orrery {

/// A property of bodies and its datasets' names in the files of GADGET, AREPO and SWIFT. The first is written.
struct Hdf5Property {
  std::vector<float> BodyProperties::*values;
  std::array<const char*, 3> names;
};
inline constexpr std::array<Hdf5Property, 4> hdf5_properties{{
    {&BodyProperties::softening, {"Softenings", "Softening"}},
    {&BodyProperties::temperature, {"Temperature", "Temperatures"}},
    {&BodyProperties::metals, {"Metallicity", "GFM_Metallicity", "MetalMassFractions"}},
    {&BodyProperties::formation_time, {"StellarFormationTime", "GFM_StellarFormationTime", "BirthTimes"}},
}};

}  // namespace orrery
