#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/snapshots/bytes.h"
#include "compute/snapshots/columns.h"
#include "compute/snapshots/snapshot_facts.h"

namespace orrery {

class SnapshotInput;
class TextLines;

enum class PlyType : std::uint8_t { int8, uint8, int16, uint16, int32, uint32, float32, float64 };
std::size_t bytes_of(PlyType type);
/// Throws nothing: any bytes are a number. An id wider than 2^53 is not exact.
double load_ply(PlyType type, const Bytes& bytes, const std::byte* at);

struct PlyProperty {
  PlyType type;
  BodyColumn column;
  bool high = false;  ///< the upper 32 bits of an id
};

/// The header of a PLY file, as far as it concerns the vertices.
struct PlyHeader {
  std::optional<ByteOrder> order;  ///< empty: numbers as text
  std::uint64_t vertices = 0;
  std::vector<PlyProperty> properties;  ///< of a vertex, in order
  std::uint64_t skipped_lines = 0;      ///< of elements before the vertices, as text
  std::uint64_t skipped_bytes = 0;      ///< the same, as binary
  bool more = false;                    ///< elements follow the vertices
  SnapshotFacts facts;
  std::vector<std::string> unread;  ///< properties of the vertices and other elements

  std::size_t vertex_bytes() const;
  std::vector<BodyColumn> columns() const;
};

/// Reads up to the line end_header. Fails with the byte and the line that is wrong.
PlyHeader read_ply_header(SnapshotInput& input, TextLines& lines);

}  // namespace orrery
