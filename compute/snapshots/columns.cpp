#include "compute/snapshots/columns.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>

#include "compute/core/error.h"
#include "compute/snapshots/snapshot.h"
#include "compute/snapshots/snapshot_input.h"
#include "compute/snapshots/snapshot_view.h"

namespace orrery {
namespace {

struct ColumnNames {
  BodyColumn column;
  std::array<std::string_view, 5> names;  // the first is written
};
constexpr std::array<ColumnNames, column_count> all_columns{{
    {BodyColumn::mass, {"m", "mass", "masses", "w"}},
    {BodyColumn::x, {"x", "pos_x", "px", "x0"}},
    {BodyColumn::y, {"y", "pos_y", "py", "y0"}},
    {BodyColumn::z, {"z", "pos_z", "pz", "z0"}},
    {BodyColumn::vx, {"vx", "vel_x", "v_x", "velocity_x"}},
    {BodyColumn::vy, {"vy", "vel_y", "v_y", "velocity_y"}},
    {BodyColumn::vz, {"vz", "vel_z", "v_z", "velocity_z"}},
    {BodyColumn::id, {"id", "ids", "iord", "particle_id"}},
    {BodyColumn::species, {"species", "type"}},
    {BodyColumn::softening, {"softening", "eps"}},
    {BodyColumn::temperature, {"temperature", "temp"}},
    {BodyColumn::metals, {"metals", "metallicity"}},
    {BodyColumn::formation_time, {"formation_time", "tform"}},
}};

/// The properties that are plain numbers.
constexpr std::array<std::pair<BodyColumn, std::vector<float> BodyProperties::*>, 4> float_columns{{
    {BodyColumn::softening, &BodyProperties::softening},
    {BodyColumn::temperature, &BodyProperties::temperature},
    {BodyColumn::metals, &BodyProperties::metals},
    {BodyColumn::formation_time, &BodyProperties::formation_time},
}};

std::string known_columns() {
  std::string names;
  for (const ColumnNames& known : all_columns) names.append(known.names.front()).append(", ");
  return names + "- (skips a column)";
}

bool contains(std::span<const BodyColumn> columns, BodyColumn column) {
  return std::ranges::find(columns, column) != columns.end();
}

}  // namespace

std::string_view column_name(BodyColumn column) {
  return column == BodyColumn::skip ? "-" : all_columns[static_cast<std::size_t>(column)].names.front();
}

BodyColumn column_named(std::string_view name) {
  std::string lower{name};
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const ColumnNames& known : all_columns) {
    for (const std::string_view known_name : known.names) {
      if (!known_name.empty() && lower == known_name) return known.column;
    }
  }
  return BodyColumn::skip;
}

std::string fault_of_columns(std::span<const BodyColumn> columns) {
  const auto missing = [&](BodyColumn column) { return "there is no column " + std::string{column_name(column)}; };
  for (const BodyColumn column : {BodyColumn::x, BodyColumn::y, BodyColumn::z}) {
    if (!contains(columns, column)) return missing(column);
  }
  const bool moves =
      contains(columns, BodyColumn::vx) || contains(columns, BodyColumn::vy) || contains(columns, BodyColumn::vz);
  for (const BodyColumn column : {BodyColumn::vx, BodyColumn::vy, BodyColumn::vz}) {
    if (moves && !contains(columns, column)) return missing(column);
  }
  for (const BodyColumn column : columns) {
    if (column != BodyColumn::skip && std::ranges::count(columns, column) > 1) {
      return "the column " + std::string{column_name(column)} + " is there twice";
    }
  }
  return {};
}

std::vector<BodyColumn> parse_columns(std::string_view option, std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError(std::string{option} + " cannot be '" + std::string{text} + "': " + why);
  };
  std::vector<BodyColumn> columns;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(", ", begin), text.size());
    const std::string_view name = text.substr(begin, end - begin);
    const BodyColumn column = name == "-" ? BodyColumn::skip : column_named(name);
    if (column == BodyColumn::skip && name != "-") {
      refuse("'" + std::string{name} + "' is no column; columns: " + known_columns());
    }
    columns.push_back(column);
    begin = end + 1;
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
  if (!has(BodyColumn::vx)) snapshot_.notes.emplace_back("no velocities in the file: all bodies are at rest");
  if (has(BodyColumn::mass)) return;
  give_equal_masses(snapshot_);
}

}  // namespace orrery
