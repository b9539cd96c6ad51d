#pragma once

#include <cstdint>
#include <filesystem>

namespace orrery {

/// Host memory that a simulation takes, in bytes per body: a generator's draft (56), the scene kept for Restart and
/// Reset, the engine's state and its copies (32 each), and room for everything else.
inline constexpr std::int64_t simulation_bytes_per_body = 256;

/// Host memory that reading, converting or inspecting a file takes, in bytes per body: 41 to 55 were measured with ids
/// and species (2 million bodies, all formats); the other properties take 16, and tables grow while they are read.
inline constexpr std::int64_t file_bytes_per_body = 128;

/// Returns how many bodies fit into the free memory of this machine and of the container's control groups.
std::int64_t bodies_that_fit(std::int64_t bytes_per_body);

/// Bytes that control groups (v1 and v2) leave free: those that `membership`, a file like /proc/self/cgroup, names
/// under `mount`. The largest integer if none has a limit.
std::int64_t control_group_free_bytes(const std::filesystem::path& membership, const std::filesystem::path& mount);

}  // namespace orrery
