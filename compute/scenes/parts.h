#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "compute/snapshots/snapshot.h"

namespace orrery {

/// The parts of a scene: its galaxies, the components of one galaxy, or the species of a file. Steps do not change
/// them.
struct Parts {
  std::vector<std::string> names;     ///< at most 4; empty: the scene has no parts
  std::vector<std::uint8_t> of_body;  ///< one per body, an index into `names`; empty if there are no names
  friend bool operator==(const Parts&, const Parts&) = default;
};

struct PartSize {
  const char* name;
  int count;  ///< of bodies
};
/// Parts that lie one behind the other in the order of the bodies. Those without bodies are left out.
Parts parts_in_order(std::initializer_list<PartSize> sizes);
/// The species that there are. If they are more than 4, those of GADGET count as stars or dark.
Parts parts_of(std::span<const Species> species);

}  // namespace orrery
