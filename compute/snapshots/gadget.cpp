// GADGET binary, type 1.
#include "compute/snapshots/gadget_file.h"

namespace orrery {

extern const SnapshotFormat gadget_format;
constinit const SnapshotFormat gadget_format{
    .id = "gadget",
    .title = "GADGET",
    .endings = {".gadget", ".g1"},
    .holds = gadget_holds,
    .groups_species = true,
    .units = UnitRule::galactic,
    .takes_cosmology = true,
    .detect = [](std::span<const std::byte> head, std::uint64_t) { return detect_gadget(head, GadgetType::blocks); },
    .read = [](SnapshotInput& input) { return read_gadget(input, GadgetType::blocks); },
    .write = [](const std::filesystem::path& file, const SnapshotView& snapshot,
                const SnapshotOutput& output) { return write_gadget(file, snapshot, output, GadgetType::blocks); },
};

}  // namespace orrery
