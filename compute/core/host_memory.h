#pragma once

#include <cstdint>
#include <filesystem>

namespace orrery {

/// How many bodies fit into the memory that this machine, and the control groups of a container, leave free now: 256
/// bytes each, which covers a generator's draft (56), the scene kept for Restart and Reset, the engine's state and its
/// copies (32 each), and leaves room for everything else.
std::int64_t bodies_that_fit();

/// What the control groups (v1 and v2) that `membership`, a file like /proc/self/cgroup, names under `mount` leave
/// free; the largest integer where none has a limit.
std::int64_t control_group_free_bytes(const std::filesystem::path& membership, const std::filesystem::path& mount);

}  // namespace orrery
