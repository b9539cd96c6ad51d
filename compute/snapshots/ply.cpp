// PLY points: a text header that names the properties of a vertex, then the vertices in binary or as text.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/atomic_file.h"
#include "compute/core/text.h"
#include "compute/snapshots/columns.h"
#include "compute/snapshots/snapshot_format.h"
#include "compute/snapshots/snapshot_input.h"
#include "compute/snapshots/text_lines.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

enum class PlyType : std::uint8_t { int8, uint8, int16, uint16, int32, uint32, float32, float64 };

struct PlyProperty {
  PlyType type;
  BodyColumn column;
  bool high = false;  ///< upper 32 bits of an id
};

/// Header of a PLY file, reduced to the data about vertices.
struct PlyHeader {
  std::optional<ByteOrder> order;  ///< empty: numbers as text
  std::uint64_t vertices = 0;
  std::vector<PlyProperty> properties;  ///< properties of a vertex, in order
  std::uint64_t skipped_lines = 0;      ///< text lines of elements before the vertices
  std::uint64_t skipped_bytes = 0;      ///< bytes of elements before the vertices, in a binary file
  bool more = false;                    ///< whether elements follow the vertices
  SnapshotFacts facts;
  std::vector<std::string> unread;  ///< names of data that are not read: properties and other elements

  std::size_t vertex_bytes() const;
  std::vector<BodyColumn> columns() const;
};

struct PlyTypeName {
  std::string_view name, other_name;
  std::size_t bytes;
};

constexpr std::array<PlyTypeName, 8> ply_types{{{"char", "int8", 1},
                                                {"uchar", "uint8", 1},
                                                {"short", "int16", 2},
                                                {"ushort", "uint16", 2},
                                                {"int", "int32", 4},
                                                {"uint", "uint32", 4},
                                                {"float", "float32", 4},
                                                {"double", "float64", 8}}};

std::optional<PlyType> type_named(std::string_view name) {
  const auto found = std::ranges::find_if(
      ply_types, [&](const PlyTypeName& type) { return name == type.name || name == type.other_name; });
  if (found == ply_types.end()) return std::nullopt;
  return static_cast<PlyType>(found - ply_types.begin());
}

std::size_t bytes_of(PlyType type) {
  return ply_types[static_cast<std::size_t>(type)].bytes;
}

class PlyHeaderReader {
 public:
  PlyHeaderReader(SnapshotInput& input, TextLines& lines) : input_{input}, lines_{lines} {}

  PlyHeader read() {
    if (!lines_.next() || lines_.line() != "ply") input_.fail_at(0, "line 1", "not a PLY file: it is not 'ply'");
    while (true) {
      if (!lines_.next()) {
        input_.fail_at(input_.size(), lines_.place("PLY header"), "truncated: there is no line end_header");
      }
      if (lines_.line() == "end_header") break;
      take_line();
    }
    close_element();
    if (!formatted_) fail("there is no line 'format'");
    if (!found_) fail("there is no element 'vertex'");
    return std::move(header_);
  }

 private:
  enum class Element { none, before, vertex, after };

  [[noreturn]] void fail(const std::string& cause) const {
    input_.fail_at(lines_.byte_of(lines_.line()), lines_.place("PLY header"), cause);
  }

  void take_line() {
    split_words(lines_.line(), words_);
    if (words_.empty() || words_[0] == "obj_info") return;
    if (words_[0] == "comment") {
      take_comment();
    } else if (words_[0] == "format") {
      take_format();
    } else if (words_[0] == "element") {
      take_element();
    } else if (words_[0] == "property") {
      take_property();
    } else {
      fail("neither comment, format, element, property nor end_header");
    }
  }

  void take_comment() {
    std::string_view text = lines_.line();
    text.remove_prefix(std::min(text.find("comment") + std::string_view{"comment "}.size(), text.size()));
    if (const std::string fault = header_.facts.take(text); !fault.empty()) fail(fault);
  }

  void take_format() {
    const std::string_view name = words_.size() < 2 ? std::string_view{} : words_[1];
    if (name == "binary_little_endian") {
      header_.order = ByteOrder::little;
    } else if (name == "binary_big_endian") {
      header_.order = ByteOrder::big;
    } else if (name != "ascii") {
      fail("the format is neither ascii, binary_little_endian nor binary_big_endian");
    }
    formatted_ = true;
  }

