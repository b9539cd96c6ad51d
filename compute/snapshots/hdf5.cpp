// GADGET HDF5, which AREPO, GIZMO and SWIFT write as well.
#include <algorithm>
#include <array>

#include "compute/snapshots/hdf5_snapshot.h"
#include "compute/snapshots/snapshot_format.h"

namespace orrery {
namespace {

/// HDF5's mark, at the file's beginning.
bool detect_hdf5(std::span<const std::byte> head, std::uint64_t) {
  constexpr std::array<unsigned char, 8> mark{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  return head.size() >= mark.size() && std::equal(mark.begin(), mark.end(), head.begin(),
                                                  [](unsigned char a, std::byte b) { return std::byte{a} == b; });
}

}  // namespace

extern const SnapshotFormat hdf5_format;
constinit const SnapshotFormat hdf5_format{
    .id = "hdf5",
    .title = "GADGET HDF5",
    .endings = {".hdf5", ".h5"},
    .holds = {.velocities = true,
              .time = true,
              .ids = true,
              .species = true,
              .components = true,
              .softening = true,
              .temperature = true,
              .metals = true,
              .formation_time = true,
              .units = true,
              .frame = true,
              .scale_factors = true},
    .groups_species = true,
    .units = UnitRule::galactic,
    .takes_cosmology = true,
    .detect = detect_hdf5,
    .read = read_hdf5,
    .write = write_hdf5,
};

}  // namespace orrery
