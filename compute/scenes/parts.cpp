#include "compute/scenes/parts.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace orrery {

Parts parts_in_order(std::initializer_list<PartSize> sizes) {
  Parts parts;
  for (const PartSize& size : sizes) {
    if (size.count < 1) continue;
    parts.of_body.insert(parts.of_body.end(), static_cast<std::size_t>(size.count),
                         static_cast<std::uint8_t>(parts.names.size()));
    parts.names.emplace_back(size.name);
  }
  return parts;
}

Parts parts_of(std::span<const Species> species) {
  constexpr std::array names{"gas", "dark", "star"};  // in the order of Species
  Parts parts;
  std::array<std::uint8_t, names.size()> places{};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::ranges::find(species, static_cast<Species>(i)) == species.end()) continue;
    places[i] = static_cast<std::uint8_t>(parts.names.size());
    parts.names.emplace_back(names[i]);
  }
  parts.of_body.reserve(species.size());
  for (const Species one : species) parts.of_body.push_back(places[static_cast<std::size_t>(one)]);
  return parts;
}

}  // namespace orrery
