// Checkpoint files, all little-endian: a header of 64 bytes, the setup as text, the bodies and a checksum. Units,
// frame, properties, low parts and Hermite state are in the file if they exist. docs/usage/runs.md has the layout.
#include "compute/snapshots/checkpoint.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/core/atomic_file.h"
#include "compute/core/text.h"
#include "compute/snapshots/snapshot_format.h"
#include "compute/snapshots/snapshot_input.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "Orrery run 2026\n";
constexpr std::uint32_t version = 1;
constexpr std::size_t checkpoint_header_bytes = 64, checksum_bytes = 4, body_bytes = 7 * sizeof(float),
                      low_words_bytes = 6 * sizeof(float), precise_bytes = 6 * sizeof(double),
                      pull_bytes = 7 * sizeof(double);
/// Byte offsets of the header's fields.
namespace field {

constexpr std::size_t version = 16, holds = 20, bodies = 24, step = 32, time = 40, setup_bytes = 48, softening = 56;
}
constexpr std::uint64_t most_setup_bytes = 1 << 20;

/// Bits of the header's `holds`. Each says that the file has one optional part.
namespace held {

constexpr std::uint32_t ids = 1, species = 2, first_float = 4;
}
constexpr std::array property_columns{&BodyProperties::softening, &BodyProperties::temperature, &BodyProperties::metals,
                                      &BodyProperties::formation_time};
namespace held {

constexpr std::uint32_t units = first_float << property_columns.size(), low_words = 2 * units, precise = 2 * low_words,
                        pulls = 2 * precise, frame = 2 * pulls, formation_scale_factors = 2 * frame,
                        all = 2 * formation_scale_factors - 1;
}
constexpr std::size_t units_bytes = 3 * sizeof(double), frame_bytes = 7 * sizeof(double);

std::uint32_t bit_of_float_column(std::size_t column) {
  return held::first_float << column;
}

const Bytes little_endian{ByteOrder::little};

/// Reads a file sequentially and computes the checksum of all bytes read.
class CheckedInput {
 public:
  static constexpr std::size_t values_at_once = 65536;

  explicit CheckedInput(SnapshotInput& input) : input_{input} {}

  void read(std::byte* to, std::size_t size) {
    input_.read(to, size);
    checksum_ = next_checksum(checksum_, to, size);
    position_ += size;
  }
  /// Reads `count` values of `width` bytes. Calls take(i, pointer to the bytes of value i) for each.
  template <class Take>
  void read_values(std::uint64_t count, std::size_t width, Take take) {
    std::vector<std::byte> block(std::min<std::uint64_t>(values_at_once, count) * width);
    for (std::uint64_t first = 0; first < count; first += values_at_once) {
      const std::uint64_t here = std::min<std::uint64_t>(values_at_once, count - first);
      read(block.data(), here * width);
      for (std::uint64_t i = 0; i < here; ++i) take(first + i, &block[i * width]);
    }
  }
  std::uint32_t checksum() const { return checksum_; }
  std::uint64_t position() const { return position_; }
  SnapshotInput& file() { return input_; }

 private:
  SnapshotInput& input_;
  std::uint32_t checksum_ = 0;
  std::uint64_t position_ = 0;
};

/// Writes a file sequentially and computes the checksum of all bytes written.
class CheckedOutput {
 public:
  static constexpr std::size_t values_at_once = CheckedInput::values_at_once;

  explicit CheckedOutput(AtomicFile& out) : out_{out} {}

