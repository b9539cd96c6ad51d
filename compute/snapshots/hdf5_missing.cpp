// Stands for hdf5_snapshot.cpp in a build without libhdf5.
#include <stdexcept>

#include "compute/snapshots/hdf5_snapshot.h"
#include "compute/snapshots/snapshot_input.h"

namespace orrery {
namespace {

constexpr const char* cure = "this build has no HDF5: install libhdf5-dev, configure and build again";

}  // namespace

bool has_hdf5() {
  return false;
}

Snapshot read_hdf5(SnapshotInput& input) {
  input.fail(cure);
}

std::vector<std::filesystem::path> write_hdf5(const std::filesystem::path& file, const SnapshotView&,
                                              const SnapshotOutput&) {
  throw std::runtime_error("'" + file.string() + "': not written: " + cure);
}

}  // namespace orrery
