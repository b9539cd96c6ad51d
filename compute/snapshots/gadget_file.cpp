#include "compute/snapshots/gadget_file.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "compute/core/format_count.h"
#include "compute/snapshots/gadget_header.h"
#include "compute/snapshots/gadget_parts.h"
#include "compute/snapshots/snapshot_input.h"

namespace orrery {
namespace {

using gadget_record::label_bytes, gadget_record::label_payload, gadget_record::mark_bytes,
    gadget_record::values_per_block;

/// The order of the first record's length; nothing if it is none of GADGET's.
std::optional<ByteOrder> order_of(std::span<const std::byte> head, GadgetType type) {
  constexpr std::uint32_t header_bytes = GadgetHeader::bytes;
  if (head.size() < label_bytes + mark_bytes) return std::nullopt;
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const Bytes bytes{order};
    const bool labelled = type == GadgetType::labelled;
    if (bytes.load32(&head[0]) != (labelled ? label_payload : header_bytes)) continue;
    if (!labelled || bytes.load32(&head[label_bytes - mark_bytes]) == label_payload) return order;
  }
  return std::nullopt;
}

/// The records of a file, one after the other.
class Records {
 public:
  Records(SnapshotInput& input, const Bytes& bytes, GadgetType type) : input_{input}, bytes_{bytes}, type_{type} {}

  /// Opens the next record; false at the file's end.
  bool next() {
    if (input_.remaining() == 0) return false;
    if (type_ == GadgetType::labelled) read_label();
    length_ = word("length of a record");
    begin_ = input_.offset();
    if (std::uint64_t{length_} + mark_bytes > input_.remaining()) {
      input_.fail_at(begin_ - mark_bytes, named("length"),
                     "truncated: " + counted(length_, "byte") + ", but the file ends " +
                         counted(input_.remaining(), "byte") + " later");
    }
    return true;
  }
  /// Reads `size` bytes of the open record.
  void read(std::byte* to, std::size_t size) { input_.read(to, size); }
  /// Skips what is left of it and checks its second length.
  void close() {
    input_.seek(begin_ + length_);
    if (word("length behind a record") != length_) {
      input_.fail_at(begin_ + length_, named("length"), "the lengths before and behind the record differ");
    }
  }
  const std::string& label() const { return label_; }  ///< "POS "; empty in files of type 1
  std::uint32_t length() const { return length_; }
  std::uint64_t begin() const { return begin_; }

 private:
  std::string named(const char* field) const { return (label_.empty() ? "record" : label_) + ' ' + field; }

  std::uint32_t word(const char* field) {
    std::array<std::byte, mark_bytes> word{};
    if (input_.remaining() < word.size()) input_.fail_at(input_.offset(), field, "truncated: the file ends there");
    input_.read(word.data(), word.size());
    return bytes_.load32(word.data());
  }

  void read_label() {
    const std::uint64_t at = input_.offset();
    if (input_.remaining() < label_bytes) input_.fail_at(at, "label", "truncated: the file ends in it");
    std::array<std::byte, label_bytes> label{};
    input_.read(label.data(), label.size());
    if (bytes_.load32(&label[0]) != label_payload || bytes_.load32(&label[12]) != label_payload) {
      input_.fail_at(at, "label", "not the label of a record: its lengths are not 8");
    }
    label_.assign(reinterpret_cast<const char*>(&label[4]), 4);
    const auto printable = [](unsigned char c) { return c >= 0x20 && c < 0x7f; };
    if (!std::ranges::all_of(label_, printable)) input_.fail_at(at + 4, "label", "not text");
  }

  SnapshotInput& input_;
  const Bytes bytes_;
  const GadgetType type_;
  std::string label_;
  std::uint32_t length_ = 0;
  std::uint64_t begin_ = 0;
};

class GadgetReader {
 public:
  GadgetReader(SnapshotInput& input, ByteOrder order, GadgetType type)
      : input_{input}, bytes_{order}, type_{type}, records_{input, bytes_, type} {}