  void take_element() {
    close_element();
    const auto count = words_.size() == 3 ? parsed_number<std::uint64_t>(words_[2]) : std::nullopt;
    if (!count) fail("an element without a number");
    count_ = *count;
    bytes_ = 0;
    element_ = found_ ? Element::after : Element::before;
    if (words_[1] != "vertex" || found_) {
      if (count_ > 0) header_.unread.push_back("element " + std::string{words_[1]});
      return;
    }
    element_ = Element::vertex;
    found_ = true;
    header_.vertices = count_;
  }

  /// Ends an element. Adds up the sizes of those before the vertices.
  void close_element() {
    if (element_ == Element::after && count_ > 0) header_.more = true;
    if (element_ != Element::before) return;
    if (count_ > input_.size() || bytes_ * count_ > input_.size()) fail("more elements than the file can hold");
    header_.skipped_bytes += bytes_ * count_;
    header_.skipped_lines += count_;
  }

  void take_property() {
    constexpr std::size_t most = 1000;
    if (element_ == Element::none) fail("a property before the first element");
    const bool list = words_.size() > 1 && words_[1] == "list";
    if (element_ == Element::after) return;
    if (list) fail("a list among the vertices or before them, which Orrery does not read");
    const auto type = words_.size() == 3 ? type_named(words_[1]) : std::nullopt;
    if (!type) fail("a property is 'property TYPE NAME', with a TYPE such as float, double, int or uchar");
    bytes_ += bytes_of(*type);
    if (++properties_ > most) fail("more than 1000 properties");
    if (element_ != Element::vertex) return;
    const bool high = words_[2] == "id_high";
    const BodyColumn column = high || words_[2] == "id_low" ? BodyColumn::id : column_named(words_[2]);
    header_.properties.push_back({*type, column, high});
    if (column == BodyColumn::skip) header_.unread.push_back("property " + std::string{words_[2]});
  }

  SnapshotInput& input_;
  TextLines& lines_;
  PlyHeader header_;
  std::vector<std::string_view> words_;
  Element element_ = Element::none;
  bool formatted_ = false, found_ = false;
  std::uint64_t count_ = 0, bytes_ = 0;
  std::size_t properties_ = 0;
};

/// Converts bytes to a number. Ids of more than 53 bits are rounded.
double load_ply(PlyType type, const Bytes& bytes, const std::byte* at) {
  switch (type) {
    case PlyType::int8:
      return static_cast<std::int8_t>(*at);
    case PlyType::uint8:
      return static_cast<std::uint8_t>(*at);
    case PlyType::int16:
      return static_cast<std::int16_t>(bytes.load16(at));
    case PlyType::uint16:
      return bytes.load16(at);
    case PlyType::int32:
      return static_cast<std::int32_t>(bytes.load32(at));
    case PlyType::uint32:
      return bytes.load32(at);
    case PlyType::float32:
      return bytes.load_float(at);
    case PlyType::float64:
      return bytes.load_double(at);
  }
  return 0;
}

std::size_t PlyHeader::vertex_bytes() const {
  std::size_t bytes = 0;
  for (const PlyProperty& property : properties) bytes += bytes_of(property.type);
  return bytes;
}

std::vector<BodyColumn> PlyHeader::columns() const {
  std::vector<BodyColumn> columns;
  for (const PlyProperty& property : properties) {
    if (!property.high) columns.push_back(property.column);
  }
  return columns;
}

/// Reads the header to the line end_header. A failure names the byte and the line.
PlyHeader read_ply_header(SnapshotInput& input, TextLines& lines) {
  return PlyHeaderReader{input, lines}.read();
}

constexpr std::size_t ply_block_bytes = 1 << 20;  // approximate size of a block to read or write

bool detect_ply(std::span<const std::byte> head, std::uint64_t) {
  const std::string_view text{reinterpret_cast<const char*>(head.data()), head.size()};
  return text.starts_with("ply\n") || text.starts_with("ply\r\n");
}

class VertexReader {
 public:
  VertexReader(SnapshotInput& input, const PlyHeader& header, Snapshot& snapshot)
      : input_{input}, header_{header}, snapshot_{snapshot}, bodies_{snapshot, header.columns()} {}

