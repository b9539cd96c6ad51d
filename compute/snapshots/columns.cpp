#include "compute/snapshots/columns.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "compute/core/error.h"
#include "compute/snapshots/snapshot.h"
#include "compute/snapshots/snapshot_input.h"
#include "compute/snapshots/text_lines.h"

namespace orrery {
namespace {

struct ColumnNames {
  BodyColumn column;
  std::string_view written;               // name in files that this program writes, and in messages
  std::array<std::string_view, 16> read;  // names accepted in files, in the form that plain_name() returns
};
constexpr std::array<ColumnNames, column_count> all_columns{{
    {BodyColumn::mass, "m", {"m", "mass", "masses", "w", "m0", "mass0", "particlemass", "bodymass"}},
    {BodyColumn::x,
     "x",
     {"x", "posx", "px", "x0", "rx", "positionx", "positionsx", "xpos", "xposition", "coordx", "coordinatex",
      "coordinatesx", "xcoordinate", "points0", "positions0", "coordinates0"}},
    {BodyColumn::y,
     "y",
     {"y", "posy", "py", "y0", "ry", "positiony", "positionsy", "ypos", "yposition", "coordy", "coordinatey",
      "coordinatesy", "ycoordinate", "points1", "positions1", "coordinates1"}},
    {BodyColumn::z,
     "z",
     {"z", "posz", "pz", "z0", "rz", "positionz", "positionsz", "zpos", "zposition", "coordz", "coordinatez",
      "coordinatesz", "zcoordinate", "points2", "positions2", "coordinates2"}},
    {BodyColumn::vx,
     "vx",
     {"vx", "velx", "velocityx", "velocitiesx", "xvel", "xvelocity", "xdot", "dxdt", "vx0", "velocity0", "velocities0",
      "vel0"}},
    {BodyColumn::vy,
     "vy",
     {"vy", "vely", "velocityy", "velocitiesy", "yvel", "yvelocity", "ydot", "dydt", "vy0", "velocity1", "velocities1",
      "vel1"}},
    {BodyColumn::vz,
     "vz",
     {"vz", "velz", "velocityz", "velocitiesz", "zvel", "zvelocity", "zdot", "dzdt", "vz0", "velocity2", "velocities2",
      "vel2"}},
    {BodyColumn::id, "id", {"id", "ids", "iord", "particleid", "particleids", "pid"}},
    {BodyColumn::species, "species", {"species", "type", "ptype", "particletype"}},
    {BodyColumn::softening, "softening", {"softening", "eps", "epsilon", "softeninglength"}},
    {BodyColumn::temperature, "temperature", {"temperature", "temp"}},
    {BodyColumn::metals, "metals", {"metals", "metallicity"}},
    {BodyColumn::formation_time, "formation_time", {"formationtime", "tform"}},
}};

/// Properties that are one float per body.
constexpr std::array<std::pair<BodyColumn, std::vector<float> BodyProperties::*>, 4> float_columns{{
    {BodyColumn::softening, &BodyProperties::softening},
    {BodyColumn::temperature, &BodyProperties::temperature},
    {BodyColumn::metals, &BodyProperties::metals},
    {BodyColumn::formation_time, &BodyProperties::formation_time},
}};

bool contains(std::span<const BodyColumn> columns, BodyColumn column) {
  return std::ranges::find(columns, column) != columns.end();
}

}  // namespace

std::string known_columns() {
  std::string names;
  for (const ColumnNames& known : all_columns) names.append(known.written).append(", ");
  return names + "- (skips a column)";
}

std::string_view column_name(BodyColumn column) {
  return column == BodyColumn::skip ? "-" : all_columns[static_cast<std::size_t>(column)].written;
}

BodyColumn column_named(std::string_view name) {
  std::string unit;
  const std::string plain = plain_name(name, unit);
  for (const ColumnNames& known : all_columns) {
    for (const std::string_view known_name : known.read) {
      if (!known_name.empty() && plain == known_name) return known.column;
    }
  }
  return BodyColumn::skip;
}

std::vector<BodyColumn> columns_named(std::span<const std::string> names) {
  using enum BodyColumn;
  std::vector<BodyColumn> columns(names.size());
  std::ranges::transform(names, columns.begin(), [](const std::string& name) { return column_named(name); });
  constexpr std::array<std::pair<std::string_view, BodyColumn>, 3> uvw{{{"u", vx}, {"v", vy}, {"w", vz}}};
  const auto place_of = [&](std::string_view letter) {
    const auto found = std::ranges::find_if(names, [&](const std::string& name) {
      std::string unit;
      return plain_name(name, unit) == letter;
    });
    return static_cast<std::size_t>(found - names.begin());
  };
  for (const auto& [letter, column] : uvw) {
    if (place_of(letter) == names.size() || contains(columns, column)) return columns;
  }
  for (const auto& [letter, column] : uvw) columns[place_of(letter)] = column;
  return columns;
}

bool may_be_velocity(std::string_view name) {
  std::string unit;
  const std::string plain = plain_name(name, unit);
  for (const std::string_view word : {"vel", "speed", "dot"}) {
    if (plain.find(word) != plain.npos) return true;
  }
  for (const std::string_view per_time : {"/s", "_s", "kms", "yr"}) {
    if (unit.find(per_time) != unit.npos) return true;
  }
  return (plain.starts_with('v') &&
          (plain.find_first_of("xyz") < 3 || plain.find_last_of("xyz") + 1 == plain.size())) ||
         plain == "u" || plain == "v" || plain == "vr";
}

std::string fault_of_columns(std::span<const BodyColumn> columns) {
  using enum BodyColumn;
  const auto has = [&](BodyColumn column) { return contains(columns, column); };
  const bool moves = has(vx) || has(vy) || has(vz), space = has(z) || has(vz);
  const struct {
    BodyColumn column;
    bool needed;
  } needs[] = {{x, true}, {y, true}, {z, space}, {vx, moves}, {vy, moves}, {vz, moves && space}};
  for (const auto& [column, needed] : needs) {
    if (needed && !has(column)) return "there is no column " + std::string{column_name(column)};
  }
  for (const BodyColumn column : columns) {
    if (column != skip && std::ranges::count(columns, column) > 1) {
      return "the column " + std::string{column_name(column)} + " is there twice";
    }
  }
  return {};
}

std::vector<BodyColumn> parse_columns(std::string_view option, std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError(std::string{option} + " cannot be '" + std::string{text} + "': " + why);
  };
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(", ", begin), text.size());
    names.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  std::vector<BodyColumn> columns = columns_named(names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (columns[i] == BodyColumn::skip && names[i] != "-") {
      refuse("'" + names[i] + "' is no column; columns: " + known_columns());
    }
  }
  if (const std::string fault = fault_of_columns(columns); !fault.empty()) refuse(fault);
  return columns;
}

