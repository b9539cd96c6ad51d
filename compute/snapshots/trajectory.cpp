// Trajectories of CUDA courses, little-endian: int32 P (bodies), int32 R (records), then float32 [P][R][3]: all records
// of one body, then those of the next. NAME.json next to the file describes the numbers.
#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

#include "compute/core/atomic_file.h"
#include "compute/core/error.h"
#include "compute/core/text.h"
#include "compute/snapshots/snapshot_format.h"
#include "compute/snapshots/snapshot_input.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t trajectory_head_bytes = 8, place_bytes = 12;
const Bytes trajectory_order{ByteOrder::little};

struct Trajectory {
  std::uint64_t bodies, records;
  /// Returns the file's size in bytes. It overflows if bodies * records exceeds 2^60: check that first.
  std::uint64_t file_bytes() const { return trajectory_head_bytes + bodies * records * place_bytes; }
};

std::optional<Trajectory> trajectory_of(std::span<const std::byte> head) {
  constexpr std::uint32_t most = 0x7fffffff;
  if (head.size() < trajectory_head_bytes) return std::nullopt;
  const std::uint32_t bodies = trajectory_order.load32(&head[0]), records = trajectory_order.load32(&head[4]);
  if (bodies < 1 || bodies > most || records < 1 || records > most) return std::nullopt;
  return Trajectory{bodies, records};
}

bool detect_trajectory(std::span<const std::byte> head, std::uint64_t size) {
  const auto found = trajectory_of(head);
  return found && found->bodies < (std::uint64_t{1} << 60) / found->records / place_bytes &&
         found->file_bytes() == size;
}

Snapshot read_trajectory(SnapshotInput& input) {
  const auto found = trajectory_of(input.head());
  if (!found) {
    input.fail_at(0, "P and R", "not a trajectory: it begins with the numbers of bodies and records, each from 1");
  }
  if (!detect_trajectory(input.head(), input.size())) {
    input.fail_at(0, "P and R",
                  counted_bodies(found->bodies) + " with " + counted(found->records, "record") +
                      " do not make a file of " + counted(input.size(), "byte"));
  }
  const std::uint64_t record = input.hints().state.value_or(static_cast<std::int64_t>(found->records) - 1);
  if (record >= found->records) {
    throw UsageError("--state cannot be " + std::to_string(record) + "; '" + input.path().string() + "' has 0 to " +
                     std::to_string(found->records - 1));
  }
  input.require_room_for(found->bodies);

  input.set_encoding(name_of(ByteOrder::little));
  Snapshot snapshot;
  snapshot.bodies.positions.reserve(found->bodies);
  snapshot.bodies.velocities.resize(found->bodies);
  constexpr std::uint64_t block_records = 65536;
  const std::uint64_t of_body = found->records * place_bytes;
  std::vector<std::byte> block(std::min(found->bodies * found->records, block_records) * place_bytes);
  const auto add = [&](const std::byte* at, std::uint64_t byte) {
    const auto value = [&](std::size_t place) { return trajectory_order.load_float(at + 4 * place); };
    const Vec4 position{value(0), value(1), value(2), 1};
    if (const std::string cause = unusable(position, {}); !cause.empty()) {
      input.fail_at(byte, "body " + std::to_string(snapshot.bodies.positions.size()) + " (counted from 0)", cause);
    }
    snapshot.bodies.positions.push_back(position);
  };
  if (found->records > block_records / 16) {  // a block would hold few bodies: read one record per body
    for (std::uint64_t body = 0; body < found->bodies; ++body) {
      const std::uint64_t byte = trajectory_head_bytes + body * of_body + record * place_bytes;
      input.seek(byte);
      input.read(block.data(), place_bytes);
      add(block.data(), byte);
    }
  } else {
    input.seek(trajectory_head_bytes);
    const std::uint64_t bodies_per_block = block.size() / of_body;
    for (std::uint64_t first = 0; first < found->bodies; first += bodies_per_block) {
      const std::uint64_t byte = input.offset();
      const std::uint64_t here = std::min(bodies_per_block, found->bodies - first);
      input.read(block.data(), here * of_body);
      for (std::uint64_t i = 0; i < here; ++i) {
        const std::uint64_t at = i * of_body + record * place_bytes;
        add(&block[at], byte + at);
      }
    }
  }
  if (found->records > 1) {
    snapshot.notes.push_back("record " + std::to_string(record) + " of 0 to " + std::to_string(found->records - 1));
  }
  snapshot.notes.emplace_back("no velocities in the file: all bodies are at rest");
  give_equal_masses(snapshot);
  return snapshot;
}

std::string json_number(double value) {
  std::array<char, 32> digits;
  const auto [end, failed] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end};
}

std::string description_of(const SnapshotView& snapshot) {
  std::string text = "{\n  \"particles\": " + std::to_string(snapshot.bodies->count()) +
                     ",\n  \"records\": 1,\n  \"layout\": \"int32 P, int32 R, float32 [P][R][3]\",\n"
                     "  \"byte_order\": \"little\",\n  \"times\": [" +
                     json_number(snapshot.time) + "]";
  if (const auto& units = snapshot.units) {
    text += ",\n  \"length_cm\": " + json_number(units->length_cm) + ",\n  \"mass_g\": " + json_number(units->mass_g) +
            ",\n  \"velocity_cm_s\": " + json_number(units->velocity_cm_s);
  }
  return text + "\n}\n";
}

/// Writes one record per body, and a JSON description next to the file.
std::vector<fs::path> write_trajectory(const fs::path& file, const SnapshotView& snapshot,
                                       const SnapshotOutput& output) {
  if (output.order == ByteOrder::big) throw UsageError("--byte-order cannot be big: trajectories are little-endian");
  AtomicFile out{file, output.existing};
  std::vector<std::byte> block(trajectory_head_bytes);
  trajectory_order.store32(&block[0], static_cast<std::uint32_t>(snapshot.bodies->count()));
  trajectory_order.store32(&block[4], 1);
  const auto flush = [&] {
    out.write({reinterpret_cast<const char*>(block.data()), block.size()});
    block.clear();
  };
  constexpr std::size_t block_bytes = 1 << 20;
  for (std::size_t body = 0; body < snapshot.bodies->count(); ++body) {
    const Vec4& position = snapshot.bodies->position(body);
    const std::size_t at = block.size();
    block.resize(at + place_bytes);
    trajectory_order.store_float(&block[at], position.x);
    trajectory_order.store_float(&block[at + 4], position.y);
    trajectory_order.store_float(&block[at + 8], position.z);
    if (block.size() >= block_bytes) flush();
  }
  flush();
  std::vector<fs::path> written{out.commit()};
  if (is_stream(file)) return written;
  written.emplace_back(
      write_file(fs::path{written.front()}.replace_extension(".json"), description_of(snapshot), output.existing));
  return written;
}

}  // namespace

extern const SnapshotFormat trajectory_format;
constinit const SnapshotFormat trajectory_format{
    .id = "trajectory",
    .title = "course trajectory",
    .endings = {".traj"},
    .companion = ".json",
    .holds = {.masses = false},
    .units = UnitRule::any,
    .takes_state = true,
    .detect = detect_trajectory,
    .read = read_trajectory,
    .write = write_trajectory,
};

}  // namespace orrery
