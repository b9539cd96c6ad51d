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
  constexpr std::size_t most = 4;  // names
  std::array<bool, species_count> present{};
  for (const Species one : species) present[static_cast<std::size_t>(one)] = true;
  const bool plain = std::ranges::count(present, true) > static_cast<std::ptrdiff_t>(most);
  const auto shown = [&](Species one) { return plain ? plain_species(one) : one; };
  Parts parts;
  std::array<std::uint8_t, species_count> places{};
  for (std::size_t i = 0; i < species_count; ++i) {
    const bool any = std::ranges::any_of(species, [&](Species one) { return shown(one) == static_cast<Species>(i); });
    if (!any) continue;
    places[i] = static_cast<std::uint8_t>(parts.names.size());
    parts.names.emplace_back(species_name(static_cast<Species>(i)));
  }
  parts.of_body.reserve(species.size());
  for (const Species one : species) parts.of_body.push_back(places[static_cast<std::size_t>(shown(one))]);
  return parts;
}

}  // namespace orrery
