#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "compute/core/names.h"
#include "compute/snapshots/snapshot_format.h"
#include "compute/snapshots/snapshot_input.h"

namespace orrery {

// snapshots_list.inc is made from the list of formats in compute/CMakeLists.txt.
#define X(format) extern const SnapshotFormat format##_format;
#include "snapshots_list.inc"
#undef X

namespace {

namespace fs = std::filesystem;

constexpr std::array all{
#define X(format) &format##_format,
#include "snapshots_list.inc"
#undef X
};

/// The format of a file name's ending; null if no format has it.
const SnapshotFormat* format_named_by(const fs::path& file) {
  const auto found = std::ranges::find_if(all, [&](const auto* format) { return file.extension() == format->ending; });
  return found == all.end() ? nullptr : *found;
}

/// The ending helps where the content does not: that format's reader then finds what is wrong with the file.
const SnapshotFormat& format_of(const SnapshotInput& input) {
  const auto found = std::ranges::find_if(all, [&](const auto* format) { return format->detect(input.head()); });
  const SnapshotFormat* const format = found == all.end() ? format_named_by(input.path()) : *found;
  if (format) return *format;
  input.fail("not a snapshot in a known format; known formats: " + snapshot_titles());
}

bool finite(const Vec4& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z) && std::isfinite(v.w);
}

/// Nothing could start from such bodies. A run with too long a time step may leave them.
void require_finite(const fs::path& file, const Bodies& bodies) {
  for (std::size_t i = 0; i < bodies.positions.size(); ++i) {
    const bool place = finite(bodies.positions[i]);
    if (place && finite(bodies.velocities[i])) continue;
    throw std::runtime_error("'" + file.string() + "': not written: the " + (place ? "velocity" : "position or mass") +
                             " of body " + std::to_string(i) +
                             " (counted from 0) is not finite; try a smaller dt or a larger softening");
  }
}

}  // namespace

std::span<const SnapshotFormat* const> snapshot_formats() {
  return all;
}

std::string snapshot_titles() {
  return joined(all, [](const SnapshotFormat* format) { return format->title; });
}

Snapshot read_snapshot(const fs::path& file) {
  SnapshotInput input{file};
  return format_of(input).read(input);
}

WrittenSnapshot write_snapshot(const fs::path& file, const Snapshot& snapshot, const SnapshotOutput& output) {
  require_finite(file, snapshot.bodies);
  const SnapshotFormat* const named = format_named_by(file);
  const SnapshotFormat& format = named ? *named : *all.front();
  return {format.write(file, snapshot, output), left_out(format, snapshot)};
}

std::string left_out(const SnapshotFormat& format, const Snapshot& snapshot) {
  const BodyProperties& has = snapshot.properties;
  const SnapshotFormat::Holds& holds = format.holds;
  const struct {
    const char* name;
    bool missing;
  } parts[] = {{"velocities", !holds.velocities},
               {"time", !holds.time && snapshot.time != 0},
               {"ids", !holds.ids && !has.ids.empty()},
               {"species", !holds.species && !has.species.empty()},
               {"softening", !holds.softening && !has.softening.empty()},
               {"temperature", !holds.temperature && !has.temperature.empty()},
               {"metals", !holds.metals && !has.metals.empty()},
               {"formation time", !holds.formation_time && !has.formation_time.empty()}};
  std::string names;
  for (const auto& [name, missing] : parts) {
    if (missing) names.append(names.empty() ? "" : ", ").append(name);
  }
  return names.empty() ? names : std::string{format.title} + " cannot hold " + names;
}

}  // namespace orrery
