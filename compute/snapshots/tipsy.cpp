// TIPSY binary: a 32-byte header, then gas, dark and star records of 4-byte floats.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "compute/core/atomic_file.h"
#include "compute/snapshots/snapshot_format.h"
#include "compute/snapshots/snapshot_input.h"
#include "compute/snapshots/tipsy_param.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t header_bytes = 32;
/// Where the header's fields start.
namespace header {
constexpr std::size_t time = 0, bodies = 8, dimensions = 12, gas = 16, dark = 20, star = 24, pad = 28;
}

/// Every record starts with seven floats: mass, x, y, z, vx, vy, vz. The last is the potential, which is written as 0.
struct RecordKind {
  const char* name;
  Species species;
  std::size_t floats;
  std::size_t bytes() const { return floats * sizeof(float); }
};
constexpr std::array<RecordKind, 3> record_kinds{
    {{"gas", Species::gas, 12}, {"dark", Species::dark, 9}, {"star", Species::star, 11}}};

/// A property's place among the floats of a gas, a dark and a star record; 0: such a record does not have it.
struct Column {
  std::vector<float> BodyProperties::*values;
  std::array<std::size_t, record_kinds.size()> place;
};
constexpr std::array<Column, 4> columns{{{&BodyProperties::softening, {9, 7, 9}},
                                         {&BodyProperties::temperature, {8, 0, 0}},
                                         {&BodyProperties::metals, {10, 0, 7}},
                                         {&BodyProperties::formation_time, {0, 0, 8}}}};

constexpr std::size_t records_per_block = 16384;  // read or written at once

struct Header {
  ByteOrder order;
  double time;
  std::array<std::uint64_t, record_kinds.size()> counts;  // gas, dark, star
  enum class Ids {
    none,
    for_potential,                // perhaps: see are_ids()
    for_softening_and_potential,  // one of 64 bits
  } ids = Ids::none;

  std::uint64_t bodies() const { return counts[0] + counts[1] + counts[2]; }
  std::uint64_t file_bytes() const {
    std::uint64_t bytes = header_bytes;
    for (std::size_t kind = 0; kind < counts.size(); ++kind) bytes += counts[kind] * record_kinds[kind].bytes();
    return bytes;
  }
};

bool dimensions_fit(std::span<const std::byte> head, ByteOrder order) {
  if (head.size() < header_bytes) return false;
  const std::uint32_t dimensions = Bytes{order}.load32(&head[header::dimensions]);
  return dimensions >= 1 && dimensions <= 3;
}

bool detect(std::span<const std::byte> head, std::uint64_t) {
  return dimensions_fit(head, ByteOrder::little) || dimensions_fit(head, ByteOrder::big);
}

/// Throws if the counts contradict each other, if neither byte order fits, or if the time is not finite.
Header parsed_header(const SnapshotInput& input) {
  const std::span<const std::byte> head = input.head();
  if (head.size() < header_bytes) {
    input.fail("truncated: " + plural(head.size(), "byte") + ", but a TIPSY header alone has 32");
  }
  if (!detect(head, input.size())) {
    input.fail("not a TIPSY file: in neither byte order does its header have 1, 2 or 3 dimensions");
  }
  const ByteOrder order = dimensions_fit(head, ByteOrder::little) ? ByteOrder::little : ByteOrder::big;
  const Bytes bytes{order};
  Header small{order, bytes.load_double(&head[header::time]), {}};
  if (!std::isfinite(small.time)) input.fail("the time in its TIPSY header is not finite");
  small.counts = {bytes.load32(&head[header::gas]), bytes.load32(&head[header::dark]),
                  bytes.load32(&head[header::star])};
  const std::uint64_t bodies = bytes.load32(&head[header::bodies]), pad = bytes.load32(&head[header::pad]);
  if (bodies == small.bodies()) {
    if (small.counts[0] > 0) return small;  // Bonsai, which writes ids, has no gas
    small.ids = pad == 2 ? Header::Ids::for_softening_and_potential : Header::Ids::for_potential;
    return small;
  }

  // Bits 32 to 39 of the four counts may be in the pad. But many writers leave it undefined, so it counts only if it
  // makes them agree.
  Header large = small;
  for (std::size_t kind = 0; kind < large.counts.size(); ++kind) {
    large.counts[kind] |= ((pad >> (8 * (kind + 1))) & 0xff) << 32;
  }
  if ((bodies | (pad & 0xff) << 32) == large.bodies()) return large;
  input.fail("not a TIPSY file, or a damaged one: its header has " + plural(bodies, "body record") + ", but " +
             std::to_string(small.counts[0]) + " gas + " + std::to_string(small.counts[1]) + " dark + " +
             std::to_string(small.counts[2]) + " star");
}

