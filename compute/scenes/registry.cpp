#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>

#include "compute/core/error.h"
#include "compute/core/law.h"
#include "compute/core/names.h"
#include "compute/core/process.h"
#include "compute/core/text.h"
#include "compute/scenes/natural_scales.h"
#include "compute/scenes/scene.h"
#include "compute/snapshots/snapshot_format.h"

namespace orrery {

// scenes_list.inc is made from the list of scenes in compute/CMakeLists.txt.
#define X(scene) extern const SceneInfo scene_##scene;
#include "scenes_list.inc"
#undef X

namespace {

constexpr std::array all{
#define X(scene) &scene_##scene,
#include "scenes_list.inc"
#undef X
};

/// Converts the numbers to units in which G = 1, such as velocities in km/s. Throws std::runtime_error if a velocity
/// becomes too large.
void take_gravity_units(Snapshot& snapshot, const std::string& file) {
  const std::optional<Units> before = snapshot.units;
  convert_to_gravity_units(snapshot);
  if (snapshot.units == before) return;
  for (const Vec4& velocity : snapshot.bodies.velocities) {
    const float largest = std::max({std::abs(velocity.x), std::abs(velocity.y), std::abs(velocity.z)});
    if (largest <= SnapshotLimits::largest) continue;
    throw std::runtime_error("'" + file +
                             "': in units of G = 1, a velocity is beyond 1e15; give its units with --units");
  }
}

/// Chooses softening and time step, notes both, and gives the bodies low parts. If Law does not permit the values and
/// the units are known, converts the units first. Throws if the values are still not permitted.
NaturalScales scales_of(Snapshot& snapshot, const std::string& file) {
  take_low_words(snapshot);
  NaturalScales scales = natural_scales(snapshot.bodies, softening_in(snapshot));
  if (!scales.usable() && convert_to_handy_units(snapshot)) {
    take_low_words(snapshot);
    scales = natural_scales(snapshot.bodies, softening_in(snapshot));
  }
  if (!scales.usable()) {
    throw std::runtime_error("'" + file + "': its bodies need " + scales.softening_text({}) + ", " +
                             scales.time_step_text({}) + "; a softening is from " +
                             short_number(Law::least_gravity_softening) + " to " + short_number(Law::max_softening) +
                             ": rescale the units of the file, or name them with --units");
  }
  snapshot.notes.push_back(scales.softening_text(snapshot.units) + "; --softening chooses another");
  const std::string unit = snapshot.units ? "; the unit of time is " + time_value(snapshot.units->time_s()) : "";
  snapshot.notes.push_back(scales.time_step_text(snapshot.units) + unit + "; --dt chooses another");
  const std::string coarse = coarse_softening(scales.softening, scales.smallest_orbit);
  if (!coarse.empty()) snapshot.notes.push_back(coarse);
  return scales;
}

Scene from_file(const SceneRequest& request) {
  if (request.count != 0) {
    throw UsageError("'" + request.file + "': a file sets its own number of bodies; " + std::to_string(request.count) +
                     " cannot be chosen");
  }
  Snapshot snapshot = read_snapshot(request.file, request.hints, simulation_bytes_per_body);
  take_gravity_units(snapshot, request.file);
  const Digits digits = snapshot.bodies.digits();
  const NaturalScales scales = scales_of(snapshot, request.file);
  if (forces_underflow(snapshot.bodies, static_cast<float>(scales.softening))) {
    throw std::runtime_error("'" + request.file +
                             "': gravity between its bodies underflows in single precision; rescale the units of "
                             "the file so that masses and distances are closer to 1");
  }
  Parts parts = parts_of(snapshot.properties.species);
  return {.name = std::filesystem::path{request.file}.filename().string(),
          .bodies = std::move(snapshot.bodies),
          .time_step = static_cast<float>(scales.time_step),
          .softening = static_cast<float>(scales.softening),
          .properties = std::move(snapshot.properties),
          .time = snapshot.time,
          .parts = std::move(parts),
          .units = snapshot.units,
          .frame = snapshot.frame,
          .digits = digits,
          .smallest_orbit = scales.smallest_orbit,
          .notes = std::move(snapshot.notes)};
}

}  // namespace

int allowed_count(const SceneInfo& info, std::int64_t asked) {
  if (asked == 0) return info.default_count;
  const std::string wrong = "scene '" + std::string{info.id} + "' cannot have " + std::to_string(asked) +
                            (asked == 1 ? " body; " : " bodies; ");
  if (info.fixed_count != 0 && asked != info.fixed_count) {
    throw UsageError(wrong + "it always has " + std::to_string(info.fixed_count));
  }
  if (asked < info.min_count || asked > body_counts.most) {
    throw UsageError(wrong + "choose a number from " + std::to_string(info.min_count) + " to " +
                     std::to_string(body_counts.most));
  }
  if (const std::int64_t fit = bodies_that_fit(simulation_bytes_per_body); asked > fit) {
    throw UsageError(wrong + "the free memory holds at most " + std::to_string(fit));
  }
  return static_cast<int>(asked);
}

std::span<const SceneInfo* const> scenes() {
  return all;
}

const SceneInfo& find_scene(std::string_view id) {
  return *find_named(all, id, "scene");
}

Scene load_scene(const SceneRequest& request) {
  try {
    if (!request.file.empty()) return from_file(request);
    if (request.hints != SnapshotHints{}) throw UsageError("units, columns and state are those of a file: name one");
    const SceneInfo& info = find_scene(request.scene);
    return info.generate(allowed_count(info, request.count), request.seed);
  } catch (const std::bad_alloc&) {  // the process may have a lower limit than the free memory
    throw UsageError("not enough memory for " +
                     (request.file.empty() ? std::to_string(request.count) + " bodies" : "'" + request.file + "'") +
                     "; a smaller number may fit");
  }
}

Parts parts_in_order(std::initializer_list<PartSize> sizes) {
  Parts parts;
  for (const PartSize& size : sizes) {
    if (size.count < 1) continue;
    parts.of_body.insert(parts.of_body.end(), static_cast<std::size_t>(size.count),
                         static_cast<std::uint8_t>(parts.names.size()));
    parts.names.emplace_back(size.name);
  }
  return parts;
}

Parts parts_of(std::span<const Species> species) {
  constexpr std::size_t most = 4;  // largest number of names
  std::array<bool, species_count> present{};
  for (const Species one : species) present[static_cast<std::size_t>(one)] = true;
  const bool plain = std::ranges::count(present, true) > static_cast<std::ptrdiff_t>(most);
  const auto shown = [&](Species one) { return plain ? plain_species(one) : one; };
  Parts parts;
  std::array<std::uint8_t, species_count> places{};
  for (std::size_t i = 0; i < species_count; ++i) {
    const bool any = std::ranges::any_of(species, [&](Species one) { return shown(one) == static_cast<Species>(i); });
    if (!any) continue;
    places[i] = static_cast<std::uint8_t>(parts.names.size());
    parts.names.emplace_back(species_name(static_cast<Species>(i)));
  }
  parts.of_body.reserve(species.size());
  for (const Species one : species) parts.of_body.push_back(places[static_cast<std::size_t>(shown(one))]);
  return parts;
}

}  // namespace orrery
