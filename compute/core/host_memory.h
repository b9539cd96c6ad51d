#pragma once

#include <cstdint>
#include <filesystem>

namespace orrery {

/// How many bodies fit into the free memory of this machine and of the container's control groups, at 256 bytes each.
/// That covers a generator's draft (56 bytes), the scene kept for Restart and Reset, the engine's state and its copies
/// (32 each), and leaves room for everything else.
std::int64_t bodies_that_fit();

/// Bytes that control groups (v1 and v2) leave free: those that `membership`, a file like /proc/self/cgroup, names
/// under `mount`. The largest integer if none has a limit.
std::int64_t control_group_free_bytes(const std::filesystem::path& membership, const std::filesystem::path& mount);

}  // namespace orrery
