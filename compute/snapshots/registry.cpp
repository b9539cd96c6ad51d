#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "compute/core/descriptor.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/text.h"
#include "compute/snapshots/snapshot_format.h"
#include "compute/snapshots/snapshot_input.h"

namespace orrery {

// snapshots_list.inc is made from the list of formats in compute/CMakeLists.txt.
#define X(format) extern const SnapshotFormat format##_format;
#include "snapshots_list.inc"
#undef X

namespace {

namespace fs = std::filesystem;

constexpr std::array all_formats{
#define X(format) &format##_format,
#include "snapshots_list.inc"
#undef X
};

/// Returns the format of a file by its content. TIPSY has no unique signature, so it is tried last. If nothing matches,
/// the ending of the name decides, so that this format's reader reports what is wrong.
const SnapshotFormat& format_of(const SnapshotInput& input) {
  const auto detects = [&](const auto* format) { return format->detect(input.head(), input.size()); };
  const auto found = std::find_if(all_formats.rbegin(), all_formats.rend(), detects);
  const SnapshotFormat* const format = found == all_formats.rend() ? format_named_by(input.path()) : *found;
  if (format) return *format;
  input.fail("not a snapshot in a known format; known formats: " + snapshot_titles());
}

void refuse_other_hints(const fs::path& file, const SnapshotFormat& format, const SnapshotHints& hints) {
  const char* const option = !hints.columns.empty() && !format.takes_columns ? "--columns"
                             : hints.state && !format.takes_state            ? "--state"
                             : hints.cosmological && !format.takes_cosmology ? "--cosmological"
                             : hints.hubble && !format.takes_cosmology       ? "--hubble"
                                                                             : nullptr;
  if (!option) return;
  throw UsageError(std::string{option} + " cannot be used with '" + file.string() + "', whose format is " +
                   format.title + ": leave it out");
}

/// Replaces the file's units by those that the user gave. Readers that call take_meaning() have done so already.
void take_units(Snapshot& snapshot, const SnapshotFormat& format, const SnapshotHints& hints) {
  if (!hints.units || format.takes_cosmology) return;
  snapshot.units = hints.units;
  snapshot.units_assumed = false;
  snapshot.units_file.clear();
  if (hints.units->velocity_cm_s > 0) return;
  snapshot.units->velocity_cm_s = format.units == UnitRule::galactic
                                      ? galactic_units.velocity_cm_s
                                      : gravity_units(hints.units->length_cm, hints.units->mass_g).velocity_cm_s;
}

/// Adds a note about bodies without mass, which are test particles. Throws if no body has a mass.
void note_test_particles(const fs::path& file, Snapshot& snapshot) {
  const std::vector<Vec4>& positions = snapshot.bodies.positions;
  const auto massless = std::ranges::count_if(positions, [](const Vec4& position) { return position.w == 0; });
  if (massless == 0) return;
  if (massless == std::ssize(positions)) throw std::runtime_error("'" + file.string() + "': all masses are 0");
  snapshot.notes.push_back(counted_bodies(massless) + " without mass: test particles feel gravity and exert none");
}

bool finite(const Vec4& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z) && std::isfinite(v.w);
}

/// Returns the smallest mass. Throws if a body's numbers are not all finite, as after a run with too long a time step.
float least_mass_of_finite(const fs::path& file, BodySource& bodies) {
  if (const std::optional<BodyBounds> bounds = bodies.bounds(); bounds && bounds->finite) return bounds->least_mass;
  float least = std::numeric_limits<float>::max();
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    const bool place = finite(bodies.position(i));
    least = std::min(least, bodies.position(i).w);
    if (place && finite(bodies.velocity(i))) continue;
    throw std::runtime_error("'" + file.string() + "': not written: the " + (place ? "velocity" : "position or mass") +
                             " of body " + std::to_string(i) +
                             " (counted from 0) is not finite; try a smaller dt or a larger softening");
  }
  return least;
}

