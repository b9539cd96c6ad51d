#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>

#include "app/cli/option_groups.h"
#include "app/cli/verb.h"
#include "app/text/console.h"
#include "app/text/parse_value.h"
#include "app/text/table.h"
#include "compute/core/atomic_file.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/text.h"
#include "compute/diagnostics/structure.h"
#include "compute/scenes/natural_scales.h"
#include "compute/snapshots/snapshot_format.h"
#include "compute/snapshots/units.h"

namespace orrery {
namespace {

struct Span {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  std::string text() const {
    return low == high ? fmt::format("{:.6g}", low) : fmt::format("{:.6g} to {:.6g}", low, high);
  }
};

/// Returns the value in a physical unit, in parentheses; empty if units are not known.
std::string physical(const Snapshot& snapshot, double value, double Units::*unit, std::string (*text)(double)) {
  if (!snapshot.units || !(value > 0)) return {};
  return " (" + text(value * (*snapshot.units).*unit) + ")";
}

std::string bodies_text(const Snapshot& snapshot) {
  std::string text = format_count(snapshot.bodies.count());
  const std::vector<Species>& species = snapshot.properties.species;
  if (species.empty()) return text + " dark";
  for (std::size_t i = 0; i < species_count; ++i) {
    const auto number = std::ranges::count(species, static_cast<Species>(i));
    if (number == 0) continue;
    text += fmt::format("{}{} {}", text.find(':') == std::string::npos ? ": " : ", ", format_count(number),
                        species_name(static_cast<Species>(i)));
  }
  return text;
}

std::string units_row(const ReadSnapshot& read) {
  if (!read.snapshot.units) return "not known, so that G = 1; --units names them";
  const std::string text = units_text(*read.snapshot.units);
  if (!read.snapshot.units_file.empty()) return text + ", from " + read.snapshot.units_file;
  return read.snapshot.units_assumed ? text + ": not in the file, but what its readers assume; --units names others"
                                     : text;
}

/// Returns how many ids repeat an earlier one.
std::size_t repeated(std::vector<std::uint64_t> ids) {
  std::ranges::sort(ids);
  std::size_t number = 0;
  for (std::size_t i = 1; i < ids.size(); ++i) number += ids[i] == ids[i - 1] ? 1 : 0;
  return number;
}

std::string ids_text(const std::vector<std::uint64_t>& ids, std::size_t again) {
  if (ids.empty()) return "not in the file";
  const auto [low, high] = std::ranges::minmax(ids);
  const std::string unique = again == 0 ? "all different" : fmt::format("{} of them again", again);
  return fmt::format("{} to {}, {}", low, high, unique);
}

/// Computes the virial ratio in double precision, if the file has doubles. Uses the file's softening; if there
/// are several, the smallest.
VirialRatio virial_of(Snapshot snapshot) {
  take_low_words(snapshot);
  const std::vector<float>& lengths = snapshot.properties.softening;
  const double softening = lengths.empty() ? snapshot.softening : *std::ranges::min_element(lengths);
  double gravity = 1;
  if (const auto& units = snapshot.units) {
    gravity = std::pow(gravity_units(units->length_cm, units->mass_g).velocity_cm_s / units->velocity_cm_s, 2);
  }
  return virial_ratio(snapshot.bodies, gravity, softening);
}

std::string virial_text(const Snapshot& snapshot, const VirialRatio& virial) {
  if (snapshot.bodies.count() == 1) return "not defined for one body";
  if (!std::isfinite(virial.ratio)) return "none: no two bodies attract each other";
  if (virial.exact()) return fmt::format("{:.3g} (2 K / |W|, of all pairs)", virial.ratio);
  return fmt::format("{:.3g} \u00b1 {:.1g} (2 K / |W|; all pairs of the {} heaviest bodies, the others from {} bodies)",
                     virial.ratio, virial.error, format_count(virial.heavy), format_count(virial.sampled));
}

const char* state_at(double ratio) {
  if (ratio == 0) return "at rest: it will collapse";
  if (ratio < 0.8) return "cold: it will contract";
  if (ratio <= 1.25) return "near virial equilibrium";
  return ratio < 2 ? "hot: it will expand" : "not bound: it will disperse";
}

/// Returns the verdict on equilibrium, or why the virial ratio does not allow one.
std::string state_of(const Snapshot& snapshot, const VirialRatio& virial) {
  if (snapshot.bodies.count() < 2 || !std::isfinite(virial.ratio)) {
    return "no verdict: no two bodies attract each other";
  }
  if (snapshot.part) return "no verdict: other files of its snapshot are not read";
  if (snapshot.box != Vec3d{}) return "no verdict: it fills a periodic box, whose images attract it, too";
  const std::string_view low = state_at(std::max(virial.ratio - virial.error, 0.0)),
                         high = state_at(virial.ratio + virial.error);
  if (virial.ratio > 0 && low != high) return "no verdict: the error bar of the virial ratio includes a limit";
  return state_at(virial.ratio);
}

/// Returns the softening and dt that `run` would choose, in units with G = 1.
std::string suitable_scales(Snapshot snapshot) {
  convert_to_gravity_units(snapshot);
  take_low_words(snapshot);
  const NaturalScales scales = natural_scales(snapshot.bodies, softening_in(snapshot));
  const std::string coarse = coarse_softening(scales.softening, scales.smallest_orbit);
  const std::string text = scales.softening_text(snapshot.units) + "; " + scales.time_step_text(snapshot.units);
  return coarse.empty() ? text : text + "; " + coarse;
}

void add_ranges(Table& table, const Snapshot& snapshot) {
  std::array<Span, 3> place;
  std::array<double, 3> centre{};
  Span speed, mass, softening;
  double total = 0;
  for (std::size_t i = 0; i < snapshot.bodies.positions.size(); ++i) {
    const Vec4 &p = snapshot.bodies.positions[i], &v = snapshot.bodies.velocities[i];
    const std::array<double, 3> at{p.x, p.y, p.z};
    for (std::size_t k = 0; k < 3; ++k) {
      place[k].add(at[k]);
      centre[k] += p.w * at[k];
    }
    speed.add(std::hypot(v.x, v.y, v.z));
    mass.add(p.w);
    total += p.w;
  }
  for (const float length : snapshot.properties.softening) softening.add(length);
  table.add({"Total mass", fmt::format("{:.6g}", total) + physical(snapshot, total, &Units::mass_g, mass_value)});
  table.add({"Masses", mass.text()});
  for (std::size_t k = 0; k < 3; ++k) table.add({std::string(1, static_cast<char>('x' + k)), place[k].text()});
  table.add({"Centre of mass",
             fmt::format("{:.4g}, {:.4g}, {:.4g}", centre[0] / total, centre[1] / total, centre[2] / total)});
  if (snapshot.frame.is_moved()) table.add({"Origin", frame_text(snapshot.frame)});
  const double extent = place[0].high - place[0].low;
  table.add(
      {"Width along x", fmt::format("{:.6g}", extent) + physical(snapshot, extent, &Units::length_cm, length_value)});
  table.add({"Speeds", speed.text() + physical(snapshot, speed.high, &Units::velocity_cm_s, velocity_value)});
  if (snapshot.properties.softening.empty() && snapshot.softening > 0) softening.add(snapshot.softening);
  table.add({"Softening", softening.high > 0 ? softening.text() : "not in the file"});
}

/// `orrery inspect`: reports the contents of a snapshot, and draws its bodies.
struct InspectVerb final : Verb {
  void declare(CommandLine& line) override {
    line.add_file("FILE", "a file of bodies: " + snapshot_titles(), file);
    add_hints(line, hints);
    line.add("--picture", "FILE.png", "also draws the bodies", [this](const std::string& text) {
      picture = parse_picture_name("--picture", file_name("--picture", text));
    });
    add_force(line, existing);
    add_table_flags(line, flags);
    line.add_footer(
        "Examples:\n"
        "  orrery inspect galaxy.bin\n"
        "  orrery inspect snapshot_010.hdf5 --picture galaxy.png\n"
        "\nThe exit status is 1 if the file is damaged or cannot be used.");
  }

