#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct Snapshot;
struct SnapshotView;

/// Quantity that a column of a table holds for each body. `skip` holds something else.
enum class BodyColumn : std::uint8_t {
  mass,
  x,
  y,
  z,
  vx,
  vy,
  vz,
  id,
  species,
  softening,
  temperature,
  metals,
  formation_time,
  skip
};
inline constexpr std::size_t column_count = 13;  // without skip

/// "m", "x", "vx", "id"
std::string_view column_name(BodyColumn column);
/// The column of a name in a file, in either case, with or without a unit: "m", "Mass", "pos_x", "x [kpc]"; skip if it
/// is none of them.
BodyColumn column_named(std::string_view name);
/// The columns of all names of a table. W beside U and V is a velocity, as astronomers write it; alone, it is a mass.
std::vector<BodyColumn> columns_named(std::span<const std::string> names);
/// Whether a name that is none of a column looks like that of a velocity: "v_radial_x", "u", "speed".
bool may_be_velocity(std::string_view name);
/// The names of all columns, for a message.
std::string known_columns();
/// "x,y,z,vx,vy,vz,m" as columns; "-" skips one. Throws UsageError, which begins with `option`, for an unknown name, a
/// column given twice, or a missing coordinate. z, and then vz, may be missing: all bodies are in the plane z = 0.
std::vector<BodyColumn> parse_columns(std::string_view option, std::string_view text);
/// Returns what is missing or given twice, such as "there is no column y"; empty if a table can have these columns.
std::string fault_of_columns(std::span<const BodyColumn> columns);

/// The columns that a table of this snapshot needs to hold everything.
std::vector<BodyColumn> columns_of(const SnapshotView& snapshot);

/// One body's values by column.
struct TableRow {
  std::array<double, column_count> values{};
  std::uint64_t id = 0;  ///< not in `values`: a double does not hold each

  double& operator[](BodyColumn column) { return values[static_cast<std::size_t>(column)]; }
  double operator[](BodyColumn column) const { return values[static_cast<std::size_t>(column)]; }
};

/// Whether the column needs a double in a table of this snapshot: coordinates far from the origin.
bool is_wide(BodyColumn column, const SnapshotView& snapshot);

/// A body's values; the species is its number in the enumeration.
TableRow table_row(const SnapshotView& snapshot, std::size_t body);

/// Appends bodies with the given columns to a snapshot.
class TableBodies {
 public:
  TableBodies(Snapshot& snapshot, std::span<const BodyColumn> columns);

  /// Reserves memory for this many.
  void reserve(std::size_t bodies);
  /// Returns why the body cannot be used, such as "a mass below 0"; empty if it was appended.
  std::string append(const TableRow& row);
  /// Call after the last body: gives equal masses if the table has none, and notes what was missing.
  void finish();

 private:
  bool has(BodyColumn column) const { return present_[static_cast<std::size_t>(column)]; }

  Snapshot& snapshot_;
  std::array<bool, column_count> present_{};
};

}  // namespace orrery