  void read_binary(std::uint64_t begin) {
    const std::size_t size = header_.vertex_bytes();
    const std::uint64_t room = input_.size() - begin, before = header_.skipped_bytes;
    const std::uint64_t needed = header_.vertices * size;
    const std::string has = "its header asks for " + counted(header_.vertices, "vertex record") + " of " +
                            counted(size, "byte") + ", behind it are " + format_count(room - std::min(room, before));
    if (before > room || header_.vertices > (room - before) / size) {
      const std::uint64_t first = begin + before;
      input_.fail_at(input_.size(), vertex((input_.size() - std::min(first, input_.size())) / size),
                     "truncated: " + has);
    }
    if (!header_.more && needed + before != room) {
      input_.fail_at(begin + before + needed, "end of the vertices", "oversized: " + has);
    }
    reserve();
    input_.seek(begin + before);
    const Bytes bytes{*header_.order};
    const std::size_t most = std::max<std::size_t>(ply_block_bytes / size, 1);
    std::vector<std::byte> block(most * size);
    for (std::uint64_t first = 0; first < header_.vertices; first += most) {
      const std::uint64_t byte = input_.offset();
      const std::uint64_t here = std::min<std::uint64_t>(most, header_.vertices - first);
      input_.read(block.data(), here * size);
      for (std::uint64_t i = 0; i < here; ++i) {
        const std::byte* at = &block[i * size];
        TableRow row;
        for (const PlyProperty& property : header_.properties) {
          take(row, property, load_ply(property.type, bytes, at), byte + i * size, first + i);
          at += bytes_of(property.type);
        }
        append(row, byte + i * size, first + i);
      }
    }
    bodies_.finish();
  }

  void read_text(TextLines& lines) {
    const std::uint64_t shortest = 2 * header_.properties.size();  // a digit and a blank or newline per value
    if (header_.vertices > input_.size() / shortest) {
      input_.fail_at(input_.size(), "vertices",
                     "truncated: its header asks for " + counted(header_.vertices, "vertex line") + ", it has " +
                         counted(input_.size(), "byte"));
    }
    reserve();
    for (std::uint64_t i = 0; i < header_.skipped_lines && lines.next(); ++i) {
    }
    std::vector<std::string_view> words;
    for (std::uint64_t i = 0; i < header_.vertices; ++i) {
      if (!lines.next()) input_.fail_at(input_.size(), vertex(i), "truncated: it is missing");
      split_words(lines.line(), words);
      const std::uint64_t byte = lines.byte_of(lines.line());
      if (words.size() != header_.properties.size()) {
        input_.fail_at(byte, vertex(i),
                       counted(words.size(), "value") + " for " + counted(header_.properties.size(), "property value"));
      }
      TableRow row;
      for (std::size_t k = 0; k < words.size(); ++k) {
        const auto value = parsed_number<double>(words[k]);
        if (!value) input_.fail_at(lines.byte_of(words[k]), vertex(i), "not a number");
        take(row, header_.properties[k], *value, byte, i);
      }
      append(row, byte, i);
    }
    if (!header_.more && lines.next()) input_.fail_at(lines.byte_of(lines.line()), "end", "more than its vertices");
    bodies_.finish();
  }

 private:
  static std::string vertex(std::uint64_t index) { return "vertex " + std::to_string(index) + " (counted from 0)"; }

  void reserve() {
    input_.require_room_for(header_.vertices);
    bodies_.reserve(header_.vertices);
  }

  void take(TableRow& row, const PlyProperty& property, double value, std::uint64_t byte, std::uint64_t index) const {
    if (property.column == BodyColumn::skip) return;
    if (property.column != BodyColumn::id) {
      row[property.column] = value;
      return;
    }
    constexpr double end = 9007199254740992.0;  // 2^53
    if (!(value >= 0 && value < end) || value != std::floor(value)) {
      input_.fail_at(byte, vertex(index), "an id that is not a whole number from 0 to 2^53 - 1");
    }
    const auto id = static_cast<std::uint64_t>(value);
    row.id |= property.high ? id << 32 : id;
  }

  void append(const TableRow& row, std::uint64_t byte, std::uint64_t index) {
    if (const std::string cause = bodies_.append(row); !cause.empty()) input_.fail_at(byte, vertex(index), cause);
  }