  void finish(const CommandLine& /*line*/) override {
    if (file.empty()) throw UsageError("'orrery inspect' needs a file: orrery inspect FILE");
  }

  int run(const Program& program) const override {
    RunFiles files{.inputs = {{"FILE", file}}, .outputs = {}, .existing = existing};
    add_named(files.outputs, "--picture", picture);
    prepare_files(files);
    const ReadSnapshot read = read_any_snapshot(file, hints);
    const Snapshot& snapshot = read.snapshot;
    const std::size_t again = repeated(snapshot.properties.ids);
    const VirialRatio virial = virial_of(snapshot);
    console::print(
        "{}: {}, {}, {}, {}{}\n\n", file, read.format->title, snapshot.part ? "a part of its snapshot" : "complete",
        counted_bodies(snapshot.bodies.count()), state_of(snapshot, virial),
        again == 0 ? ""
                   : fmt::format("; {} not unique", counted(static_cast<std::int64_t>(again), "id is", "ids are")));

    Table table{"lt", {"", ""}};
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(file));
    table.add({"Format", fmt::format("{}{}{}, {}", read.format->title, read.encoding.empty() ? "" : ", ", read.encoding,
                                     counted(bytes, "byte"))});
    table.add({"Bodies", bodies_text(snapshot)});
    const double seconds = snapshot.units ? snapshot.time * snapshot.units->time_s() : 0;
    table.add({"Time", fmt::format("{:.6g}", snapshot.time) + (seconds > 0 ? " (" + time_value(seconds) + ")" : "")});
    table.add({"Units", units_row(read)});
    if (snapshot.units) table.add({"Unit of time", time_text(snapshot.units->time_s())});
    add_ranges(table, snapshot);
    table.add({"Ids", ids_text(snapshot.properties.ids, again)});
    table.add({"Virial ratio", virial_text(snapshot, virial)});
    table.add({"A run uses", suitable_scales(snapshot)});
    if (!snapshot.unread.empty()) table.add({"Not read", joined(snapshot.unread)});
    std::string label = "Notes";
    for (const std::string& note : snapshot.notes) table.add({std::exchange(label, ""), note});
    console::show(table.text(stdout_style(flags)));

    if (picture.empty()) return 0;
    const ReportPicture drawn = program.graphics.picture(program.kernels, {.scene = {}, .file = file, .hints = hints},
                                                         {640, 480}, render::Theme::dark, {});
    if (drawn.png.empty()) throw std::runtime_error(drawn.words);
    console::print("\nwrote {}\n", write_file(picture, drawn.png, existing));
    return 0;
  }

  std::string file;
  SnapshotHints hints;
  std::string picture;  // name of a PNG file; empty: no picture
  Existing existing = Existing::keep;
  TableFlags flags;
};

}  // namespace

extern constinit const VerbInfo inspect_verb{"inspect", "reports what a file of bodies holds",
                                             create_verb<InspectVerb>};

}  // namespace orrery
