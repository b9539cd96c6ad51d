#pragma once

#include <array>
#include <optional>
#include <string>

#include "compute/snapshots/hdf5_object.h"

namespace orrery {

/// A dataset's extent, with 1 for the second dimension if it has one alone; nothing if it has other dimensions.
std::optional<std::array<hsize_t, 2>> extent_of(const Hdf5Object& data);
/// Bytes of one of its numbers; 0 if they are none that libhdf5 can convert.
std::size_t number_bytes(const Hdf5Object& data);
enum class NumberKind { whole, with_sign, real };
NumberKind kind_of(const Hdf5Object& data);
/// Why its values cannot be read: they are no numbers, in other files, or cannot be unpacked here in
/// bounded memory. Empty if they can be.
std::string unreadable(const Hdf5Object& data);
/// Whether it is stored in chunks, which libhdf5 finds through an index and may have to unpack.
bool is_chunked(const Hdf5Object& data);
/// How many rows to read at once: whole chunks, so that none is unpacked twice.
hsize_t rows_at_once(const Hdf5Object& data);

}  // namespace orrery
