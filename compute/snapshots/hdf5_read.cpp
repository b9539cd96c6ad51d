#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "compute/snapshots/gadget_header.h"
#include "compute/snapshots/hdf5_object.h"
#include "compute/snapshots/hdf5_properties.h"
#include "compute/snapshots/hdf5_snapshot.h"
#include "compute/snapshots/snapshot_input.h"

namespace orrery {
namespace {

constexpr hsize_t rows_per_block = 65536;
constexpr double most_compression = 1100;  // deflate reaches 1032

std::string type_name(std::size_t type) {
  return "PartType" + std::to_string(type);
}

/// A number in an attribute of one of these names.
std::optional<double> first_attribute(hid_t in, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    if (const auto value = attribute_number(in, name)) return value;
  }
  return std::nullopt;
}

/// Those of GADGET, AREPO or SWIFT.
std::optional<Units> units_in(hid_t group) {
  const auto length = first_attribute(group, {"UnitLength_in_cm", "Unit length in cgs (U_L)"});
  const auto mass = first_attribute(group, {"UnitMass_in_g", "Unit mass in cgs (U_M)"});
  const auto velocity = attribute_number(group, "UnitVelocity_in_cm_per_s");
  const auto time = first_attribute(group, {"UnitTime_in_s", "Unit time in cgs (U_t)"});
  if (!length || !mass || (!velocity && !time)) return std::nullopt;
  const Units units{*length, *mass, velocity ? *velocity : *length / *time};
  return units.usable() ? std::optional{units} : std::nullopt;
}

class Hdf5Reader {
 public:
  explicit Hdf5Reader(SnapshotInput& input)
      : input_{input}, file_{H5Fopen(input.path().c_str(), H5F_ACC_RDONLY, unlocked_access().id()), H5Fclose} {
    if (!file_) input_.fail("not an HDF5 file, or a damaged one");
  }

  Snapshot read() {
    read_header();
    read_units();
    check_sizes();
    reserve();
    for (std::size_t type = 0; type < species_count; ++type) {
      if (header_.counts[type] > 0) read_type(type);
    }
    take_gadget_header(header_, snapshot_);
    if (ids_missing_) snapshot_.properties.ids = {};
    if (double_) snapshot_.notes.emplace_back("double precision in the file, rounded to single");
    drop_empty();
    if (!unread_.empty()) snapshot_.notes.push_back("not read: " + unread_);
    return std::move(snapshot_);
  }

 private:
  [[noreturn]] void fail(const std::string& field, const std::string& cause) const {
    input_.fail(field + ": " + cause);
  }

  void read_header() {
    const Hdf5Object header = open_group(file_.id(), "Header");
    if (!header) input_.fail("an HDF5 file, but no GADGET snapshot: it has no group Header");
    const std::vector<double> counts = attribute_numbers(header.id(), "NumPart_ThisFile", 16);
    if (counts.size() < species_count) fail("Header/NumPart_ThisFile", "not 6 numbers");
    const std::vector<double> masses = attribute_numbers(header.id(), "MassTable", 16);
    for (std::size_t type = 0; type < counts.size(); ++type) {
      constexpr double most = 1e15;
      if (!(counts[type] >= 0 && counts[type] <= most)) fail("Header/NumPart_ThisFile", "a number that is no count");
      if (type < species_count) header_.counts[type] = static_cast<std::uint64_t>(counts[type]);
      if (type >= species_count && counts[type] > 0) note_unread(type_name(type));
      if (type < std::min(masses.size(), species_count)) header_.masses[type] = masses[type];
    }
    header_.time = attribute_number(header.id(), "Time").value_or(0);
    header_.redshift = attribute_number(header.id(), "Redshift").value_or(0);
    header_.box_size = attribute_number(header.id(), "BoxSize").value_or(0);
    header_.omega0 = attribute_number(header.id(), "Omega0").value_or(0);
    header_.hubble = attribute_number(header.id(), "HubbleParam").value_or(1);
    const double files = first_attribute(header.id(), {"NumFilesPerSnapshot"}).value_or(1);
    header_.files = files > 1 && files < 1e9 ? static_cast<std::int64_t>(files) : 1;
    check_gadget_header(input_, header_, "Header: ");
  }

  void read_units() {
    for (const char* const name : {"Units", "Header", "Parameters"}) {
      const Hdf5Object group = open_group(file_.id(), name);
      if (group) snapshot_.units = units_in(group.id());
      if (snapshot_.units) return;
    }
  }

  void note_unread(const std::string& name) {
    constexpr std::size_t longest = 200;
    if (unread_.size() > longest) return;
    unread_.append(unread_.empty() ? "" : ", ").append(unread_.size() + name.size() > longest ? "..." : name);
  }

