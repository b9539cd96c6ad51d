#include "compute/snapshots/hdf5_rows.h"

namespace orrery {

std::string hdf5_group(Species species) {
  return "PartType" + std::to_string(static_cast<int>(species));
}

Hdf5BodyRows::Hdf5BodyRows(hid_t file, const std::string& group)
    : group_{open_group(file, group.c_str())},
      coordinates_{open_dataset(group_.id(), "Coordinates")},
      velocities_{open_dataset(group_.id(), "Velocities")},
      masses_{open_dataset(group_.id(), "Masses")} {
  require_hdf5(coordinates_ && velocities_, "a dataset cannot be opened");
}

void Hdf5BodyRows::write(hsize_t first, std::span<const Vec4> positions, std::span<const Vec4> velocities) {
  blocks_.each_block(first, positions, velocities, static_cast<bool>(masses_),
                     [&](RowArray array, std::size_t row, std::span<const float> values) {
                       write_hdf5_rows(dataset_of(array), row, columns_of(array), H5T_NATIVE_FLOAT, values);
                     });
}

std::optional<JointRows> Hdf5BodyRows::places() const {
  const auto place = [](const Hdf5Object& data) { return H5Dget_offset(data.id()); };
  JointRows rows{.positions = place(coordinates_), .velocities = place(velocities_)};
  if (masses_) rows.masses = place(masses_);
  for (const haddr_t found : {rows.positions, rows.velocities, rows.masses.value_or(0)}) {
    if (found == HADDR_UNDEF) return std::nullopt;  // of chunks, for one
  }
  return rows;
}

const Hdf5Object& Hdf5BodyRows::dataset_of(RowArray array) const {
  if (array == RowArray::masses) return masses_;
  return array == RowArray::positions ? coordinates_ : velocities_;
}

}  // namespace orrery
