// GADGET snapshots: the header, which HDF5 files share, snapshots of several files, and binary files of both types.
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

/// The header of a GADGET snapshot, binary or HDF5.
struct GadgetHeader {
  static constexpr std::size_t types = 16;    ///< the most that a file may have; binary files and Orrery's have 6
  std::array<std::uint64_t, types> counts{};  ///< bodies in this file
  std::array<double, types> masses{};         ///< mass of every body of a type; 0: each has its own
  FileMeaning meaning{.usual_units = galactic_units};
  std::int64_t files = 1;  ///< number of files of the snapshot; 0 means 1; for other invalid numbers see most_files
  static constexpr std::int64_t most_files = 1'000'000;
  std::array<std::uint64_t, types> totals{};      ///< bodies in all files; all 0: not known
  std::array<std::uint64_t, types> high_words{};  ///< multiples of 2^32 in `totals`; older codes write other data there
  std::uint64_t skipped = 0;                      ///< rows of this file that are no bodies

  std::uint64_t bodies() const;
  /// Returns the number of bodies in all files according to `totals`; 0 if it is not known. The high words are ignored
  /// if the result would exceed 8 times the bodies of `files` files like this one: older codes write other data there.
  std::uint64_t promised() const;
  /// Returns the number of bodies with masses of their own.
  std::uint64_t own_masses() const;

  static constexpr std::size_t bytes = 256;  ///< in a binary file
};

GadgetHeader parse_gadget_header(std::span<const std::byte, GadgetHeader::bytes> at, const Bytes& bytes);
void store_gadget_header(const GadgetHeader& header, std::span<std::byte, GadgetHeader::bytes> at, const Bytes& bytes);

/// A field of a header that cannot be used.
struct GadgetFault {
  std::string field;  ///< "MassTable", as HDF5 files call it
  std::size_t byte;   ///< in a binary header
  std::string cause;
};

/// Returns the first fault of the time, the masses or the number of bodies, which may be 0 in one of several files.
std::optional<GadgetFault> fault_of(const GadgetHeader& header);

/// Gives the snapshot the header's species and masses, and all that take_meaning() gives. The positions must be there.
/// Returns why the file cannot be used; empty if it can be.
std::string take_gadget_header(const GadgetHeader& header, const SnapshotHints& hints, Snapshot& snapshot);

/// Returns the species of a particle type. Types beyond the six of GADGET, such as neutrinos, count as dark matter.
constexpr Species species_of_type(std::size_t type) {
  return type < species_count ? static_cast<Species>(type) : Species::dark;
}

/// Returns the header of a snapshot. It contains the masses that all bodies of a species share.
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

/// Reads the snapshot that the file belongs to: the file alone, or NAME.0.hdf5, NAME.1.hdf5 and so on, or NAME.0,
/// NAME.1 and so on. If one of them is missing, reads the file alone and says so in a note. Fails if one belongs to
/// another snapshot.
Snapshot read_gadget_parts(SnapshotInput& input, const std::function<GadgetPart(SnapshotInput&)>& read);

/// Types of GADGET's binary files, which consist of Fortran records, each between two u32 of its length. In `blocks`
/// (SnapFormat=1), the order of the records identifies them. In `labelled` (SnapFormat=2), a record with its name
/// precedes each record.
enum class GadgetType { blocks, labelled };

bool detect_gadget(std::span<const std::byte> head, GadgetType type);
Snapshot read_gadget(SnapshotInput& input, GadgetType type);

std::vector<std::filesystem::path> write_gadget(const std::filesystem::path& file, const SnapshotView& snapshot,
                                                const SnapshotOutput& output, GadgetType type);

inline constexpr SnapshotFormat::Holds gadget_holds{
    .velocities = true, .time = true, .ids = true, .species = true, .components = true};

}  // namespace orrery