/// Throws if a conversion of units moved a number out of SnapshotLimits. `least`: smallest mass before the conversion.
/// If it was above 0, no mass may have become 0.
void require_usable(const fs::path& file, BodySource& bodies, float least) {
  const auto became_massless = [&](float mass) { return mass == 0 && least > 0; };
  if (const std::optional<BodyBounds> bounds = bodies.bounds(); bounds && !became_massless(bounds->least_mass)) {
    const Vec4 velocity{bounds->fastest, 0, 0, 0};
    if (unusable({bounds->farthest, 0, 0, bounds->least_mass}, velocity).empty() &&
        unusable({bounds->farthest, 0, 0, bounds->greatest_mass}, velocity).empty()) {
      return;
    }
  }
  for (std::size_t i = 0; i < bodies.count(); ++i) {
    std::string cause = unusable(bodies.position(i), bodies.velocity(i));
    if (became_massless(bodies.position(i).w)) cause = "a mass below 1e-30, which single precision cannot work with";
    if (cause.empty()) continue;
    throw std::runtime_error("'" + file.string() + "': not written: in the units of its format, body " +
                             std::to_string(i) + " (counted from 0) has " + cause);
  }
}

struct Conversion {
  Units from, to;
  std::string remark;  // the conversion in words
};

/// Returns the conversion to units that the format permits; empty if none is needed.
std::optional<Conversion> conversion_for(UnitRule rule, const std::optional<Units>& units) {
  if (rule == UnitRule::any || (rule == UnitRule::gravity && !units)) return std::nullopt;
  const Units from = units.value_or(gravity_units(galactic_units.length_cm, galactic_units.mass_g));
  const Units to = rule == UnitRule::galactic ? galactic_units : gravity_units(from.length_cm, from.mass_g);
  constexpr double rounding = 1e-12;
  if (rule == UnitRule::galactic ? nearly_equal(from, to) : nearly_equal(from, to, rounding)) return std::nullopt;
  return Conversion{from, to, (units ? "converted to " : "units were not known: written as ") + units_text(to)};
}

/// Returns whether readers of the format assume these units, so that the file need not state them.
bool are_assumed(const Units& units, const SnapshotFormat& format) {
  return format.units == UnitRule::galactic && nearly_equal(units, galactic_units);
}

bool has_components(const std::vector<Species>& species) {
  return std::ranges::any_of(species, [](Species one) { return one != plain_species(one); });
}

/// Returns whether a body whose species is not in `allowed` has a value other than 0.
bool others_have(const std::vector<float>& values, const BodyProperties& has, std::initializer_list<Species> allowed) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Species species = has.species.empty() ? Species::dark : plain_species(has.species[i]);
    if (values[i] != 0 && std::ranges::find(allowed, species) == allowed.end()) return true;
  }
  return false;
}

/// Returns whether the format changes the order of the bodies by grouping them by species.
bool is_reordered(const SnapshotFormat& format, const std::vector<Species>& species) {
  const auto group = [&](Species one) { return format.holds.components ? one : plain_species(one); };
  return format.groups_species && !std::ranges::is_sorted(species, {}, group);
}

}  // namespace

std::span<const SnapshotFormat* const> snapshot_formats() {
  return all_formats;
}

std::string snapshot_titles() {
  return joined(all_formats, [](const SnapshotFormat* format) { return format->title; });
}

const SnapshotFormat* format_named_by(const fs::path& file) {
  const std::string ending = file.extension().string();
  if (ending.empty()) return nullptr;
  const auto found = std::ranges::find_if(all_formats, [&](const SnapshotFormat* format) {
    return std::ranges::find(format->endings, ending) != format->endings.end();
  });
  return found == all_formats.end() ? nullptr : *found;
}

ReadSnapshot read_any_snapshot(const fs::path& file, const SnapshotHints& hints, std::int64_t bytes_per_body) {
  SnapshotInput input{file, hints, bytes_per_body};
  const SnapshotFormat& format = format_of(input);
  refuse_other_hints(file, format, hints);
  Snapshot snapshot = format.read(input);
  take_units(snapshot, format, hints);
  if (const std::string cause = settle(snapshot); !cause.empty()) input.fail(cause);
  note_test_particles(file, snapshot);
  return {std::move(snapshot), &format, input.encoding()};
}

