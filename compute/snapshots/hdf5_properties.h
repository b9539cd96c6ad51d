#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "compute/snapshots/snapshot.h"

namespace orrery {

/// Names of the datasets of bodies, by the code that writes them. The first is written, and of those in a file the
/// first is read.
inline constexpr std::array hdf5_positions{"Coordinates"}, hdf5_ids{"ParticleIDs"};
inline constexpr std::array hdf5_velocities{"Velocities", "Velocity"};  // others; EAGLE and OWLS
inline constexpr std::array hdf5_masses{"Masses", "Mass",
                                        "DynamicalMasses"};  // others; EAGLE, OWLS; SWIFT's black holes

/// A property of bodies and its datasets' names in the files of GADGET, AREPO and SWIFT. The first is written.
struct Hdf5Property {
  std::vector<float> BodyProperties::*values;
  std::array<const char*, 4> names;
};
inline constexpr std::array<Hdf5Property, 4> hdf5_properties{{
    {&BodyProperties::softening, {"Softenings", "Softening"}},
    {&BodyProperties::temperature, {"Temperature", "Temperatures"}},
    {&BodyProperties::metals, {"Metallicity", "GFM_Metallicity", "MetalMassFractions"}},
    {&BodyProperties::formation_time,
     {"StellarFormationTime", "GFM_StellarFormationTime", "BirthTimes", "BirthScaleFactors"}},
}};

/// The name of SWIFT for formation times that are scale factors.
inline constexpr std::string_view hdf5_formation_scale_factors = "BirthScaleFactors";

}  // namespace orrery