  SnapshotInput& input_;
  const PlyHeader& header_;
  Snapshot& snapshot_;
  TableBodies bodies_;
};

Snapshot read_ply(SnapshotInput& input) {
  TextLines lines{input};
  const PlyHeader header = read_ply_header(input, lines);
  const auto refuse = [&](const std::string& cause) {
    input.fail_at(lines.byte_of(lines.line()), lines.place("PLY header"), cause);
  };
  if (header.vertices == 0) refuse("no vertices");
  if (const std::string fault = fault_of_columns(header.columns()); !fault.empty()) refuse(fault);
  input.set_encoding(header.order ? name_of(*header.order) : "numbers as text");
  Snapshot snapshot;
  snapshot.unread = header.unread;
  VertexReader reader{input, header, snapshot};
  if (header.order) {
    reader.read_binary(lines.next_byte());
  } else {
    reader.read_text(lines);
  }
  header.facts.give(snapshot);
  return snapshot;
}

/// Writes a PLY file. If ids exceed 32 bits, each is split into two properties: PLY has no 64-bit integers.
std::vector<fs::path> write_ply(const fs::path& file, const SnapshotView& snapshot, const SnapshotOutput& output) {
  const std::vector<BodyColumn> columns = columns_of(snapshot);
  const std::vector<std::uint64_t>& ids = snapshot.properties.ids;
  const bool wide = std::ranges::any_of(ids, [](std::uint64_t id) { return id > 0xffffffffu; });
  const ByteOrder order = output.order.value_or(ByteOrder::little);
  const char* const order_name = order == ByteOrder::little ? "little" : "big";

  AtomicFile out{file, output.existing};
  std::string head = std::string{"ply\nformat binary_"} + order_name + "_endian 1.0\ncomment bodies by Orrery\n";
  for (const std::string& fact : facts_of(snapshot)) head += "comment " + fact + '\n';
  head += "element vertex " + std::to_string(snapshot.bodies->count()) + '\n';
  for (const BodyColumn column : columns) {
    if (column == BodyColumn::id) {
      head += wide ? "property uint id_low\nproperty uint id_high\n" : "property uint id\n";
    } else if (column == BodyColumn::species) {
      head += "property uchar species\n";
    } else {
      head += is_wide(column, snapshot) ? "property double " : "property float ";
      head += std::string{column == BodyColumn::mass ? "mass" : column_name(column)} + '\n';
    }
  }
  out.write(head + "end_header\n");

  const Bytes bytes{order};
  std::vector<std::byte> block;
  const auto flush = [&] {
    out.write({reinterpret_cast<const char*>(block.data()), block.size()});
    block.clear();
  };
  const auto add32 = [&](std::uint32_t word) {
    block.resize(block.size() + sizeof word);
    bytes.store32(&block[block.size() - sizeof word], word);
  };
  for (std::size_t body = 0; body < snapshot.bodies->count(); ++body) {
    const TableRow row = table_row(snapshot, body);
    for (const BodyColumn column : columns) {
      if (column == BodyColumn::id) {
        add32(static_cast<std::uint32_t>(row.id));
        if (wide) add32(static_cast<std::uint32_t>(row.id >> 32));
      } else if (column == BodyColumn::species) {
        block.push_back(static_cast<std::byte>(row[column]));
      } else if (is_wide(column, snapshot)) {
        block.resize(block.size() + sizeof(double));
        bytes.store_double(&block[block.size() - sizeof(double)], row[column]);
      } else {
        add32(std::bit_cast<std::uint32_t>(static_cast<float>(row[column])));
      }
    }
    if (block.size() >= ply_block_bytes) flush();
  }
  flush();
  return {out.commit()};
}

}  // namespace

extern const SnapshotFormat ply_format;

constinit const SnapshotFormat ply_format{
    .id = "ply",
    .title = "PLY",
    .endings = {".ply"},
    .holds = {.velocities = true,
              .time = true,
              .ids = true,
              .species = true,
              .components = true,
              .softening = true,
              .temperature = true,
              .metals = true,
              .formation_time = true,
              .units = true,
              .frame = true,
              .scale_factors = true},
    .units = UnitRule::any,
    .detect = detect_ply,
    .read = read_ply,
    .write = write_ply,
};

}  // namespace orrery
