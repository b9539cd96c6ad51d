// GADGET binary, type 2.
#include "compute/snapshots/gadget.h"

namespace orrery {

extern const SnapshotFormat gadget2_format;
constinit const SnapshotFormat gadget2_format{
    .id = "gadget2",
    .title = "GADGET type 2",
    .endings = {".gadget2", ".g2"},
    .holds = gadget_holds,
    .groups_species = true,
    .units = UnitRule::galactic,
    .takes_cosmology = true,
    .detect = [](std::span<const std::byte> head, std::uint64_t) { return detect_gadget(head, GadgetType::labelled); },
    .read = [](SnapshotInput& input) { return read_gadget(input, GadgetType::labelled); },
    .write = [](const std::filesystem::path& file, const SnapshotView& snapshot,
                const SnapshotOutput& output) { return write_gadget(file, snapshot, output, GadgetType::labelled); },
};

}  // namespace orrery
