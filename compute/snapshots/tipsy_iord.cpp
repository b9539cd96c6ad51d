#include "compute/snapshots/tipsy_iord.h"

#include <stdexcept>
#include <utility>
#include <vector>

#include "compute/core/failure_text.h"
#include "compute/core/parse_number.h"
#include "compute/core/trimmed.h"
#include "compute/snapshots/snapshot.h"
#include "compute/snapshots/snapshot_input.h"
#include "compute/snapshots/text_lines.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

std::uint64_t next_number(SnapshotInput& input, TextLines& lines) {
  if (!lines.next()) input.fail_at(input.size(), "id", "truncated: the file ends there");
  const auto number = parsed_number<std::uint64_t>(lines.line());
  if (!number) {
    input.fail_at(lines.byte_of(lines.line()), lines.place("id"), "not a whole number from 0 to 2^64 - 1");
  }
  return *number;
}

std::vector<std::uint64_t> ids_in(const fs::path& file, std::size_t bodies) {
  SnapshotInput input{file};
  TextLines lines{input};
  if (const std::uint64_t count = next_number(input, lines); count != bodies) {
    input.fail_at(0, "number of bodies", std::to_string(count) + ", but the snapshot has " + std::to_string(bodies));
  }
  std::vector<std::uint64_t> ids;
  ids.reserve(bodies);
  while (ids.size() < bodies) ids.push_back(next_number(input, lines));
  while (lines.next()) {
    if (trimmed(lines.line()).empty()) continue;
    input.fail_at(lines.byte_of(lines.line()), lines.place("id"), "more than the snapshot has bodies");
  }
  return ids;
}

}  // namespace

fs::path iord_of(const fs::path& file) {
  return fs::path{file}.concat(".iord");
}

void take_iord(const fs::path& file, Snapshot& snapshot) {
  const fs::path beside = iord_of(file);
  if (!fs::exists(beside)) return;
  try {
    snapshot.properties.ids = ids_in(beside, snapshot.bodies.positions.size());
  } catch (const std::runtime_error& error) {
    snapshot.notes.push_back(std::string{"ids are not read: "} + failure_text(error));
  }
}

void check_iord(const fs::path& snapshot, Existing existing) {
  const fs::path beside = iord_of(snapshot);
  if (replaces(existing) || !fs::exists(beside)) return;
  throw std::runtime_error("'" + beside.string() + "' exists and holds the ids of other bodies: choose another name");
}

IordFile::IordFile(const fs::path& snapshot, std::size_t bodies, Existing existing)
    : out_{iord_of(snapshot), existing}, text_{std::to_string(bodies) + '\n'} {
  check_iord(snapshot, existing);
}

void IordFile::add(std::uint64_t id) {
  constexpr std::size_t block = 1 << 20;
  text_ += std::to_string(id);
  text_ += '\n';
  if (text_.size() < block) return;
  out_.write(text_);
  text_.clear();
}

fs::path IordFile::commit() {
  out_.write(text_);
  return out_.commit();
}

}  // namespace orrery