std::vector<BodyColumn> columns_of(const SnapshotView& snapshot) {
  std::vector<BodyColumn> columns{BodyColumn::mass, BodyColumn::x,  BodyColumn::y, BodyColumn::z,
                                  BodyColumn::vx,   BodyColumn::vy, BodyColumn::vz};
  if (!snapshot.properties.ids.empty()) columns.push_back(BodyColumn::id);
  if (!snapshot.properties.species.empty()) columns.push_back(BodyColumn::species);
  for (const auto& [column, values] : float_columns) {
    const bool common = column == BodyColumn::softening && snapshot.softening > 0;
    if (common || !(snapshot.properties.*values).empty()) columns.push_back(column);
  }
  return columns;
}

bool is_wide(BodyColumn column, const SnapshotView& snapshot) {
  const bool place = column == BodyColumn::x || column == BodyColumn::y || column == BodyColumn::z;
  const bool speed = column == BodyColumn::vx || column == BodyColumn::vy || column == BodyColumn::vz;
  return (place && snapshot.frame.position != Vec3d{}) || (speed && snapshot.frame.velocity != Vec3d{});
}

TableRow table_row(const SnapshotView& snapshot, std::size_t body) {
  const float mass = snapshot.bodies->position(body).w;
  const Vec3d p = snapshot.position(body), v = snapshot.velocity(body);
  const BodyProperties& has = snapshot.properties;
  TableRow row{{mass, p.x, p.y, p.z, v.x, v.y, v.z}, has.ids.empty() ? body : has.ids[body]};
  row[BodyColumn::species] = static_cast<double>(has.species.empty() ? Species::dark : has.species[body]);
  row[BodyColumn::softening] = snapshot.softening;
  for (const auto& [column, values] : float_columns) {
    if (!(has.*values).empty()) row[column] = (has.*values)[body];
  }
  return row;
}

