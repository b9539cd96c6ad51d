#include "compute/snapshots/snapshot.h"

#include <array>

namespace orrery {

const char* species_name(Species species) {
  constexpr std::array<const char*, species_count> names{"gas", "dark", "disc", "bulge", "star", "boundary"};
  return names[static_cast<std::size_t>(species)];
}

}  // namespace orrery
