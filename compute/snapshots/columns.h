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

/// Returns the short name of a column: "m", "x", "vx", "id".
std::string_view column_name(BodyColumn column);
/// Returns the column that a file calls by this name, in upper or lower case, with or without a unit: "m", "Mass",
/// "pos_x", "x [kpc]"; BodyColumn::skip if there is none.
BodyColumn column_named(std::string_view name);
/// Returns the columns of all names of a table. W is a velocity if the table also has U and V, and otherwise a mass.
std::vector<BodyColumn> columns_named(std::span<const std::string> names);
/// Returns whether a name that no column has looks like the name of a velocity: "v_radial_x", "u", "speed".
bool may_be_velocity(std::string_view name);
/// Returns the names of all columns, for a message.
std::string known_columns();
/// Reads columns such as "x,y,z,vx,vy,vz,m"; "-" skips one. Throws UsageError, which begins with `option`, for an
/// unknown name, a column given twice, or a missing coordinate. z, and then vz, may be missing: all bodies are in the
/// plane z = 0.
std::vector<BodyColumn> parse_columns(std::string_view option, std::string_view text);
/// Returns what is missing or given twice, such as "there is no column y"; empty if a table can have these columns.
std::string fault_of_columns(std::span<const BodyColumn> columns);

/// Returns the columns that a table needs to hold everything in this snapshot.
std::vector<BodyColumn> columns_of(const SnapshotView& snapshot);

/// One body's values by column.
struct TableRow {
  std::array<double, column_count> values{};
  std::uint64_t id = 0;  ///< not in `values`: a double does not hold each

  double& operator[](BodyColumn column) { return values[static_cast<std::size_t>(column)]; }
  double operator[](BodyColumn column) const { return values[static_cast<std::size_t>(column)]; }
};

/// Returns whether a column needs doubles in a table of this snapshot, as coordinates far from the origin do.
bool is_wide(BodyColumn column, const SnapshotView& snapshot);

/// Returns a body's values; the species is its number in the enumeration.
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
