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

/// Quantity in one column of a table of bodies. `skip`: a column that is not read.
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
inline constexpr std::size_t column_count = 13;  // without `skip`

/// Returns the short name of a column: "m", "x", "vx", "id".
std::string_view column_name(BodyColumn column);
/// Returns the column for a name in a file, such as "m", "Mass", "pos_x" or "x [kpc]". Ignores case and units. Returns
/// BodyColumn::skip for an unknown name.
BodyColumn column_named(std::string_view name);
/// Returns the column of each name in a table's heading. W is a velocity if the table also has U and V, else a mass.
std::vector<BodyColumn> columns_named(std::span<const std::string> names);
/// Returns whether an unknown column name looks like a velocity, such as "v_radial_x", "u" or "speed".
bool may_be_velocity(std::string_view name);
/// Returns the names of all columns, for a message.
std::string known_columns();
/// Parses a list of columns such as "x,y,z,vx,vy,vz,m"; "-" skips a column. Without z, vz may be missing too: all
/// bodies are in the plane z = 0. Throws UsageError, which begins with `option`, for an unknown name, a repeated column
/// or a missing coordinate.
std::vector<BodyColumn> parse_columns(std::string_view option, std::string_view text);
/// Returns why a table cannot have these columns, such as "there is no column y"; empty if it can.
std::string fault_of_columns(std::span<const BodyColumn> columns);

/// Returns the columns that a table needs to hold everything in this snapshot.
std::vector<BodyColumn> columns_of(const SnapshotView& snapshot);

/// Values of one body, indexed by column.
struct TableRow {
  std::array<double, column_count> values{};
  std::uint64_t id = 0;  ///< not in `values`, because a double cannot represent every ID

  double& operator[](BodyColumn column) { return values[static_cast<std::size_t>(column)]; }
  double operator[](BodyColumn column) const { return values[static_cast<std::size_t>(column)]; }
};

/// Returns whether a column must be stored as double: positions or velocities of a snapshot whose frame is moved.
bool is_wide(BodyColumn column, const SnapshotView& snapshot);

/// Returns the values of body number `body`. Its species is the enumerator's number.
TableRow table_row(const SnapshotView& snapshot, std::size_t body);

/// Appends bodies with the given columns to a snapshot.
class TableBodies {
 public:
  TableBodies(Snapshot& snapshot, std::span<const BodyColumn> columns);

  /// Reserves memory for this number of bodies.
  void reserve(std::size_t bodies);
  /// Appends a body. Returns why it cannot be used, such as "a mass below 0"; empty if it was appended.
  std::string append(const TableRow& row);
  /// Completes the snapshot after the last body: sets equal masses if the table has none, and notes what was missing.
  void finish();

 private:
  bool has(BodyColumn column) const { return present_[static_cast<std::size_t>(column)]; }

  Snapshot& snapshot_;
  std::array<bool, column_count> present_{};
};

}  // namespace orrery