  /// Opens a dataset of `columns` numbers per body. None if there is no such one; fails if it has another shape, or if
  /// the file cannot hold its numbers.
  Hdf5Object dataset(hid_t group, std::size_t type, const char* name, hsize_t columns) {
    Hdf5Object data = open_dataset(group, name);
    if (!data) return data;
    const std::string field = type_name(type) + '/' + name;
    const Hdf5Object space{H5Dget_space(data.id()), H5Sclose}, kind{H5Dget_type(data.id()), H5Tclose};
    const int rank = space ? H5Sget_simple_extent_ndims(space.id()) : -1;
    std::array<hsize_t, 2> extent{0, 1};
    if (rank < 1 || rank > 2) fail(field, "neither one nor two dimensions");
    H5Sget_simple_extent_dims(space.id(), extent.data(), nullptr);
    if (extent[0] != header_.counts[type] || extent[1] != columns) {
      fail(field, std::to_string(extent[0]) + " x " + std::to_string(extent[1]) + " values, but Header promises " +
                      std::to_string(header_.counts[type]) + " x " + std::to_string(columns));
    }
    const H5T_class_t sort = kind ? H5Tget_class(kind.id()) : H5T_NO_CLASS;
    if (sort != H5T_FLOAT && sort != H5T_INTEGER) fail(field, "not numbers");
    const std::size_t width = H5Tget_size(kind.id());
    const double needed = static_cast<double>(extent[0]) * static_cast<double>(columns) * static_cast<double>(width);
    const double stored = static_cast<double>(std::min<std::uint64_t>(H5Dget_storage_size(data.id()), input_.size()));
    if (needed > stored * most_compression) {
      fail(field,
           "truncated: " + plural(extent[0], "row") + " do not fit into the file's " + plural(input_.size(), "byte"));
    }
    if (sort == H5T_FLOAT && width > sizeof(float)) double_ = true;
    return data;
  }

  Hdf5Object group_of(std::size_t type) const {
    Hdf5Object group = open_group(file_.id(), type_name(type).c_str());
    if (!group) fail(type_name(type), "there is no such group, but Header promises its bodies");
    return group;
  }

  /// Before any memory is taken.
  void check_sizes() {
    for (std::size_t type = 0; type < species_count; ++type) {
      if (header_.counts[type] == 0) continue;
      const Hdf5Object group = group_of(type);
      if (!dataset(group.id(), type, "Coordinates", 3)) fail(type_name(type) + "/Coordinates", "missing");
    }
    input_.require_room_for(header_.bodies());
  }

  void reserve() {
    snapshot_.bodies.positions.resize(header_.bodies());
    snapshot_.bodies.velocities.resize(header_.bodies());
    snapshot_.properties.ids.resize(header_.bodies());
  }

  /// Calls take(row, column, value) for all of them, which libhdf5 converts to `Value`.
  template <class Value, class Take>
  void for_each(const Hdf5Object& data, std::size_t type, const char* name, hsize_t columns, hid_t native, Take take) {
    std::vector<Value> block(std::min<hsize_t>(header_.counts[type], rows_per_block) * columns);
    const Hdf5Object space{H5Dget_space(data.id()), H5Sclose};
    const int rank = H5Sget_simple_extent_ndims(space.id());
    for (hsize_t first = 0; first < header_.counts[type]; first += rows_per_block) {
      const std::array<hsize_t, 2> start{first, 0},
          count{std::min(rows_per_block, header_.counts[type] - first), columns};
      const hsize_t size = count[0] * columns;
      const Hdf5Object memory{H5Screate_simple(1, &size, nullptr), H5Sclose};
      const bool read =
          H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >= 0 &&
          H5Dread(data.id(), native, memory.id(), space.id(), H5P_DEFAULT, block.data()) >= 0;
      if (!read || rank < 1) fail(type_name(type) + '/' + name, "cannot be read: damaged");
      for (hsize_t i = 0; i < size; ++i) take(first + i / columns, i % columns, block[i]);
    }
  }

  void check(std::size_t type, const char* name, std::size_t first, bool places, bool weighed) const {
    for (std::size_t i = first; i < first + header_.counts[type]; ++i) {
      const Vec4 &p = snapshot_.bodies.positions[i], &v = snapshot_.bodies.velocities[i];
      const std::string cause = places ? unusable({p.x, p.y, p.z, weighed ? p.w : 1}, {}) : unusable({0, 0, 0, 1}, v);
      if (!cause.empty()) {
        fail(type_name(type) + '/' + name, "row " + std::to_string(i - first) + " (counted from 0) has " + cause);
      }
    }
  }