  GadgetPart read() {
    read_header();
    constexpr std::array<const char*, 4> order{"POS ", "VEL ", "ID  ", "MASS"};
    std::size_t known = 0;  // the next of `order` in files of type 1
    while (records_.next()) {
      std::string label = records_.label();
      if (type_ == GadgetType::blocks) {
        if (known == 3 && header_.own_masses() == 0) ++known;
        label = known < order.size() ? order[known++] : "";
      }
      read_record(label);
      records_.close();
    }
    const auto require = [this](bool found, const char* label, const std::string& cause) {
      if (!found) input_.fail_at(input_.size(), label, "truncated: " + cause);
    };
    require(placed_, "POS ", "there are no positions");
    require(moving_ || type_ == GadgetType::labelled, "VEL ", "there are no velocities");
    require(weighed_ || header_.own_masses() == 0, "MASS",
            "there are no masses, and the header has none for " + counted(header_.own_masses(), "body record"));
    if (!moving_) snapshot_.notes.emplace_back("no velocities in the file: all bodies are at rest");
    if (double_) snapshot_.notes.emplace_back("double precision in the file, rounded to single");
    snapshot_.wide.in_double = double_;
    if (const std::string cause = take_gadget_header(header_, input_.hints(), snapshot_); !cause.empty())
      input_.fail(cause);
    snapshot_.bodies.velocities.resize(header_.bodies());
    return {std::move(snapshot_), header_};
  }

 private:
  void read_header() {
    if (!records_.next() || records_.length() != GadgetHeader::bytes) {
      input_.fail_at(records_.begin(), "header", "not a record of 256 bytes");
    }
    std::array<std::byte, GadgetHeader::bytes> header;
    records_.read(header.data(), header.size());
    records_.close();
    header_ = parse_gadget_header(header, bytes_);
    if (const auto fault = fault_of(header_)) {
      input_.fail_at(records_.begin() + fault->byte, "header, " + fault->field, fault->cause);
    }
    constexpr std::uint64_t place_bytes = 12;
    if (header_.bodies() > input_.remaining() / place_bytes) {
      input_.fail_at(records_.begin(), "counts in its header",
                     "truncated: " + counted(header_.bodies(), "body record") + " do not fit into the file's " +
                         counted(input_.size(), "byte"));
    }
    input_.require_room_for(header_.bodies());
  }

  void read_record(const std::string& label) {
    const std::uint64_t count = header_.bodies();
    if (label == "POS ") {
      const std::size_t width = width_of(label, 3 * count, sizeof(float), sizeof(double));
      snapshot_.bodies.positions.resize(count);
      read_vectors(label, true, width, placed_);
    } else if (label == "VEL ") {
      const std::size_t width = width_of(label, 3 * count, sizeof(float), sizeof(double));
      snapshot_.bodies.velocities.resize(count);
      read_vectors(label, false, width, moving_);
    } else if (label == "ID  ") {
      const std::size_t width = width_of(label, count, sizeof(std::uint32_t), sizeof(std::uint64_t));
      std::vector<std::uint64_t>& ids = snapshot_.properties.ids;
      if (!ids.empty()) fail(label, "there twice");
      ids.reserve(count);
      for_each_value(width, count, [&](std::uint64_t, const std::byte* at) {
        ids.push_back(width == sizeof(std::uint32_t) ? bytes_.load32(at) : bytes_.load64(at));
      });
    } else if (label == "MASS" && header_.own_masses() > 0) {
      read_masses(label);
    } else {
      ++behind_;
      if (!is_placeholder(label)) snapshot_.unread.push_back(unread_name(label));
    }
  }

  /// Whether the record is what Orrery writes of gas for other readers: directly behind the records of all bodies an
  /// energy and a density of 0, which no gas has, and then any smoothing length.
  bool is_placeholder(const std::string& label) {
    constexpr std::array<std::string_view, 3> labels{"U   ", "RHO ", "HSML"};
    const std::uint64_t gas = header_.counts[0];
    const bool in_order = behind_ == placeholders_ + 1 && placeholders_ < labels.size();
    if (!in_order || gas == 0 || records_.length() != gas * sizeof(float)) return false;
    if (!label.empty() && label != labels[placeholders_]) return false;
    bool fits = true;
    if (labels[placeholders_] != "HSML") {
      for_each_value(sizeof(float), gas,
                     [&](std::uint64_t, const std::byte* at) { fits &= bytes_.load_float(at) == 0; });
    }
    placeholders_ += fits;
    return fits;
  }

  /// Records of type 1 have no names: behind those of all bodies stand those of the gas, in this order.
  std::string unread_name(const std::string& label) const {
    constexpr std::array<const char*, 3> of_gas{"internal energy of gas (U)", "density of gas (RHO)",
                                                "smoothing length of gas (HSML)"};
    if (!label.empty()) return "record " + label.substr(0, label.find_last_not_of(' ') + 1);
    const std::size_t place = behind_ - 1;
    const std::uint64_t gas = header_.counts[0], length = records_.length();
    const bool fits = gas > 0 && (length == gas * sizeof(float) || length == gas * sizeof(double));
    if (fits && place < of_gas.size()) return of_gas[place];
    return "a record of " + counted(length, "byte") + " at byte " + std::to_string(records_.begin());
  }

