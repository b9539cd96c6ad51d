#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compute/snapshots/snapshot_format.h"

namespace orrery {

/// In a build without libhdf5, both throw std::runtime_error that names the cure.
Snapshot read_hdf5(SnapshotInput& input);
std::vector<std::filesystem::path> write_hdf5(const std::filesystem::path& file, const SnapshotView& snapshot,
                                              const SnapshotOutput& output);

}  // namespace orrery