  void read_type(std::size_t type) {
    constexpr std::array<float Vec4::*, 3> components{&Vec4::x, &Vec4::y, &Vec4::z};
    const std::size_t first = first_;
    std::vector<Vec4>&positions = snapshot_.bodies.positions, &velocities = snapshot_.bodies.velocities;
    const Hdf5Object group = group_of(type);
    const auto open = [&](const char* name, hsize_t columns) { return dataset(group.id(), type, name, columns); };
    for_each<float>(open("Coordinates", 3), type, "Coordinates", 3, H5T_NATIVE_FLOAT,
                    [&](hsize_t row, hsize_t k, float value) { positions[first + row].*components[k] = value; });
    check(type, "Coordinates", first, true, false);
    if (const Hdf5Object data = open("Velocities", 3)) {
      for_each<float>(data, type, "Velocities", 3, H5T_NATIVE_FLOAT,
                      [&](hsize_t row, hsize_t k, float value) { velocities[first + row].*components[k] = value; });
      check(type, "Velocities", first, false, false);
    } else {
      snapshot_.notes.push_back(type_name(type) + " has no velocities: these bodies are at rest");
    }
    if (header_.masses[type] == 0) {
      const Hdf5Object data = open("Masses", 1);
      if (!data) fail(type_name(type) + "/Masses", "missing, and Header/MassTable has no mass");
      for_each<float>(data, type, "Masses", 1, H5T_NATIVE_FLOAT,
                      [&](hsize_t row, hsize_t, float value) { positions[first + row].w = value; });
      check(type, "Masses", first, true, true);
    }
    if (const Hdf5Object data = open("ParticleIDs", 1)) {
      for_each<std::uint64_t>(
          data, type, "ParticleIDs", 1, H5T_NATIVE_UINT64,
          [&](hsize_t row, hsize_t, std::uint64_t value) { snapshot_.properties.ids[first + row] = value; });
    } else {
      ids_missing_ = true;
    }
    for (const Hdf5Property& property : hdf5_properties) read_property(group.id(), type, first, property);
    note_other_datasets(group.id(), type);
    first_ += header_.counts[type];
  }

  void read_property(hid_t group, std::size_t type, std::size_t first, const Hdf5Property& property) {
    for (const char* const name : property.names) {
      if (!name) return;
      const Hdf5Object found = open_dataset(group, name);
      if (!found) continue;
      const Hdf5Object data = dataset(group, type, name, 1);
      std::vector<float>& values = snapshot_.properties.*property.values;
      values.resize(header_.bodies());
      for_each<float>(data, type, name, 1, H5T_NATIVE_FLOAT, [&](hsize_t row, hsize_t, float value) {
        if (!std::isfinite(value)) {
          fail(type_name(type) + '/' + name, "row " + std::to_string(row) + " (counted from 0) is not finite");
        }
        values[first + row] = value;
      });
      return;
    }
  }

  static bool is_read(const std::string& name) {
    for (const char* const known : {"Coordinates", "Velocities", "Masses", "ParticleIDs"}) {
      if (name == known) return true;
    }
    return std::ranges::any_of(hdf5_properties, [&](const Hdf5Property& property) {
      return std::ranges::any_of(property.names, [&](const char* known) { return known && name == known; });
    });
  }

  void note_other_datasets(hid_t group, std::size_t type) {
    constexpr hsize_t most = 100;
    H5G_info_t info;
    if (H5Gget_info(group, &info) < 0) return;
    for (hsize_t i = 0; i < std::min(info.nlinks, most); ++i) {
      std::array<char, 64> name{};
      if (H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size(), H5P_DEFAULT) < 0)
        return;
      if (!is_read(name.data())) note_unread(type_name(type) + '/' + name.data());
    }
  }

  /// A property that is 0 for all bodies says nothing.
  void drop_empty() {
    for (const Hdf5Property& property : hdf5_properties) {
      std::vector<float>& values = snapshot_.properties.*property.values;
      if (std::ranges::all_of(values, [](float value) { return value == 0; })) values = {};
    }
  }

  SnapshotInput& input_;
  Hdf5Object file_;
  GadgetHeader header_;
  Snapshot snapshot_;
  std::size_t first_ = 0;  // body of the type that is being read
  bool ids_missing_ = false, double_ = false;
  std::string unread_;
};

}  // namespace

bool has_hdf5() {
  return true;
}

Snapshot read_hdf5(SnapshotInput& input) {
  const Hdf5Turn turn;
  return Hdf5Reader{input}.read();
}

}  // namespace orrery
