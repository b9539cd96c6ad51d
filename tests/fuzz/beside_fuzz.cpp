#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include "compute/core/temporary_folder.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/fuzz/input.h"

/// The files beside a TIPSY file, of ids and of units: the input is both. A damaged one is noted. Only bodies that it
/// calls comoving are refused, as their time of 0 is no scale factor.
int fuzz_beside(const std::uint8_t* data, std::size_t size) {
  using namespace orrery;
  static const TemporaryFolder folder;
  static const std::filesystem::path file = [] {
    const Bodies bodies{{{1, 0, 0, 1}, {-1, 0, 0, 1}}, {{0, 1, 0, 0}, {0, -1, 0, 0}}};
    return write_snapshot(folder / "a.tipsy", {.bodies = bodies}).files.front();
  }();
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  for (const char* name : {"a.tipsy.iord", "a.param"}) std::ofstream{folder / name, std::ios::binary} << text;
  Snapshot snapshot;
  try {
    snapshot = read_snapshot(file);
  } catch (const std::runtime_error&) {
    if (text.find("bComove") == text.npos) std::abort();
    return 0;
  }
  if (!snapshot.properties.ids.empty() && snapshot.properties.ids.size() != 2) std::abort();
  if (snapshot.units && !snapshot.units->usable()) std::abort();
  return 0;
}
