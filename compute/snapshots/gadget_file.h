#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "compute/snapshots/snapshot_format.h"

namespace orrery {

/// GADGET's binary files: Fortran records, each between two u32 of its length. `blocks` is SnapFormat=1: the records
/// are known by their order. `labelled` is SnapFormat=2: before each stands another record with its name.
enum class GadgetType { blocks, labelled };

namespace gadget_record {
inline constexpr std::size_t mark_bytes = 4, label_bytes = 16;  ///< of a record's length; of the record with a label
inline constexpr std::size_t values_per_block = 49152;          ///< read or written at once
inline constexpr std::uint32_t label_payload = 8;
}  // namespace gadget_record

bool detect_gadget(std::span<const std::byte> head, GadgetType type);
Snapshot read_gadget(SnapshotInput& input, GadgetType type);
std::vector<std::filesystem::path> write_gadget(const std::filesystem::path& file, const SnapshotView& snapshot,
                                                const SnapshotOutput& output, GadgetType type);

inline constexpr SnapshotFormat::Holds gadget_holds{
    .velocities = true, .time = true, .ids = true, .species = true, .components = true};

}  // namespace orrery
