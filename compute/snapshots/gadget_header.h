#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/snapshots/bytes.h"
#include "compute/snapshots/snapshot.h"

namespace orrery {

class SnapshotInput;

/// What the header of a GADGET snapshot holds, binary or HDF5.
struct GadgetHeader {
  std::array<std::uint64_t, species_count> counts{};  ///< of this file
  std::array<double, species_count> masses{};         ///< of all bodies of a type; 0: each has its own
  double time = 0, redshift = 0, box_size = 0, omega0 = 0, hubble = 0;
  std::int64_t files = 1;  ///< of the snapshot

  std::uint64_t bodies() const;
  /// How many have masses of their own.
  std::uint64_t own_masses() const;

  static constexpr std::size_t bytes = 256;  ///< in a binary file
};

GadgetHeader parse_gadget_header(std::span<const std::byte, GadgetHeader::bytes> at, const Bytes& bytes);
void store_gadget_header(const GadgetHeader& header, std::span<std::byte, GadgetHeader::bytes> at, const Bytes& bytes);

/// Throws if a mass or the time is not usable, or if there are no bodies. `where` is what comes before the header's
/// fields in messages.
void check_gadget_header(const SnapshotInput& input, const GadgetHeader& header, const char* where);

/// Gives the snapshot the header's time, species and masses, and the units if it has none: galactic_units, assumed. The
/// positions must be there. In a cosmological run, units become proper ones at this time.
void take_gadget_header(const GadgetHeader& header, Snapshot& snapshot);

/// The header of a snapshot, and the order of the bodies in the file: by species. A mass that all bodies of a species
/// have stands in the header.
GadgetHeader gadget_header_of(const Snapshot& snapshot);
std::vector<std::uint32_t> gadget_order_of(const Snapshot& snapshot);

}  // namespace orrery