/// Throws if the file's length is not the one that its header implies, or if it has too many bodies for this program.
void check_size(const SnapshotInput& input, const Header& head) {
  if (head.bodies() == 0) input.fail("a TIPSY file without bodies");
  const std::uint64_t expected = head.file_bytes(), size = input.size();
  const std::string has = "its header asks for " + plural(expected, "byte") + " (" +
                          plural(head.counts[0], "gas record") + ", " + std::to_string(head.counts[1]) + " dark, " +
                          std::to_string(head.counts[2]) + " star), it has " + std::to_string(size);
  if (size < expected) input.fail("truncated, " + plural(expected - size, "byte") + " missing: " + has);
  if (size > expected) input.fail("oversized, " + plural(size - expected, "byte") + " too many: " + has);
  input.require_room_for(head.bodies());
}

/// Gives each property that the file has one value per body.
void make_room(const Header& head, Snapshot& snapshot) {
  snapshot.bodies.positions.reserve(head.bodies());
  snapshot.bodies.velocities.reserve(head.bodies());
  for (const auto& [values, place] : columns) {
    bool used = false;
    for (std::size_t kind = 0; kind < place.size(); ++kind) used |= place[kind] != 0 && head.counts[kind] > 0;
    if (head.ids == Header::Ids::for_softening_and_potential && values == &BodyProperties::softening) used = false;
    if (used) (snapshot.properties.*values).resize(head.bodies());
  }
  if (head.ids != Header::Ids::none) snapshot.properties.ids.resize(head.bodies());
  if (head.counts[1] == head.bodies()) return;
  for (std::size_t kind = 0; kind < record_kinds.size(); ++kind) {
    snapshot.properties.species.insert(snapshot.properties.species.end(), head.counts[kind],
                                       record_kinds[kind].species);
  }
}

/// Reads all records of one kind and appends their bodies.
void append_records(SnapshotInput& input, const Header& head, std::size_t kind, Snapshot& snapshot) {
  const RecordKind& record = record_kinds[kind];
  const Bytes bytes{head.order};
  std::vector<std::byte> block(records_per_block * record.bytes());
  for (std::uint64_t first = 0; first < head.counts[kind]; first += records_per_block) {
    const std::uint64_t here = std::min<std::uint64_t>(records_per_block, head.counts[kind] - first);
    input.read(block.data(), here * record.bytes());
    for (std::uint64_t i = 0; i < here; ++i) {
      const std::byte* const at = &block[i * record.bytes()];
      const auto value = [&](std::size_t place) { return bytes.load_float(at + place * sizeof(float)); };
      const Vec4 position{value(1), value(2), value(3), value(0)}, velocity{value(4), value(5), value(6), 0.0f};
      if (const std::string cause = unusable(position, velocity); !cause.empty()) {
        input.fail_at(input.offset() - (here - i) * record.bytes(),
                      std::string{record.name} + " record " + std::to_string(first + i) + " (counted from 0)", cause);
      }
      const std::size_t body = snapshot.bodies.positions.size();
      snapshot.bodies.positions.push_back(position);
      snapshot.bodies.velocities.push_back(velocity);
      for (const auto& [column, place] : columns) {
        std::vector<float>& values = snapshot.properties.*column;
        if (place[kind] != 0 && !values.empty()) values[body] = value(place[kind]);
      }
      const std::byte* const end = at + record.bytes();
      if (head.ids == Header::Ids::for_potential) snapshot.properties.ids[body] = bytes.load32(end - 4);
      if (head.ids == Header::Ids::for_softening_and_potential) snapshot.properties.ids[body] = bytes.load64(end - 8);
    }
  }
}

/// Whether the last words of `dark` dark records and of the stars behind them are ids by version 1 of Bonsai: dark ones
/// from 200,000,000, stars' below. As floats they would be above 0 and below 1e-23, which no potential is.
bool are_ids(std::vector<std::uint64_t> words, std::uint64_t dark) {
  constexpr std::uint64_t first_dark = 200'000'000, end = 2 * first_dark;
  if (words.size() < 2) return false;
  const auto stars = words.begin() + static_cast<std::ptrdiff_t>(dark);
  const auto is_dark = [](std::uint64_t word) { return word >= first_dark && word < end; };
  if (!std::all_of(words.begin(), stars, is_dark)) return false;
  if (!std::all_of(stars, words.end(), [](std::uint64_t word) { return word < first_dark; })) return false;
  std::ranges::sort(words);
  return std::ranges::adjacent_find(words) == words.end();
}

