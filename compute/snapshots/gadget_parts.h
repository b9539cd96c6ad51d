#pragma once

#include <functional>

#include "compute/snapshots/gadget_header.h"
#include "compute/snapshots/snapshot.h"

namespace orrery {

class SnapshotInput;

/// One file of a snapshot, with its header.
struct GadgetPart {
  Snapshot snapshot;
  GadgetHeader header;
};

/// Reads the snapshot that the file belongs to: the file alone, or NAME.0.hdf5, NAME.1.hdf5 and so on, or NAME.0,
/// NAME.1 and so on. If one of them is missing, reads the file alone and says so in a note. Fails if one belongs to
/// another snapshot.
Snapshot read_gadget_parts(SnapshotInput& input, const std::function<GadgetPart(SnapshotInput&)>& read);

}  // namespace orrery
