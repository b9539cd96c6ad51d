#include "compute/snapshots/snapshot_format.h"
#include "compute/snapshots/snapshot_input.h"
#include "tests/fuzz/input.h"

/// Every reader gets every input, whatever its content tells. HDF5 is left out: libhdf5 is not built for this.
int fuzz_snapshot(const std::uint8_t* data, std::size_t size) {
  const orrery::fuzz::InputFile file{data, size};
  for (const orrery::SnapshotFormat* format : orrery::snapshot_formats()) {
    if (std::string{format->id} == "hdf5") continue;
    orrery::fuzz::accept_refusals([&] {
      orrery::SnapshotInput input{file.path()};
      orrery::Snapshot snapshot = format->read(input);
      orrery::convert_to_gravity_units(snapshot);
    });
  }
  return 0;
}
