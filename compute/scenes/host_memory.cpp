#include "compute/scenes/host_memory.h"

#include <unistd.h>

#include <fstream>
#include <limits>
#include <string>

namespace orrery {
namespace {

constexpr std::int64_t bytes_a_body = 256;

/// What Linux can give without swapping, caches it would drop included; elsewhere, the free pages.
std::int64_t available_bytes() {
  std::ifstream meminfo{"/proc/meminfo"};
  std::string name, unit;
  for (std::int64_t kib; meminfo >> name >> kib; std::getline(meminfo, unit)) {
    if (name == "MemAvailable:") return kib * 1024;
  }
  const long pages = sysconf(_SC_AVPHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? std::int64_t{pages} * page_bytes : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

std::int64_t bodies_that_fit() {
  return available_bytes() / bytes_a_body;
}

}  // namespace orrery
