#include "compute/snapshots/snapshot_format.h"
#include "tests/fuzz/input.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const orrery::fuzz::InputFile file{data, size};
  return orrery::fuzz::accept_refusals([&] { (void)orrery::read_snapshot(file.path()); });
}