Snapshot read(SnapshotInput& input) {
  const Header head = parsed_header(input);
  check_size(input, head);
  input.set_encoding(name_of(head.order));
  std::array<std::byte, header_bytes> skipped;
  input.read(skipped.data(), skipped.size());

  Snapshot snapshot{.bodies = {}, .time = head.time};
  make_room(head, snapshot);
  for (std::size_t kind = 0; kind < record_kinds.size(); ++kind) append_records(input, head, kind, snapshot);
  std::vector<std::uint64_t>& ids = snapshot.properties.ids;
  if (head.ids == Header::Ids::for_potential && !are_ids(ids, head.counts[1])) ids = {};
  for (const auto& [column, place] : columns) {
    std::vector<float>& values = snapshot.properties.*column;
    if (std::ranges::all_of(values, [](float value) { return value == 0; })) values = {};
  }
  snapshot.units = units_beside(input.path());
  return snapshot;
}

/// Turns bodies into records of one kind, in blocks.
class RecordWriter {
 public:
  RecordWriter(AtomicFile& out, const Snapshot& snapshot, std::size_t kind, ByteOrder order)
      : out_{out}, snapshot_{snapshot}, kind_{kind}, bytes_{order} {}

  void add(std::size_t body) {
    const RecordKind& record = record_kinds[kind_];
    const Vec4& p = snapshot_.bodies.positions[body];
    const Vec4& v = snapshot_.bodies.velocities[body];
    std::array<float, 12> values{p.w, p.x, p.y, p.z, v.x, v.y, v.z};
    for (const auto& [column, place] : columns) {
      const std::vector<float>& own = snapshot_.properties.*column;
      const float common = column == &BodyProperties::softening ? snapshot_.softening : 0.0f;
      if (place[kind_] != 0) values[place[kind_]] = own.empty() ? common : own[body];
    }
    const std::size_t at = block_.size();
    block_.resize(at + record.bytes());
    for (std::size_t i = 0; i < record.floats; ++i) bytes_.store_float(&block_[at + i * sizeof(float)], values[i]);
    if (block_.size() == records_per_block * record.bytes()) flush();
  }
  void flush() {
    out_.write({reinterpret_cast<const char*>(block_.data()), block_.size()});
    block_.clear();
  }

 private:
  AtomicFile& out_;
  const Snapshot& snapshot_;
  const std::size_t kind_;
  const Bytes bytes_;
  std::vector<std::byte> block_;
};

/// Bodies of one species keep their order.
std::vector<fs::path> write(const fs::path& file, const Snapshot& snapshot, const SnapshotOutput& output) {
  const ByteOrder order = output.order.value_or(ByteOrder::big);
  const std::vector<Species>& species = snapshot.properties.species;
  const std::size_t count = snapshot.bodies.positions.size();
  const auto species_of = [&](std::size_t body) {
    return species.empty() ? Species::dark : plain_species(species[body]);
  };
  std::array<std::uint32_t, record_kinds.size()> counts{};
  for (std::size_t i = 0; i < count; ++i) {
    ++counts[static_cast<std::size_t>(std::ranges::find(record_kinds, species_of(i), &RecordKind::species) -
                                      record_kinds.begin())];
  }

  if (snapshot.units) check_param(file, *snapshot.units, output.existing);
  AtomicFile out{file, output.existing};
  const Bytes bytes{order};
  std::array<std::byte, header_bytes> head{};
  bytes.store_double(&head[header::time], snapshot.time);
  bytes.store32(&head[header::bodies], static_cast<std::uint32_t>(count));
  bytes.store32(&head[header::dimensions], 3);
  bytes.store32(&head[header::gas], counts[0]);
  bytes.store32(&head[header::dark], counts[1]);
  bytes.store32(&head[header::star], counts[2]);
  out.write({reinterpret_cast<const char*>(head.data()), head.size()});
  for (std::size_t kind = 0; kind < record_kinds.size(); ++kind) {
    RecordWriter records{out, snapshot, kind, order};
    for (std::size_t i = 0; i < count; ++i) {
      if (species_of(i) == record_kinds[kind].species) records.add(i);
    }
    records.flush();
  }
  std::vector<fs::path> written{out.commit()};
  if (snapshot.units) write_param(written, *snapshot.units, output.existing);
  return written;
}

}  // namespace

extern const SnapshotFormat tipsy_format;
constinit const SnapshotFormat tipsy_format{
    .id = "tipsy",
    .title = "TIPSY",
    .endings = {".tipsy"},
    .holds = {.velocities = true,
              .time = true,
              .ids = false,
              .species = true,
              .softening = true,
              .temperature = true,
              .metals = true,
              .formation_time = true,
              .units = true},
    .units = UnitRule::gravity,
    .detect = detect,
    .read = read,
    .write = write,
};

}  // namespace orrery
