// GADGET: its header, snapshots of several files, and binary files of type 1, with the code that type 2 shares.
#include "compute/snapshots/gadget.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/core/atomic_file.h"
#include "compute/core/text.h"
#include "compute/snapshots/snapshot_input.h"

namespace orrery {
namespace {

/// Byte offsets of the header's fields in a binary file.
namespace gadget_field {

constexpr std::size_t counts = 0, masses = 24, time = 72, redshift = 80, all_counts = 96, files = 124, box_size = 128,
                      omega0 = 136, hubble = 152, high_counts = 168;

}  // namespace gadget_field

Species gadget_species_of(const SnapshotView& snapshot, std::size_t body) {
  const std::vector<Species>& species = snapshot.properties.species;
  return species.empty() ? Species::dark : species[body];
}

/// Takes the softening lengths from the code's parameters if the file has none for its bodies.
void take_code_softening(const GadgetHeader& header, const SnapshotHints& hints, Snapshot& snapshot) {
  std::vector<float>& lengths = snapshot.properties.softening;
  if (std::ranges::any_of(lengths, [](float length) { return length != 0; })) return;
  std::vector<float> by_type;
  bool any = false;
  for (std::size_t type = 0; type < GadgetHeader::types; ++type) {
    const double length = softening_of_type(header.meaning, hints, type);
    if (!unusable_property(length).empty() || length < 0) return;
    any |= length > 0 && header.counts[type] > 0;
    by_type.insert(by_type.end(), header.counts[type], static_cast<float>(length));
  }
  if (!any) return;
  lengths = std::move(by_type);
  snapshot.notes.emplace_back("softening lengths are those of the code's parameters in the file");
}

}  // namespace

std::uint64_t GadgetHeader::bodies() const {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::uint64_t GadgetHeader::own_masses() const {
  std::uint64_t number = 0;
  for (std::size_t type = 0; type < types; ++type) number += masses[type] == 0 ? counts[type] : 0;
  return number;
}

std::uint64_t GadgetHeader::promised() const {
  std::uint64_t low = 0, whole = 0;
  for (std::size_t type = 0; type < types; ++type) {
    low += totals[type];
    whole += totals[type] + (high_words[type] << 32);
  }
  constexpr std::uint64_t at_most = 8;  // times the bodies of `files` files like this one
  return whole <= at_most * (bodies() + skipped) * static_cast<std::uint64_t>(std::max<std::int64_t>(files, 1)) ? whole
                                                                                                                : low;
}

GadgetHeader parse_gadget_header(std::span<const std::byte, GadgetHeader::bytes> at, const Bytes& bytes) {
  GadgetHeader header;
  for (std::size_t type = 0; type < species_count; ++type) {
    header.counts[type] = bytes.load32(&at[gadget_field::counts + 4 * type]);
    header.masses[type] = bytes.load_double(&at[gadget_field::masses + 8 * type]);
    header.totals[type] = bytes.load32(&at[gadget_field::all_counts + 4 * type]);
    header.high_words[type] = bytes.load32(&at[gadget_field::high_counts + 4 * type]);
  }
  header.meaning.time = bytes.load_double(&at[gadget_field::time]);
  header.meaning.redshift = bytes.load_double(&at[gadget_field::redshift]);
  header.meaning.box_size = bytes.load_double(&at[gadget_field::box_size]);
  header.meaning.omega0 = bytes.load_double(&at[gadget_field::omega0]);
  header.meaning.hubble = bytes.load_double(&at[gadget_field::hubble]);
  header.files = static_cast<std::int32_t>(bytes.load32(&at[gadget_field::files]));
  return header;
}

void store_gadget_header(const GadgetHeader& header, std::span<std::byte, GadgetHeader::bytes> at, const Bytes& bytes) {
  std::ranges::fill(at, std::byte{0});
  for (std::size_t type = 0; type < species_count; ++type) {
    bytes.store32(&at[gadget_field::counts + 4 * type], static_cast<std::uint32_t>(header.counts[type]));
    bytes.store32(&at[gadget_field::all_counts + 4 * type], static_cast<std::uint32_t>(header.counts[type]));
    bytes.store_double(&at[gadget_field::masses + 8 * type], header.masses[type]);
  }
  bytes.store_double(&at[gadget_field::time], header.meaning.time);
  bytes.store32(&at[gadget_field::files], 1);
  bytes.store_double(&at[gadget_field::hubble], 1);
}

std::optional<GadgetFault> fault_of(const GadgetHeader& header) {
  if (!std::isfinite(header.meaning.time)) return GadgetFault{"Time", gadget_field::time, "not finite"};
  for (std::size_t type = 0; type < GadgetHeader::types; ++type) {
    const double mass = header.masses[type];
    if (header.counts[type] == 0 || mass == 0) continue;
    if (const std::string cause = no_body({}, mass, {}); !cause.empty()) {
      return GadgetFault{"MassTable", gadget_field::masses + 8 * type,
                         "type " + std::to_string(type) + " has " + cause};
    }
  }
  if (header.bodies() == 0 && header.files <= 1)
    return GadgetFault{"NumPart_ThisFile", gadget_field::counts, "no bodies"};
  return std::nullopt;
}

std::string take_gadget_header(const GadgetHeader& header, const SnapshotHints& hints, Snapshot& snapshot) {
  if (header.counts[1] != header.bodies()) {
    for (std::size_t type = 0; type < GadgetHeader::types; ++type) {
      snapshot.properties.species.insert(snapshot.properties.species.end(), header.counts[type], species_of_type(type));
    }
  }
  std::size_t first = 0;
  for (std::size_t type = 0; type < GadgetHeader::types; ++type) {
    const std::size_t end = first + header.counts[type];
    for (std::size_t i = first; i < end && header.masses[type] != 0; ++i) {
      set_mass(snapshot, i, header.masses[type]);
    }
    first = end;
  }
  take_code_softening(header, hints, snapshot);
  return take_meaning(header.meaning, hints, snapshot);
}

GadgetHeader gadget_header_of(const SnapshotView& snapshot) {
  GadgetHeader header;
  header.meaning.time = snapshot.time;
  if (snapshot.properties.species.empty()) {
    if (const std::optional<BodyBounds> bounds = snapshot.bodies->bounds()) {
      constexpr auto all = static_cast<std::size_t>(Species::dark);
      header.counts[all] = snapshot.bodies->count();
      header.masses[all] = bounds->least_mass == bounds->greatest_mass ? bounds->least_mass : 0;
      return header;
    }
  }
  std::array<bool, species_count> equal{};
  for (std::size_t i = 0; i < snapshot.bodies->count(); ++i) {
    const auto type = static_cast<std::size_t>(gadget_species_of(snapshot, i));
    const double mass = snapshot.bodies->position(i).w;
    if (header.counts[type]++ == 0) {
      header.masses[type] = mass;
      equal[type] = true;
    }
    if (header.masses[type] != mass) equal[type] = false;
  }
  for (std::size_t type = 0; type < species_count; ++type) {
    if (!equal[type]) header.masses[type] = 0;
  }
  return header;
}

namespace {

namespace fs = std::filesystem;

/// File names of the parts of a snapshot. A part's number is between two dots, or after the last dot.
class PartNames {
 public:
  explicit PartNames(const fs::path& file) : folder_{file.parent_path()} {
    const std::string name = file.filename().string();
    for (std::size_t end = name.size(); end != std::string::npos && end > 0; end = name.rfind('.', end - 1)) {
      const std::size_t dot = name.rfind('.', end - 1);
      if (dot == std::string::npos) return;
      const auto number = parsed_number<std::int64_t>(std::string_view{name}.substr(dot + 1, end - dot - 1));
      if (!number) continue;
      number_ = *number;
      digits_ = end - dot - 1;
      has_zeros_ = digits_ > 1 && name[dot + 1] == '0';
      before_ = name.substr(0, dot + 1);
      behind_ = name.substr(end);
      return;
    }
  }
  std::int64_t number() const { return number_; }  ///< number in the given file's name; -1: none
  /// Returns the name of a part: "snap.7.hdf5", or "snap.007.hdf5" if the set pads its numbers with zeros.
  fs::path name(std::int64_t number) const {
    const std::string digits = std::to_string(number);
    const auto with = [&](const std::string& text) { return folder_ / (before_ + text + behind_); };
    const fs::path plain = with(digits);
    if (digits.size() >= digits_ || (!has_zeros_ && fs::exists(plain))) return plain;
    const fs::path padded = with(std::string(digits_ - digits.size(), '0') + digits);
    return has_zeros_ || fs::exists(padded) ? padded : plain;
  }

 private:
  fs::path folder_;
  std::string before_, behind_;
  std::int64_t number_ = -1;
  std::size_t digits_ = 0;  // digits in the given file's number
  bool has_zeros_ = false;  // the number begins with zeros
};

/// Appends one value per body. If only one of the vectors is empty, its values are `missing`.
template <class T>
void append_values(std::vector<T>& to, std::size_t before, const std::vector<T>& from, std::size_t added, T missing) {
  if (to.empty() && from.empty()) return;
  to.resize(before, missing);
  to.insert(to.end(), from.begin(), from.end());
  to.resize(before + added, missing);
}

void add_new(std::vector<std::string>& to, const std::vector<std::string>& from) {
  for (const std::string& line : from) {
    if (std::ranges::find(to, line) == to.end()) to.push_back(line);
  }
}

/// Returns a snapshot with the facts in `part` that concern all parts, and without bodies.
Snapshot without_bodies(const Snapshot& part) {
  Snapshot all{.bodies = {}, .time = part.time, .units = part.units, .units_assumed = part.units_assumed};
  all.properties.formation_scale_factors = part.properties.formation_scale_factors;
  return all;
}

/// Appends the bodies of another part.
void append_part(Snapshot& to, const Snapshot& part) {
  const std::size_t before = to.bodies.positions.size(), added = part.bodies.positions.size();
  if (added == 0) return;
  append_bodies(to, part);
  to.box = part.box;
  BodyProperties& has = to.properties;
  const BodyProperties& more = part.properties;
  const bool ids = (before == 0 || !has.ids.empty()) && !more.ids.empty();
  if (ids) {
    has.ids.insert(has.ids.end(), more.ids.begin(), more.ids.end());
  } else {
    has.ids = {};
  }
  append_values(has.species, before, more.species, added, Species::dark);
  for (const auto column : {&BodyProperties::softening, &BodyProperties::temperature, &BodyProperties::metals,
                            &BodyProperties::formation_time}) {
    append_values(has.*column, before, more.*column, added, 0.0f);
  }
  add_new(to.notes, part.notes);
  add_new(to.unread, part.unread);
}

/// Adds a note to a file that was read alone if its header says that the snapshot has other files.
void note_other_files(const GadgetHeader& header, const std::string& missing, Snapshot& snapshot) {
  const std::uint64_t here = header.bodies() + header.skipped, promised = header.promised();
  snapshot.part = header.files > 1 || (promised > 0 && promised != here);
  const std::string share = counted(here, "body record") + (promised > here ? " of " + format_count(promised) : "");
  if (header.files > 1) {
    snapshot.notes.insert(snapshot.notes.begin(), "one of " + std::to_string(header.files) +
                                                      " files of its snapshot, read alone (" + share + "): " + missing);
  } else if (promised > 0 && promised != here) {
    snapshot.notes.insert(snapshot.notes.begin(), "its header has " + counted(promised, "body record") +
                                                      " in all, but the file has " + format_count(here) +
                                                      ": it may be one of several files");
  }
}

/// Returns why the other files of a snapshot cannot be read; empty if all exist.
std::string missing_file(const PartNames& names, const GadgetHeader& header) {
  if (names.number() < 0 || names.number() >= header.files) {
    return "its name has no number from 0 to " + std::to_string(header.files - 1) +
           " between dots, which is needed to find the others";
  }
  for (std::int64_t part = 0; part < header.files; ++part) {
    if (!fs::exists(names.name(part))) return "'" + names.name(part).string() + "' is missing";
  }
  return {};
}

bool are_of_one_snapshot(const GadgetHeader& a, const GadgetHeader& b) {
  return a.files == b.files && a.meaning.time == b.meaning.time && a.totals == b.totals;
}

}  // namespace

Snapshot read_gadget_parts(SnapshotInput& input, const std::function<GadgetPart(SnapshotInput&)>& read) {
  GadgetPart own = read(input);
  GadgetHeader header = own.header;
  if (header.files < 0 || header.files > GadgetHeader::most_files) {
    own.snapshot.notes.push_back(
        "the number of files in its header (NumFilesPerSnapshot) is not valid: read as the only file");
    header.files = 1;
  }
  const PartNames names{input.path()};
  const std::string missing = header.files > 1 ? missing_file(names, header) : "";
  if (header.files <= 1 || !missing.empty()) {
    if (own.snapshot.bodies.positions.empty())
      input.fail("no bodies, and the other files of its snapshot are not read: " + missing);
    note_other_files(header, missing, own.snapshot);
    return std::move(own.snapshot);
  }
  const std::uint64_t promised = header.promised();
  input.require_room_for(promised);

  Snapshot all = without_bodies(own.snapshot);
  all.bodies.positions.reserve(promised);
  all.bodies.velocities.reserve(promised);
  std::uint64_t rows = 0;  // rows of all types, including those without a body
  for (std::int64_t part = 0; part < header.files; ++part) {
    if (part == names.number()) {
      rows += own.snapshot.bodies.positions.size() + header.skipped;
      append_part(all, std::exchange(own.snapshot, {}));
      continue;
    }
    SnapshotInput file{names.name(part), input.hints()};
    const GadgetPart more = read(file);
    if (!are_of_one_snapshot(more.header, header)) {
      file.fail("another snapshot than '" + input.path().string() +
                "': their numbers of files, times or total counts differ");
    }
    rows += more.snapshot.bodies.positions.size() + more.header.skipped;
    input.require_room_for(all.bodies.positions.size() + more.snapshot.bodies.positions.size());
    append_part(all, more.snapshot);
  }
  if (all.bodies.positions.empty()) input.fail("no bodies in any file of its snapshot");
  if (promised > 0 && rows != promised) {
    input.fail("one of " + std::to_string(header.files) + " files of its snapshot, which have " +
               counted(rows, "body record") + " together, but its header has " + format_count(promised) + " in all");
  }
  all.notes.push_back("read from the " + std::to_string(header.files) + " files of its snapshot");
  return all;
}

namespace {

constexpr std::size_t mark_bytes = 4, label_bytes = 16;  ///< size of a length field; size of a label record
constexpr std::size_t values_per_block = 49152;          ///< number of values read or written together
constexpr std::uint32_t label_payload = 8;

/// Returns whether GADGET-4 writes headers of this length: 24 bytes per particle type plus 48. With its option
/// GADGET2_HEADER, it writes the 256 bytes of GADGET-1 and -2 instead.
bool is_gadget4_header(std::uint32_t length) {
  constexpr std::uint32_t per_type = 24, others = 48;
  return length > others && (length - others) % per_type == 0 && (length - others) / per_type <= GadgetHeader::types;
}

/// Returns the byte order in which the first record's length is valid; empty if this is not a GADGET file.
std::optional<ByteOrder> order_of(std::span<const std::byte> head, GadgetType type) {
  constexpr std::uint32_t header_bytes = GadgetHeader::bytes;
  if (head.size() < label_bytes + mark_bytes) return std::nullopt;
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const Bytes bytes{order};
    const bool labelled = type == GadgetType::labelled;
    const std::uint32_t length = bytes.load32(&head[0]);
    if (!labelled && is_gadget4_header(length) && mark_bytes + length + mark_bytes <= head.size() &&
        bytes.load32(&head[mark_bytes + length]) == length) {
      return order;  // accepted here, so that the reader can report why it is refused
    }
    if (length != (labelled ? label_payload : header_bytes)) continue;
    if (!labelled || bytes.load32(&head[label_bytes - mark_bytes]) == label_payload) return order;
  }
  return std::nullopt;
}

/// Reads the records of a file one by one.
class Records {
 public:
  Records(SnapshotInput& input, const Bytes& bytes, GadgetType type) : input_{input}, bytes_{bytes}, type_{type} {}

  /// Opens the next record. Returns false at the end of the file.
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
  /// Skips the rest of the record and checks the length after it.
  void close() {
    input_.seek(begin_ + length_);
    if (word("length behind a record") != length_) {
      input_.fail_at(begin_ + length_, named("length"), "the lengths before and behind the record differ");
    }
  }
  const std::string& label() const { return label_; }  ///< such as "POS "; empty in files of type 1
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
    std::size_t known = 0;  // index in `order` of the next record, in files of type 1
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
      const bool newer = is_gadget4_header(records_.length());
      input_.fail_at(records_.begin(), "header",
                     counted(records_.length(), "byte") + " instead of 256" +
                         (newer ? ": GADGET-4 writes such headers without its option GADGET2_HEADER; write its "
                                  "snapshots as HDF5 (SnapFormat 3)"
                                : ""));
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

  /// Returns whether a record is a placeholder for gas, which Orrery writes for other readers: see write_gas(). After
  /// the records of all bodies follow energies of 0, densities of 0, which no real gas has, and any smoothing lengths.
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

  /// Returns a name for a record that is not read. Records of type 1 have no names: the first three after those of all
  /// bodies are assumed to be those of gas.
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

  /// Returns the bytes per value in the open record, `narrow` or `wide`. Fails if the record has another length.
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

  /// Checks all bodies and reports the first unusable one with its byte offset.
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
    std::vector<std::pair<std::uint64_t, std::uint64_t>> spans;  // ranges of bodies with individual masses
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
  std::size_t behind_ = 0;        // number of records after those of all bodies
  std::size_t placeholders_ = 0;  // placeholders among those records, see is_placeholder()
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

namespace {

/// Writes Fortran records, in blocks.
class RecordsOut {
 public:
  RecordsOut(AtomicFile& out, const Bytes& bytes, GadgetType type) : out_{out}, bytes_{bytes}, type_{type} {}

  void begin(const char* label, std::uint64_t length) {
    length_ = static_cast<std::uint32_t>(length);
    if (type_ == GadgetType::labelled) {
      add(label_payload);
      for (const char* c = label; *c; ++c) block_.push_back(static_cast<std::byte>(*c));
      add(length_ + 2 * static_cast<std::uint32_t>(mark_bytes));
      add(label_payload);
    }
    add(length_);
  }
  void add(std::uint32_t word) {
    block_.resize(block_.size() + sizeof word);
    bytes_.store32(&block_[block_.size() - sizeof word], word);
    if (block_.size() >= values_per_block * sizeof(float)) flush();
  }
  void add(float value) { add(std::bit_cast<std::uint32_t>(value)); }
  void add(std::span<const std::byte> bytes) { block_.insert(block_.end(), bytes.begin(), bytes.end()); }
  void add64(std::uint64_t word) {
    std::array<std::byte, sizeof word> bytes;
    bytes_.store64(bytes.data(), word);
    add(bytes);
    if (block_.size() >= values_per_block * sizeof(float)) flush();
  }
  void end() { add(length_); }
  void flush() {
    out_.write({reinterpret_cast<const char*>(block_.data()), block_.size()});
    block_.clear();
  }

 private:
  AtomicFile& out_;
  const Bytes bytes_;
  const GadgetType type_;
  std::vector<std::byte> block_;
  std::uint32_t length_ = 0;
};

/// Writes gas records, without which readers such as yt reject the file. Orrery computes no energy and no density: both
/// are written as 0.
void write_gas(RecordsOut& records, const SnapshotView& snapshot, std::uint64_t count) {
  constexpr float without_softening = 0.1f;
  const std::vector<float>& softening = snapshot.properties.softening;
  const auto smoothing = [&](std::size_t body) {
    const float length = softening.empty() ? snapshot.softening : softening[body];
    return length > 0 ? length : without_softening;
  };
  for (const char* const label : {"U   ", "RHO ", "HSML"}) {
    const bool length = label[0] == 'H';
    records.begin(label, sizeof(float) * count);
    for_each_of(snapshot, Species::gas, [&](std::size_t body) { records.add(length ? smoothing(body) : 0.0f); });
    records.end();
  }
}

}  // namespace

std::vector<fs::path> write_gadget(const fs::path& file, const SnapshotView& snapshot, const SnapshotOutput& output,
                                   GadgetType type) {
  constexpr std::uint64_t most = 0xffffffffu / 12;
  const GadgetHeader header = gadget_header_of(snapshot);
  const std::vector<std::uint64_t>& ids = snapshot.properties.ids;
  const std::uint64_t count = header.bodies();
  if (count > most) {
    throw std::runtime_error("'" + file.string() + "': not written: a GADGET file holds at most " +
                             std::to_string(most) + " bodies; write GADGET HDF5");
  }
  const bool wide = std::ranges::any_of(ids, [](std::uint64_t id) { return id > 0xffffffffu; });
  const auto for_each_body = [&](const auto& visit) {
    for (std::size_t kind = 0; kind < species_count; ++kind) {
      if (header.counts[kind] > 0) for_each_of(snapshot, static_cast<Species>(kind), visit);
    }
  };

  AtomicFile out{file, output.existing};
  const Bytes bytes{output.order.value_or(ByteOrder::little)};
  RecordsOut records{out, bytes, type};
  std::array<std::byte, GadgetHeader::bytes> head;
  store_gadget_header(header, head, bytes);
  records.begin("HEAD", head.size());
  records.add(head);
  records.end();
  const std::pair<const char*, const Vec4& (BodySource::*)(std::size_t)> vectors[] = {{"POS ", &BodySource::position},
                                                                                      {"VEL ", &BodySource::velocity}};
  for (const auto& [label, vector] : vectors) {
    records.begin(label, 12 * count);
    for_each_body([&, get = vector](std::size_t body) {
      const Vec4& v = (*snapshot.bodies.*get)(body);
      for (const float component : {v.x, v.y, v.z}) records.add(component);
    });
    records.end();
  }
  records.begin("ID  ", (wide ? 8 : 4) * count);
  for_each_body([&](std::size_t body) {
    const std::uint64_t id = ids.empty() ? body + std::uint64_t{1} : ids[body];
    wide ? records.add64(id) : records.add(static_cast<std::uint32_t>(id));
  });
  records.end();
  if (header.own_masses() > 0) {
    records.begin("MASS", 4 * header.own_masses());
    for (std::size_t kind = 0; kind < species_count; ++kind) {
      if (header.counts[kind] == 0 || header.masses[kind] != 0) continue;
      for_each_of(snapshot, static_cast<Species>(kind),
                  [&](std::size_t body) { records.add(snapshot.bodies->position(body).w); });
    }
    records.end();
  }
  if (header.counts[0] > 0) write_gas(records, snapshot, header.counts[0]);
  records.flush();
  return {out.commit()};
}

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
