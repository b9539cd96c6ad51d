#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>

#include "compute/core/body_rows.h"
#include "compute/core/joint_rows.h"
#include "compute/core/vec.h"
#include "compute/snapshots/hdf5_object.h"
#include "compute/snapshots/snapshot.h"

namespace orrery {

/// The group of a species' bodies.
std::string hdf5_group(Species species);

/// Writes whole rows of a dataset, from `first` on. `values`: row by row. Throws std::runtime_error.
template <class Value>
void write_hdf5_rows(const Hdf5Object& data, hsize_t first, hsize_t columns, hid_t native,
                     std::span<const Value> values) {
  const hsize_t size = values.size();
  const std::array<hsize_t, 2> start{first, 0}, count{size / columns, columns};
  const Hdf5Object memory{H5Screate_simple(1, &size, nullptr), H5Sclose}, space{H5Dget_space(data.id()), H5Sclose};
  const bool written =
      H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >= 0 &&
      H5Dwrite(data.id(), native, memory.id(), space.id(), H5P_DEFAULT, values.data()) >= 0;
  require_hdf5(written, "a dataset was not written");
}

/// The datasets of a group that hold positions and velocities, and masses if they are not all the same.
class Hdf5BodyRows {
 public:
  /// All of them are in the file. Throws std::runtime_error.
  Hdf5BodyRows(hid_t file, const std::string& group);
  /// Rows from `first` on: positions with masses in w, and as many velocities. Throws std::runtime_error.
  void write(hsize_t first, std::span<const Vec4> positions, std::span<const Vec4> velocities);
  /// Their bytes in the file. None: they are not stored row after row.
  std::optional<JointRows> places() const;

 private:
  const Hdf5Object& dataset_of(RowArray array) const;

  Hdf5Object group_, coordinates_, velocities_, masses_;  // without masses_: none
  BodyRows blocks_;
};

}  // namespace orrery
