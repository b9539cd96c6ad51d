#include "compute/snapshots/gadget_header.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "compute/snapshots/snapshot_input.h"

namespace orrery {
namespace {

/// Where the header's fields start in a binary file.
namespace gadget_field {
constexpr std::size_t counts = 0, masses = 24, time = 72, redshift = 80, all_counts = 96, files = 124, box_size = 128,
                      omega0 = 136, hubble = 152, high_counts = 168;
}

Species gadget_species_of(const SnapshotView& snapshot, std::size_t body) {
  const std::vector<Species>& species = snapshot.properties.species;
  return species.empty() ? Species::dark : species[body];
}

/// Gives bodies without softening in the file that of the code's parameters.
void take_code_softening(const GadgetHeader& header, const SnapshotHints& hints, Snapshot& snapshot) {
  std::vector<float>& lengths = snapshot.properties.softening;
  if (std::ranges::any_of(lengths, [](float length) { return length != 0; })) return;
  std::vector<float> by_type;
  bool any = false;
  for (std::size_t type = 0; type < GadgetHeader::types; ++type) {
    const double length = softening_of_type(header.meaning, hints, type);
    if (!unusable_property(length).empty() || length < 0) return;
    any |= length > 0 && header.counts[type] > 0;
    by_type.insert(by_type.end(), header.counts[type], static_cast<float>(length));
  }
  if (!any) return;
  lengths = std::move(by_type);
  snapshot.notes.emplace_back("softening lengths are those of the code's parameters in the file");
}

}  // namespace

std::uint64_t GadgetHeader::bodies() const {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::uint64_t GadgetHeader::own_masses() const {
  std::uint64_t number = 0;
  for (std::size_t type = 0; type < types; ++type) number += masses[type] == 0 ? counts[type] : 0;
  return number;
}

std::uint64_t GadgetHeader::promised() const {
  std::uint64_t low = 0, whole = 0;
  for (std::size_t type = 0; type < types; ++type) {
    low += totals[type];
    whole += totals[type] + (high_words[type] << 32);
  }
  constexpr std::uint64_t at_most = 8;  // times the bodies that files like this one have
  return whole <= at_most * (bodies() + skipped) * static_cast<std::uint64_t>(std::max<std::int64_t>(files, 1)) ? whole
                                                                                                                : low;
}

GadgetHeader parse_gadget_header(std::span<const std::byte, GadgetHeader::bytes> at, const Bytes& bytes) {
  GadgetHeader header;
  for (std::size_t type = 0; type < species_count; ++type) {
    header.counts[type] = bytes.load32(&at[gadget_field::counts + 4 * type]);
    header.masses[type] = bytes.load_double(&at[gadget_field::masses + 8 * type]);
    header.totals[type] = bytes.load32(&at[gadget_field::all_counts + 4 * type]);
    header.high_words[type] = bytes.load32(&at[gadget_field::high_counts + 4 * type]);
  }
  header.meaning.time = bytes.load_double(&at[gadget_field::time]);
  header.meaning.redshift = bytes.load_double(&at[gadget_field::redshift]);
  header.meaning.box_size = bytes.load_double(&at[gadget_field::box_size]);
  header.meaning.omega0 = bytes.load_double(&at[gadget_field::omega0]);
  header.meaning.hubble = bytes.load_double(&at[gadget_field::hubble]);
  header.files = static_cast<std::int32_t>(bytes.load32(&at[gadget_field::files]));
  return header;
}

void store_gadget_header(const GadgetHeader& header, std::span<std::byte, GadgetHeader::bytes> at, const Bytes& bytes) {
  std::ranges::fill(at, std::byte{0});
  for (std::size_t type = 0; type < species_count; ++type) {
    bytes.store32(&at[gadget_field::counts + 4 * type], static_cast<std::uint32_t>(header.counts[type]));
    bytes.store32(&at[gadget_field::all_counts + 4 * type], static_cast<std::uint32_t>(header.counts[type]));
    bytes.store_double(&at[gadget_field::masses + 8 * type], header.masses[type]);
  }
  bytes.store_double(&at[gadget_field::time], header.meaning.time);
  bytes.store32(&at[gadget_field::files], 1);
  bytes.store_double(&at[gadget_field::hubble], 1);
}

std::optional<GadgetFault> fault_of(const GadgetHeader& header) {
  if (!std::isfinite(header.meaning.time)) return GadgetFault{"Time", gadget_field::time, "not finite"};
  for (std::size_t type = 0; type < GadgetHeader::types; ++type) {
    const double mass = header.masses[type];
    if (header.counts[type] == 0 || mass == 0) continue;
    if (const std::string cause = no_body({}, mass, {}); !cause.empty()) {
      return GadgetFault{"MassTable", gadget_field::masses + 8 * type,
                         "type " + std::to_string(type) + " has " + cause};
    }
  }
  if (header.bodies() == 0 && header.files <= 1)
    return GadgetFault{"NumPart_ThisFile", gadget_field::counts, "no bodies"};
  return std::nullopt;
}

std::string take_gadget_header(const GadgetHeader& header, const SnapshotHints& hints, Snapshot& snapshot) {
  if (header.counts[1] != header.bodies()) {
    for (std::size_t type = 0; type < GadgetHeader::types; ++type) {
      snapshot.properties.species.insert(snapshot.properties.species.end(), header.counts[type], species_of_type(type));
    }
  }
  std::size_t first = 0;
  for (std::size_t type = 0; type < GadgetHeader::types; ++type) {
    const std::size_t end = first + header.counts[type];
    for (std::size_t i = first; i < end && header.masses[type] != 0; ++i) {
      set_mass(snapshot, i, header.masses[type]);
    }
    first = end;
  }
  take_code_softening(header, hints, snapshot);
  return take_meaning(header.meaning, hints, snapshot);
}

GadgetHeader gadget_header_of(const SnapshotView& snapshot) {
  GadgetHeader header;
  header.meaning.time = snapshot.time;
  if (snapshot.properties.species.empty()) {
    if (const std::optional<BodyBounds> bounds = snapshot.bodies->bounds()) {
      constexpr auto all = static_cast<std::size_t>(Species::dark);
      header.counts[all] = snapshot.bodies->count();
      header.masses[all] = bounds->least_mass == bounds->greatest_mass ? bounds->least_mass : 0;
      return header;
    }
  }
  std::array<bool, species_count> equal{};
  for (std::size_t i = 0; i < snapshot.bodies->count(); ++i) {
    const auto type = static_cast<std::size_t>(gadget_species_of(snapshot, i));
    const double mass = snapshot.bodies->position(i).w;
    if (header.counts[type]++ == 0) {
      header.masses[type] = mass;
      equal[type] = true;
    }
    if (header.masses[type] != mass) equal[type] = false;
  }
  for (std::size_t type = 0; type < species_count; ++type) {
    if (!equal[type]) header.masses[type] = 0;
  }
  return header;
}

}  // namespace orrery