namespace {

/// Writes a snapshot. If it needs other units, convert(conversion, write) must call write(view of the converted
/// snapshot).
template <class Convert>
WrittenSnapshot write_converted(const fs::path& file, const SnapshotView& snapshot, const SnapshotOutput& output,
                                const Convert& convert) {
  const float least_mass = least_mass_of_finite(file, *snapshot.bodies);
  const SnapshotFormat* const named = output.format ? output.format : format_named_by(file);
  const SnapshotFormat& format = named ? *named : *all_formats.front();
  WrittenSnapshot written{.files = {},
                          .lost = left_out(format, snapshot),
                          .reordered = is_reordered(format, snapshot.properties.species),
                          .converted = {}};
  if (format.holds.beside && is_stream(file)) {
    if (!snapshot.properties.ids.empty()) written.lost.emplace_back("ids");
    if (snapshot.units) written.lost.emplace_back("units");
  }
  const std::optional<Conversion> conversion = conversion_for(format.units, snapshot.units);
  if (!conversion) {
    written.files = format.write(file, snapshot, output);
    return written;
  }
  written.converted = conversion->remark;
  convert(*conversion, [&](const SnapshotView& converted) {
    require_usable(file, *converted.bodies, least_mass);
    written.files = format.write(file, converted, output);
  });
  return written;
}

}  // namespace

WrittenSnapshot write_snapshot(const fs::path& file, const SnapshotView& snapshot, const SnapshotOutput& output) {
  return write_converted(file, snapshot, output, [&](const Conversion& conversion, const auto& write) {
    write(ConvertedSnapshot{snapshot, {conversion.from, conversion.to}, conversion.to}.view());
  });
}

WrittenSnapshot write_snapshot(const fs::path& file, Snapshot&& snapshot, const SnapshotOutput& output) {
  return write_converted(file, view_of(snapshot), output, [&](const Conversion& conversion, const auto& write) {
    snapshot.units = conversion.from;  // also if the units were unknown
    convert_units(snapshot, conversion.to);
    write(view_of(snapshot));
  });
}

std::string WrittenSnapshot::remark() const {
  std::string text;
  const auto add = [&](const std::string& part) { text.append(text.empty() || part.empty() ? "" : "; ").append(part); };
  if (!lost.empty()) add("not kept: " + joined(lost));
  if (reordered) add("written by species, in another order; ids are the order before");
  add(converted);
  return text;
}

std::vector<std::string> left_out(const SnapshotFormat& format, const SnapshotView& snapshot) {
  using enum Species;
  const BodyProperties& has = snapshot.properties;
  const SnapshotFormat::Holds& holds = format.holds;
  const bool by_species = holds.properties_by_species;
  const struct {
    const char* name;
    bool missing;
  } parts[] = {
      {"masses", !holds.masses},
      {"velocities", !holds.velocities},
      {"time", !holds.time && snapshot.time != 0},
      {"ids", !holds.ids && !has.ids.empty()},
      {"species", !holds.species && !has.species.empty()},
      {"disc, bulge or boundary as species", holds.species && !holds.components && has_components(has.species)},
      {"softening", !holds.softening && !has.softening.empty()},
      {"temperature", !holds.temperature && !has.temperature.empty()},
      {"temperature of bodies other than gas", by_species && others_have(has.temperature, has, {gas})},
      {"metals", !holds.metals && !has.metals.empty()},
      {"metals of bodies other than gas and stars", by_species && others_have(has.metals, has, {gas, star})},
      {"formation time", !holds.formation_time && !has.formation_time.empty()},
      {"that formation times are scale factors",
       holds.formation_time && !holds.scale_factors && has.formation_scale_factors && !has.formation_time.empty()},
      {"formation time of bodies other than stars", by_species && others_have(has.formation_time, has, {star})},
      {"units", !holds.units && snapshot.units && !snapshot.units_assumed && !are_assumed(*snapshot.units, format)},
      {"the place of the origin, so that coordinates are relative to it", !holds.frame && snapshot.frame.is_moved()},
      {"low words", !holds.low_words && snapshot.bodies->digits() == Digits::compensated}};
  std::vector<std::string> names;
  for (const auto& [name, missing] : parts) {
    if (missing) names.emplace_back(name);
  }
  return names;
}

}  // namespace orrery