  void write(std::string_view bytes) {
    checksum_ = next_checksum(checksum_, reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
    out_.write(bytes);
  }
  void write(const std::vector<std::byte>& bytes) {
    write(std::string_view{reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  /// Writes `count` values of `width` bytes. Calls put(i, pointer to the bytes of value i) to fill in each.
  template <class Put>
  void write_values(std::size_t count, std::size_t width, Put put) {
    std::vector<std::byte> block;
    for (std::size_t first = 0; first < count; first += values_at_once) {
      const std::size_t here = std::min(values_at_once, count - first);
      block.resize(here * width);
      for (std::size_t i = 0; i < here; ++i) put(first + i, &block[i * width]);
      write(block);
    }
  }
  std::uint32_t checksum() const { return checksum_; }

 private:
  AtomicFile& out_;
  std::uint32_t checksum_ = 0;
};

struct CheckpointHeader {
  std::uint32_t holds = 0;
  std::uint64_t bodies = 0, setup_bytes = 0;
  std::int64_t step = 0;
  double time = 0;
  float softening = 0;

  std::uint64_t file_bytes() const {
    std::uint64_t per_body = body_bytes;
    if (holds & held::ids) per_body += sizeof(std::uint64_t);
    if (holds & held::species) per_body += 1;
    for (std::size_t column = 0; column < property_columns.size(); ++column) {
      if (holds & bit_of_float_column(column)) per_body += sizeof(float);
    }
    if (holds & held::low_words) per_body += low_words_bytes;
    if (holds & held::precise) per_body += precise_bytes;
    if (holds & held::pulls) per_body += pull_bytes;
    return checkpoint_header_bytes + setup_bytes + (holds & held::units ? units_bytes : 0) +
           (holds & held::frame ? frame_bytes : 0) + bodies * per_body + checksum_bytes;
  }
};

bool has_magic(std::span<const std::byte> head) {
  return head.size() >= magic.size() && std::memcmp(head.data(), magic.data(), magic.size()) == 0;
}

CheckpointHeader read_header(CheckedInput& in) {
  SnapshotInput& file = in.file();
  if (!has_magic(file.head())) file.fail("not a checkpoint of Orrery");
  if (file.size() < checkpoint_header_bytes) {
    file.fail_at(file.size(), "header", "truncated: shorter than the header of a checkpoint");
  }
  std::array<std::byte, checkpoint_header_bytes> bytes;
  in.read(bytes.data(), bytes.size());
  if (const std::uint32_t written = little_endian.load32(&bytes[field::version]); written != version) {
    file.fail("a checkpoint of version " + std::to_string(written) + ", but this program reads version " +
              std::to_string(version));
  }
  CheckpointHeader head{.holds = little_endian.load32(&bytes[field::holds]),
                        .bodies = little_endian.load64(&bytes[field::bodies]),
                        .setup_bytes = little_endian.load64(&bytes[field::setup_bytes]),
                        .step = static_cast<std::int64_t>(little_endian.load64(&bytes[field::step])),
                        .time = little_endian.load_double(&bytes[field::time]),
                        .softening = little_endian.load_float(&bytes[field::softening])};
  const struct {
    std::size_t byte;
    const char* name;
    bool fits;
  } fields[] = {{field::holds, "arrays",
                 (head.holds & ~held::all) == 0 && (!(head.holds & held::pulls) || (head.holds & held::precise))},
                {field::bodies, "bodies", head.bodies > 0 && head.bodies <= file.size()},
                {field::step, "step", head.step >= 0},
                {field::time, "time", std::isfinite(head.time)},
                {field::setup_bytes, "bytes of the setup", head.setup_bytes <= most_setup_bytes},
                {field::softening, "softening", std::isfinite(head.softening) && head.softening >= 0}};
  for (const auto& [byte, name, fits] : fields) {
    if (!fits) file.fail_at(byte, name, "damaged: out of range for a checkpoint of " + counted(file.size(), "byte"));
  }
  const std::uint64_t expected = head.file_bytes();
  const std::string has = "its header asks for " + counted(expected, "byte") + ", it has " + format_count(file.size());
  if (file.size() < expected) file.fail_at(file.size(), "end", "truncated: " + has);
  if (file.size() > expected) file.fail_at(expected, "end", "oversized: " + has);
  file.require_room_for(head.bodies);
  return head;
}

void read_units(CheckedInput& in, Snapshot& snapshot) {
  std::array<std::byte, units_bytes> bytes;
  in.read(bytes.data(), bytes.size());
  const auto value = [&](std::size_t place) { return little_endian.load_double(&bytes[place * sizeof(double)]); };
  snapshot.units = Units{value(0), value(1), value(2)};
  if (!snapshot.units->usable()) in.file().fail("damaged: its units are out of range");
}

void read_frame(CheckedInput& in, Snapshot& snapshot) {
  std::array<std::byte, frame_bytes> bytes;
  in.read(bytes.data(), bytes.size());
  std::array<double, 7> v;
  for (std::size_t k = 0; k < v.size(); ++k) v[k] = little_endian.load_double(&bytes[k * sizeof(double)]);
  if (!std::ranges::all_of(v, [](double value) { return std::isfinite(value); })) {
    in.file().fail("damaged: the place of its origin is not finite");
  }
  snapshot.frame = {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}, v[6]};
}

void read_bodies(CheckedInput& in, std::uint64_t count, Bodies& bodies) {
  bodies.positions.resize(count);
  bodies.velocities.resize(count);
  const std::uint64_t first_byte = in.position();
  in.read_values(count, body_bytes, [&](std::uint64_t i, const std::byte* at) {
    const auto value = [at](std::size_t place) { return little_endian.load_float(at + place * sizeof(float)); };
    const Vec4 position{value(0), value(1), value(2), value(3)}, velocity{value(4), value(5), value(6), 0};
    // The limits for imported snapshots do not apply here: a run may have exceeded them.
    const std::string cause =
        no_body({position.x, position.y, position.z}, position.w, {velocity.x, velocity.y, velocity.z});
    if (!cause.empty()) {
      in.file().fail("body " + std::to_string(i) + " (counted from 0, at byte " +
                     std::to_string(first_byte + i * body_bytes) + "): " + cause);
    }
    bodies.positions[i] = position;
    bodies.velocities[i] = velocity;
  });
}

void read_properties(CheckedInput& in, const CheckpointHeader& head, BodyProperties& properties) {
  if (head.holds & held::ids) {
    properties.ids.resize(head.bodies);
    in.read_values(head.bodies, sizeof(std::uint64_t),
                   [&](std::uint64_t i, const std::byte* at) { properties.ids[i] = little_endian.load64(at); });
  }
  if (head.holds & held::species) {
    properties.species.resize(head.bodies);
    in.read_values(head.bodies, 1, [&](std::uint64_t i, const std::byte* at) {
      if (*at > static_cast<std::byte>(species_count - 1)) {
        in.file().fail("damaged: body " + std::to_string(i) + " has an unknown species");
      }
      properties.species[i] = static_cast<Species>(*at);
    });
  }
  properties.formation_scale_factors = (head.holds & held::formation_scale_factors) != 0;
  for (std::size_t column = 0; column < property_columns.size(); ++column) {
    if (!(head.holds & bit_of_float_column(column))) continue;
    std::vector<float>& values = properties.*property_columns[column];
    values.resize(head.bodies);
    in.read_values(head.bodies, sizeof(float),
                   [&](std::uint64_t i, const std::byte* at) { values[i] = little_endian.load_float(at); });
  }
}

void read_low_words(CheckedInput& in, std::uint64_t count, Bodies& bodies) {
  bodies = with_digits(std::move(bodies), Digits::compensated);
  in.read_values(count, low_words_bytes, [&](std::uint64_t i, const std::byte* at) {
    std::array<float, 6> low;
    for (float& value : low) {
      value = little_endian.load_float(at);
      at += sizeof(float);
      if (!std::isfinite(value)) in.file().fail("damaged: a low word of body " + std::to_string(i) + " is not finite");
    }
    bodies.positions_low[i] = {low[0], low[1], low[2], 0};
    bodies.velocities_low[i] = {low[3], low[4], low[5], 0};
  });
}

/// Reads `width` bytes of doubles per body and calls take(body, doubles). The first six doubles must be finite.
template <class Take>
void read_doubles(CheckedInput& in, std::uint64_t count, std::size_t width, Take take) {
  std::vector<double> values(width / sizeof(double));
  in.read_values(count, width, [&](std::uint64_t i, const std::byte* at) {
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = little_endian.load_double(at + k * sizeof(double));
    if (!std::ranges::all_of(std::span{values}.first(6), [](double value) { return std::isfinite(value); })) {
      in.file().fail("damaged: a double of body " + std::to_string(i) + " is not finite");
    }
    take(i, values);
  });
}

void read_hermite(CheckedInput& in, const CheckpointHeader& head, Checkpoint& checkpoint) {
  if (!(head.holds & held::precise)) return;
  HermiteState& state = checkpoint.hermite;
  state.bodies.resize(head.bodies);
  read_doubles(in, head.bodies, precise_bytes, [&](std::uint64_t i, const std::vector<double>& v) {
    state.bodies[i].body = {{v[0], v[1], v[2]}, checkpoint.snapshot.bodies.positions[i].w, {v[3], v[4], v[5]}};
  });
  state.pulls_current = (head.holds & held::pulls) != 0;
  if (!state.pulls_current) return;
  read_doubles(in, head.bodies, pull_bytes, [&](std::uint64_t i, const std::vector<double>& v) {
    state.bodies[i].pull = {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
    state.bodies[i].longest_step = v[6];  // may be infinite, or not a number
  });
}

std::string read_setup(CheckedInput& in, const CheckpointHeader& head) {
  std::string setup(head.setup_bytes, '\0');
  in.read(reinterpret_cast<std::byte*>(setup.data()), setup.size());
  return setup;
}

bool checksum_matches(SnapshotInput& input) {
  input.seek(0);
  CheckedInput in{input};
  std::vector<std::byte> block(CheckedInput::values_at_once);
  while (input.remaining() > checksum_bytes) {
    in.read(block.data(), std::min<std::uint64_t>(block.size(), input.remaining() - checksum_bytes));
  }
  std::array<std::byte, checksum_bytes> stored;
  input.read(stored.data(), stored.size());
  return little_endian.load32(stored.data()) == in.checksum();
}

[[noreturn]] void fail_as_damaged(const SnapshotInput& input) {
  input.fail("damaged: its checksum does not match its content");
}

/// Reads all parts of the file that the header lists.
void read_content(CheckedInput& in, const CheckpointHeader& head, Checkpoint& checkpoint) {
  checkpoint.setup = read_setup(in, head);
  if (head.holds & held::units) read_units(in, checkpoint.snapshot);
  if (head.holds & held::frame) read_frame(in, checkpoint.snapshot);
  read_bodies(in, head.bodies, checkpoint.snapshot.bodies);
  read_properties(in, head, checkpoint.snapshot.properties);
  if (head.holds & held::low_words) read_low_words(in, head.bodies, checkpoint.snapshot.bodies);
  read_hermite(in, head, checkpoint);
}

/// Reads a checkpoint. If a value is unusable, checks the checksum first: the cause may be a damaged file.
Checkpoint read_from(SnapshotInput& input) {
  CheckedInput in{input};
  const CheckpointHeader head = read_header(in);
  Checkpoint checkpoint{.snapshot = {.bodies = {}, .time = head.time, .softening = head.softening}, .step = head.step};
  try {
    read_content(in, head, checkpoint);
  } catch (const std::runtime_error&) {
    if (!checksum_matches(input)) fail_as_damaged(input);
    throw;
  }
  std::array<std::byte, checksum_bytes> checksum;
  input.read(checksum.data(), checksum.size());
  if (little_endian.load32(checksum.data()) != in.checksum()) fail_as_damaged(input);
  return checkpoint;
}

CheckpointHeader header_of(const CheckpointParts& checkpoint) {
  const SnapshotView& snapshot = checkpoint.snapshot;
  const BodyProperties& properties = snapshot.properties;
  CheckpointHeader head{.bodies = snapshot.bodies->count(),
                        .setup_bytes = checkpoint.setup.size(),
                        .step = checkpoint.step,
                        .time = snapshot.time,
                        .softening = snapshot.softening};
  if (!properties.ids.empty()) head.holds |= held::ids;
  if (!properties.species.empty()) head.holds |= held::species;
  for (std::size_t column = 0; column < property_columns.size(); ++column) {
    if (!(properties.*property_columns[column]).empty()) head.holds |= bit_of_float_column(column);
  }
  if (properties.formation_scale_factors) head.holds |= held::formation_scale_factors;
  if (snapshot.units) head.holds |= held::units;
  if (snapshot.frame.is_moved()) head.holds |= held::frame;
  if (snapshot.bodies->digits() == Digits::compensated) head.holds |= held::low_words;
  if (!checkpoint.hermite.bodies.empty()) head.holds |= held::precise;
  if (checkpoint.hermite.pulls_current) head.holds |= held::pulls;
  return head;
}

std::vector<std::byte> bytes_of(const CheckpointHeader& head) {
  std::vector<std::byte> bytes(checkpoint_header_bytes);
  std::memcpy(bytes.data(), magic.data(), magic.size());
  little_endian.store32(&bytes[field::version], version);
  little_endian.store32(&bytes[field::holds], head.holds);
  little_endian.store64(&bytes[field::bodies], head.bodies);
  little_endian.store64(&bytes[field::step], static_cast<std::uint64_t>(head.step));
  little_endian.store_double(&bytes[field::time], head.time);
  little_endian.store64(&bytes[field::setup_bytes], head.setup_bytes);
  little_endian.store_float(&bytes[field::softening], head.softening);
  return bytes;
}

void put_doubles(std::byte* at, std::initializer_list<double> values) {
  for (const double value : values) {
    little_endian.store_double(at, value);
    at += sizeof value;
  }
}

void write_units(CheckedOutput& out, const Units& of) {
  std::vector<std::byte> bytes(units_bytes);
  put_doubles(bytes.data(), {of.length_cm, of.mass_g, of.velocity_cm_s});
  out.write(bytes);
}

void write_frame(CheckedOutput& out, const Frame& of) {
  std::vector<std::byte> bytes(frame_bytes);
  put_doubles(bytes.data(),
              {of.position.x, of.position.y, of.position.z, of.velocity.x, of.velocity.y, of.velocity.z, of.time});
  out.write(bytes);
}

void put_floats(std::byte* at, std::initializer_list<float> values) {
  for (const float value : values) {
    little_endian.store_float(at, value);
    at += sizeof(float);
  }
}

void write_bodies(CheckedOutput& out, BodySource& bodies) {
  out.write_values(bodies.count(), body_bytes, [&](std::size_t i, std::byte* at) {
    const Vec4 &p = bodies.position(i), &v = bodies.velocity(i);
    put_floats(at, {p.x, p.y, p.z, p.w, v.x, v.y, v.z});
  });
}

void write_properties(CheckedOutput& out, const BodyProperties& properties) {
  out.write_values(properties.ids.size(), sizeof(std::uint64_t),
                   [&](std::size_t i, std::byte* at) { little_endian.store64(at, properties.ids[i]); });
  out.write_values(properties.species.size(), 1,
                   [&](std::size_t i, std::byte* at) { *at = static_cast<std::byte>(properties.species[i]); });
  for (const auto column : property_columns) {
    const std::vector<float>& values = properties.*column;
    out.write_values(values.size(), sizeof(float),
                     [&](std::size_t i, std::byte* at) { little_endian.store_float(at, values[i]); });
  }
}

void write_low_words(CheckedOutput& out, BodySource& bodies) {
  const std::size_t count = bodies.digits() == Digits::single ? 0 : bodies.count();
  out.write_values(count, low_words_bytes, [&](std::size_t i, std::byte* at) {
    const Vec4 &p = bodies.position_low(i), &v = bodies.velocity_low(i);
    put_floats(at, {p.x, p.y, p.z, v.x, v.y, v.z});
  });
}

void write_hermite(CheckedOutput& out, const HermiteState& state) {
  out.write_values(state.bodies.size(), precise_bytes, [&](std::size_t i, std::byte* at) {
    const auto& [p, mass, v] = state.bodies[i].body;
    put_doubles(at, {p.x, p.y, p.z, v.x, v.y, v.z});
  });
  if (!state.pulls_current) return;
  out.write_values(state.bodies.size(), pull_bytes, [&](std::size_t i, std::byte* at) {
    const auto& [a, j] = state.bodies[i].pull;
    put_doubles(at, {a.x, a.y, a.z, j.x, j.y, j.z, state.bodies[i].longest_step});
  });
}

bool is_checkpoint(std::span<const std::byte> head, std::uint64_t) {
  return has_magic(head);
}

Snapshot read_snapshot_part(SnapshotInput& input) {
  return read_from(input).snapshot;
}

std::vector<fs::path> write_snapshot_alone(const fs::path& file, const SnapshotView& snapshot,
                                           const SnapshotOutput& output) {
  return {write_checkpoint(file, CheckpointParts{snapshot, HermiteState{}, 0, std::string{}}, output.existing)};
}

}  // namespace

std::uint32_t next_checksum(std::uint32_t checksum, const std::byte* bytes, std::size_t size) {
  if (size == 0) return checksum;  // zlib restarts the checksum if the pointer is null
  return static_cast<std::uint32_t>(crc32_z(checksum, reinterpret_cast<const Bytef*>(bytes), size));
}

CheckpointHead read_checkpoint_head(const fs::path& file) {
  SnapshotInput input{file, {}, simulation_bytes_per_body};
  CheckedInput in{input};
  const CheckpointHeader head = read_header(in);
  return {head.bodies, head.time, read_setup(in, head)};
}

Checkpoint read_checkpoint(const fs::path& file) {
  SnapshotInput input{file, {}, simulation_bytes_per_body};
  return read_from(input);
}

void write_checkpoint(AtomicFile& out, const CheckpointParts& checkpoint) {
  const SnapshotView& snapshot = checkpoint.snapshot;
  CheckedOutput checked{out};
  checked.write(bytes_of(header_of(checkpoint)));
  checked.write(checkpoint.setup);
  if (snapshot.units) write_units(checked, *snapshot.units);
  if (snapshot.frame.is_moved()) write_frame(checked, snapshot.frame);
  write_bodies(checked, *snapshot.bodies);
  write_properties(checked, snapshot.properties);
  write_low_words(checked, *snapshot.bodies);
  write_hermite(checked, checkpoint.hermite);
  std::array<std::byte, checksum_bytes> checksum;
  little_endian.store32(checksum.data(), checked.checksum());
  out.write({reinterpret_cast<const char*>(checksum.data()), checksum.size()});
}

fs::path write_checkpoint(const fs::path& file, const CheckpointParts& checkpoint, Existing existing) {
  AtomicFile out{file, existing};
  write_checkpoint(out, checkpoint);
  return out.commit();
}

std::uint32_t checksum(const Bodies& bodies) {
  std::uint32_t sum = 0;
  for (const auto* vectors : {&bodies.positions, &bodies.velocities, &bodies.positions_low, &bodies.velocities_low}) {
    sum = next_checksum(sum, reinterpret_cast<const std::byte*>(vectors->data()), vectors->size() * sizeof(Vec4));
  }
  return sum;
}

extern const SnapshotFormat checkpoint_format;
constinit const SnapshotFormat checkpoint_format{
    .id = "checkpoint",
    .title = "checkpoint of Orrery",
    .endings = {".checkpoint"},
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
              .low_words = true,
              .frame = true,
              .scale_factors = true},
    .units = UnitRule::gravity,
    .detect = is_checkpoint,
    .read = read_snapshot_part,
    .write = write_snapshot_alone,
};

}  // namespace orrery
