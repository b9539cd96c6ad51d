#include "compute/snapshots/hdf5_rows.h"

#include <algorithm>

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
  for (std::size_t done = 0; done < positions.size(); done += at_once) {
    const std::size_t count = std::min(at_once, positions.size() - done);
    write_vectors(coordinates_, first + done, positions.subspan(done, count));
    write_vectors(velocities_, first + done, velocities.subspan(done, count));
    if (masses_) write_masses(first + done, positions.subspan(done, count));
  }
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

void Hdf5BodyRows::write_vectors(const Hdf5Object& data, hsize_t first, std::span<const Vec4> vectors) {
  block_.clear();
  for (const Vec4& v : vectors) block_.insert(block_.end(), {v.x, v.y, v.z});
  write_hdf5_rows<float>(data, first, 3, H5T_NATIVE_FLOAT, block_);
}

void Hdf5BodyRows::write_masses(hsize_t first, std::span<const Vec4> positions) {
  block_.clear();
  for (const Vec4& position : positions) block_.push_back(position.w);
  write_hdf5_rows<float>(masses_, first, 1, H5T_NATIVE_FLOAT, block_);
}

}  // namespace orrery
