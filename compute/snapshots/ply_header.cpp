#include "compute/snapshots/ply_header.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "compute/core/parse_number.h"
#include "compute/snapshots/snapshot_input.h"
#include "compute/snapshots/text_lines.h"

namespace orrery {
namespace {

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

  /// Nothing but the size of what stands before the vertices matters.
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

}  // namespace

std::size_t bytes_of(PlyType type) {
  return ply_types[static_cast<std::size_t>(type)].bytes;
}

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

PlyHeader read_ply_header(SnapshotInput& input, TextLines& lines) {
  return PlyHeaderReader{input, lines}.read();
}

}  // namespace orrery
