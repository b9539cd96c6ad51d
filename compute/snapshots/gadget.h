// GADGET snapshots: the header (HDF5 files use it too), snapshots of several files, and both types of binary files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/snapshots/file_meaning.h"
#include "compute/snapshots/snapshot.h"
#include "compute/snapshots/snapshot_format.h"

namespace orrery {

class SnapshotInput;

/// Header of a GADGET snapshot, binary or HDF5.
struct GadgetHeader {
  static constexpr std::size_t types = 16;    ///< most particle types in a file; binary files and Orrery's have 6
  std::array<std::uint64_t, types> counts{};  ///< bodies of each type in this file
  std::array<double, types> masses{};         ///< common mass of a type's bodies; 0: individual masses
  FileMeaning meaning{.usual_units = galactic_units};
  std::int64_t files = 1;  ///< files of the snapshot; 0 means 1; invalid below 0 and above most_files
  static constexpr std::int64_t most_files = 1'000'000;
  std::array<std::uint64_t, types> totals{};      ///< bodies of each type in all files; all 0: unknown
  std::array<std::uint64_t, types> high_words{};  ///< multiples of 2^32 to add to `totals`; unreliable, see promised()
  std::uint64_t skipped = 0;                      ///< rows of this file that hold no body

  std::uint64_t bodies() const;
  /// Returns the number of bodies in all files, from `totals` and `high_words`; 0 if unknown. Ignores `high_words` if
  /// the result exceeds 8 times the bodies of `files` files like this one: older codes write other data there.
  std::uint64_t promised() const;
  /// Returns the number of bodies with individual masses.
  std::uint64_t own_masses() const;

  static constexpr std::size_t bytes = 256;  ///< size in a binary file
};

GadgetHeader parse_gadget_header(std::span<const std::byte, GadgetHeader::bytes> at, const Bytes& bytes);
void store_gadget_header(const GadgetHeader& header, std::span<std::byte, GadgetHeader::bytes> at, const Bytes& bytes);

/// Field of a header with an unusable value.
struct GadgetFault {
  std::string field;  ///< name in HDF5 files, such as "MassTable"
  std::size_t byte;   ///< offset in a binary header
  std::string cause;
};

/// Returns the first unusable value: time, masses or number of bodies. No bodies are allowed in one of several files.
std::optional<GadgetFault> fault_of(const GadgetHeader& header);

/// Sets the snapshot's species and masses from the header, then calls take_meaning(). Requires the positions. Returns
/// why the file cannot be used; empty if it can be.
std::string take_gadget_header(const GadgetHeader& header, const SnapshotHints& hints, Snapshot& snapshot);

/// Returns the species of a particle type. Types beyond the six of GADGET, such as neutrinos, count as dark matter.
constexpr Species species_of_type(std::size_t type) {
  return type < species_count ? static_cast<Species>(type) : Species::dark;
}

/// Returns the header for writing a snapshot. `masses` has the mass of each species whose bodies have equal masses.
GadgetHeader gadget_header_of(const SnapshotView& snapshot);

/// Calls visit(body) for each body of a species, in their order.
template <class Visit>
void for_each_of(const SnapshotView& snapshot, Species wanted, Visit visit) {
  const std::vector<Species>& species = snapshot.properties.species;
  if (species.empty() && wanted != Species::dark) return;
  for (std::size_t body = 0; body < snapshot.bodies->count(); ++body) {
    if (species.empty() || species[body] == wanted) visit(body);
  }
}

/// One file of a snapshot, with its header.
struct GadgetPart {
  Snapshot snapshot;
  GadgetHeader header;
};

/// Reads the whole snapshot that a file belongs to: one file, or a set such as NAME.0.hdf5, NAME.1.hdf5 or NAME.0,
/// NAME.1. If a file of the set is missing, reads only `input` and adds a note. Throws if a file belongs to another
/// snapshot.
Snapshot read_gadget_parts(SnapshotInput& input, const std::function<GadgetPart(SnapshotInput&)>& read);

/// Types of GADGET's binary files. Both consist of Fortran records: data between two u32 that hold its length in bytes.
/// In `blocks` (SnapFormat=1), records are identified by their order. In `labelled` (SnapFormat=2), a record with a
/// name precedes each record.
enum class GadgetType { blocks, labelled };

bool detect_gadget(std::span<const std::byte> head, GadgetType type);
Snapshot read_gadget(SnapshotInput& input, GadgetType type);

std::vector<std::filesystem::path> write_gadget(const std::filesystem::path& file, const SnapshotView& snapshot,
                                                const SnapshotOutput& output, GadgetType type);

inline constexpr SnapshotFormat::Holds gadget_holds{
    .velocities = true, .time = true, .ids = true, .species = true, .components = true};

}  // namespace orrery
