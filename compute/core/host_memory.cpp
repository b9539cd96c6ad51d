#include "compute/core/host_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// Returns what Linux can give without swapping, including caches that it would drop; on other systems, the free pages.
std::int64_t machine_free_bytes() {
  std::ifstream meminfo{"/proc/meminfo"};
  std::string name, unit;
  for (std::int64_t kib; meminfo >> name >> kib; std::getline(meminfo, unit)) {
    if (name == "MemAvailable:") return kib * 1024;
  }
  const long pages = sysconf(_SC_AVPHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? std::int64_t{pages} * page_bytes : unlimited;
}

/// The files in which one version of control groups keeps a limit and what counts against it.
struct Version {
  const char *folder, *limit, *usage, *dropped_name;
};
constexpr Version v1{"memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr Version v2{"", "memory.max", "memory.current", "inactive_file"};

/// The file cache that the kernel drops before a limit hurts.
std::int64_t droppable_bytes(const fs::path& group, const Version& version) {
  std::ifstream stat{group / "memory.stat"};
  std::string name;
  for (std::int64_t bytes; stat >> name >> bytes;) {
    if (name == version.dropped_name) return bytes;
  }
  return 0;
}

/// `unlimited` where the group sets no limit ("max" is no number).
std::int64_t free_bytes(const fs::path& group, const Version& version) {
  std::ifstream limit_file{group / version.limit}, usage_file{group / version.usage};
  std::int64_t limit = 0, usage = 0;
  if (!(limit_file >> limit) || !(usage_file >> usage)) return unlimited;
  return std::clamp<std::int64_t>(limit - usage + droppable_bytes(group, version), 0, limit);
}

/// The least of a group and those that it is in. A container may show its own group at the mount instead of at `path`.
std::int64_t least_free_bytes(const fs::path& mount, const std::string& path, const Version& version) {
  std::int64_t least = free_bytes(mount / version.folder, version);
  fs::path group = mount / version.folder;
  for (const fs::path& part : fs::path{path}.relative_path()) {
    group /= part;
    least = std::min(least, free_bytes(group, version));
  }
  return least;
}

}  // namespace

std::int64_t control_group_free_bytes(const fs::path& membership, const fs::path& mount) {
  std::int64_t least = unlimited;
  std::ifstream lines{membership};
  for (std::string line; std::getline(lines, line);) {  // "0::/a/b" (v2), "4:cpu,memory:/a/b" (v1)
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',',
                      path = line.substr(second + 1);
    if (controllers == ",,") least = std::min(least, least_free_bytes(mount, path, v2));
    if (controllers.find(",memory,") != std::string::npos) least = std::min(least, least_free_bytes(mount, path, v1));
  }
  return least;
}

std::int64_t bodies_that_fit(std::int64_t bytes_per_body) {
  return std::min(machine_free_bytes(), control_group_free_bytes("/proc/self/cgroup", "/sys/fs/cgroup")) /
         bytes_per_body;
}

}  // namespace orrery