  [[noreturn]] void fail(const std::string& label, const std::string& cause) const {
    input_.fail_at(records_.begin() - mark_bytes, label, cause);
  }

  /// The bytes of a value in the open record, which must be one of two.
  std::size_t width_of(const std::string& label, std::uint64_t values, std::size_t narrow, std::size_t wide) {
    if (records_.length() == values * narrow) return narrow;
    if (records_.length() == values * wide) return wide;
    fail(label, counted(records_.length(), "byte") + ", but its bodies need " + format_count(values * narrow) + " or " +
                    format_count(values * wide));
  }

  template <class Take>
  void for_each_value(std::size_t width, std::uint64_t values, Take take) {
    block_.resize(values_per_block * sizeof(double));
    for (std::uint64_t first = 0; first < values; first += values_per_block) {
      const std::uint64_t here = std::min<std::uint64_t>(values_per_block, values - first);
      records_.read(block_.data(), here * width);
      for (std::uint64_t i = 0; i < here; ++i) take(first + i, &block_[i * width]);
    }
  }

  double number(std::size_t width, const std::byte* at) const {
    return width == sizeof(float) ? bytes_.load_float(at) : bytes_.load_double(at);
  }

  void read_vectors(const std::string& label, bool places, std::size_t width, bool& done) {
    if (done) fail(label, "there twice");
    double_ |= width == sizeof(double);
    for_each_value(width, 3 * header_.bodies(), [&](std::uint64_t i, const std::byte* at) {
      (places ? set_position : set_velocity)(snapshot_, i / 3, i % 3, number(width, at));
    });
    done = true;
    check(label, places, 3 * width);
  }

  /// The first that cannot be used is reported with its byte.
  void check(const std::string& label, bool places, std::size_t stride) const {
    for (std::size_t i = 0; i < header_.bodies(); ++i) {
      const std::string cause = no_body(snapshot_, i, places, !places, false);
      if (!cause.empty()) {
        input_.fail_at(records_.begin() + i * stride, label + " of body " + std::to_string(i) + " (counted from 0)",
                       cause);
      }
    }
  }

  void read_masses(const std::string& label) {
    if (weighed_) fail(label, "there twice");
    if (!placed_) fail(label, "before the positions (POS)");
    const std::size_t width = width_of(label, header_.own_masses(), sizeof(float), sizeof(double));
    std::vector<std::pair<std::uint64_t, std::uint64_t>> spans;  // of bodies with masses of their own
    std::uint64_t first = 0;
    for (std::size_t type = 0; type < species_count; ++type) {
      if (header_.masses[type] == 0 && header_.counts[type] > 0)
        spans.emplace_back(first, first + header_.counts[type]);
      first += header_.counts[type];
    }
    auto span = spans.begin();
    std::uint64_t body = span->first;
    for_each_value(width, header_.own_masses(), [&](std::uint64_t i, const std::byte* at) {
      const double mass = number(width, at);
      if (const std::string cause = no_body({}, mass, {}); !cause.empty()) {
        input_.fail_at(records_.begin() + i * width, label + " of body " + std::to_string(body) + " (counted from 0)",
                       cause);
      }
      set_mass(snapshot_, body, mass);
      if (++body == span->second && ++span != spans.end()) body = span->first;
    });
    weighed_ = true;
  }

  SnapshotInput& input_;
  const Bytes bytes_;
  const GadgetType type_;
  Records records_;
  GadgetHeader header_;
  Snapshot snapshot_;
  std::vector<std::byte> block_;
  std::size_t behind_ = 0;        // records behind those of all bodies
  std::size_t placeholders_ = 0;  // the first ones of these, see is_placeholder()
  bool placed_ = false, moving_ = false, weighed_ = false, double_ = false;
};

}  // namespace

bool detect_gadget(std::span<const std::byte> head, GadgetType type) {
  return order_of(head, type).has_value();
}

Snapshot read_gadget(SnapshotInput& input, GadgetType type) {
  const auto order = order_of(input.head(), type);
  if (!order) {
    input.fail_at(0, "length of the first record",
                  type == GadgetType::blocks ? "not a GADGET file: in neither byte order 256"
                                             : "not a GADGET file of type 2: in neither byte order 8");
  }
  input.set_encoding(name_of(*order));
  return read_gadget_parts(input, [type](SnapshotInput& part) {
    const auto order_of_part = order_of(part.head(), type);
    if (!order_of_part) part.fail_at(0, "length of the first record", "no file of the same type as the others");
    return GadgetReader{part, *order_of_part, type}.read();
  });
}

}  // namespace orrery