TableBodies::TableBodies(Snapshot& snapshot, std::span<const BodyColumn> columns) : snapshot_{snapshot} {
  snapshot.wide.in_double = true;
  for (const BodyColumn column : columns) {
    if (column != BodyColumn::skip) present_[static_cast<std::size_t>(column)] = true;
  }
}

void TableBodies::reserve(std::size_t bodies) {
  snapshot_.bodies.positions.reserve(bodies);
  snapshot_.bodies.velocities.reserve(bodies);
  if (has(BodyColumn::id)) snapshot_.properties.ids.reserve(bodies);
  if (has(BodyColumn::species)) snapshot_.properties.species.reserve(bodies);
  for (const auto& [column, values] : float_columns) {
    if (has(column)) (snapshot_.properties.*values).reserve(bodies);
  }
}

std::string TableBodies::append(const TableRow& row) {
  const auto value = [&](BodyColumn column) { return single_precision(row[column]); };
  const Vec3d position{row[BodyColumn::x], row[BodyColumn::y], row[BodyColumn::z]};
  const Vec3d velocity{row[BodyColumn::vx], row[BodyColumn::vy], row[BodyColumn::vz]};
  const double mass = has(BodyColumn::mass) ? row[BodyColumn::mass] : 1;
  if (std::string cause = no_body(position, mass, velocity); !cause.empty()) return cause;
  const double species = row[BodyColumn::species];
  if (!(species >= 0 && species < static_cast<double>(species_count)) || species != std::floor(species)) {
    return "a species that is none of 0 to 5";
  }
  for (const auto& [column, values] : float_columns) {
    if (!has(column)) continue;
    if (const std::string cause = unusable_property(row[column]); !cause.empty()) {
      return "a " + std::string{column_name(column)} + " that is " + cause;
    }
  }
  if (has(BodyColumn::softening) && value(BodyColumn::softening) < 0) return "a softening below 0";
  append_body(snapshot_, position, mass, velocity);
  if (has(BodyColumn::id)) snapshot_.properties.ids.push_back(row.id);
  if (has(BodyColumn::species)) snapshot_.properties.species.push_back(static_cast<Species>(species));
  for (const auto& [column, values] : float_columns) {
    if (has(column)) (snapshot_.properties.*values).push_back(value(column));
  }
  return {};
}

void TableBodies::finish() {
  std::string skipped;
  for (const std::string& column : snapshot_.unread) {
    const std::size_t name = column.find(' ') + 1;
    if (may_be_velocity(std::string_view{column}.substr(name))) skipped += (skipped.empty() ? "" : ", ") + column;
  }
  if (!has(BodyColumn::vx)) {
    snapshot_.notes.push_back(skipped.empty()
                                  ? "no velocities in the file: all bodies are at rest"
                                  : "velocities are not read, and all bodies are at rest, although the file has " +
                                        skipped + ": its names are not known for velocities");
  }
  if (!has(BodyColumn::z)) snapshot_.notes.emplace_back("no z in the file: all bodies lie in the plane z = 0");
  if (has(BodyColumn::mass)) return;
  give_equal_masses(snapshot_);
}

}  // namespace orrery
