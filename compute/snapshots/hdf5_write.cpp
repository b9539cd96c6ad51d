#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "compute/core/atomic_file.h"
#include "compute/core/body_rows.h"
#include "compute/core/failure_text.h"
#include "compute/core/joint_rows.h"
#include "compute/core/temporary_folder.h"
#include "compute/snapshots/gadget_header.h"
#include "compute/snapshots/hdf5_object.h"
#include "compute/snapshots/hdf5_properties.h"
#include "compute/snapshots/hdf5_rows.h"
#include "compute/snapshots/hdf5_snapshot.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

/// A group without the time at which it was made: the same bodies give the same bytes.
Hdf5Object new_group(hid_t in, const char* name) {
  const Hdf5Object made{H5Pcreate(H5P_GROUP_CREATE), H5Pclose};
  H5Pset_obj_track_times(made.id(), false);
  Hdf5Object group{H5Gcreate2(in, name, H5P_DEFAULT, made.id(), H5P_DEFAULT), H5Gclose};
  require_hdf5(static_cast<bool>(group), "a group was not written");
  return group;
}

/// The bodies of one type as a group of datasets.
class TypeWriter {
 public:
  TypeWriter(hid_t file, const SnapshotView& snapshot, Species species, hsize_t count)
      : snapshot_{snapshot}, species_{species}, count_{count}, group_{new_group(file, hdf5_group(species).c_str())} {
    H5Pset_obj_track_times(made_.id(), false);
  }

  /// A dataset with its place in the file, which it gets with the first row. The values follow.
  void make_room(const char* name, hsize_t columns, bool wide = false) const {
    const Hdf5Object data = new_dataset(name, columns, wide ? H5T_IEEE_F64LE : H5T_IEEE_F32LE);
    write_hdf5_rows<float>(data, 0, columns, H5T_NATIVE_FLOAT, std::vector<float>(columns));
  }

  /// Writes take(body) for each body, some rows at a time.
  template <class Value, class Take>
  void write(const char* name, hid_t stored, hid_t native, Take take) const {
    const Hdf5Object data = new_dataset(name, 1, stored);
    std::vector<Value> block;
    hsize_t first = 0;
    const auto flush = [&] {
      write_hdf5_rows<Value>(data, first, 1, native, block);
      first += block.size();
      block.clear();
    };
    for_each_of(snapshot_, species_, [&](std::size_t body) {
      block.push_back(take(body));
      if (block.size() == BodyRows::at_once) flush();
    });
    if (!block.empty()) flush();
  }

  void write_floats(const char* name, const auto& take) const {
    write<float>(name, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, take);
  }

 private:
  Hdf5Object new_dataset(const char* name, hsize_t columns, hid_t stored) const {
    const std::array<hsize_t, 2> extent{count_, columns};
    const Hdf5Object space{H5Screate_simple(columns > 1 ? 2 : 1, extent.data(), nullptr), H5Sclose};
    Hdf5Object data{H5Dcreate2(group_.id(), name, stored, space.id(), H5P_DEFAULT, made_.id(), H5P_DEFAULT), H5Dclose};
    require_hdf5(static_cast<bool>(data), "a dataset was not written");
    return data;
  }

  const SnapshotView& snapshot_;
  const Species species_;
  const hsize_t count_;
  Hdf5Object group_, made_{H5Pcreate(H5P_DATASET_CREATE), H5Pclose};
};

void write_hdf5_header(hid_t file, const GadgetHeader& header, const Units& units) {
  constexpr double gyr_s = 1e9 * 365.25 * 86400;
  const Hdf5Object group = new_group(file, "Header");
  std::array<std::uint32_t, species_count> counts{};
  for (std::size_t type = 0; type < species_count; ++type)
    counts[type] = static_cast<std::uint32_t>(header.counts[type]);
  write_attribute(group.id(), "NumPart_ThisFile", counts);
  write_attribute(group.id(), "NumPart_Total", counts);
  write_attribute(group.id(), "NumPart_Total_HighWord", std::array<std::uint32_t, species_count>{});
  write_attribute(group.id(), "MassTable", std::span{header.masses}.first(species_count));
  write_attribute(group.id(), "Time", header.meaning.time);
  write_attribute(group.id(), "Time_GYR", header.meaning.time * units.time_s() / gyr_s);  // pynbody takes no other
  write_attribute(group.id(), "Redshift", 0.0);
  write_attribute(group.id(), "BoxSize", 0.0);
  write_attribute(group.id(), "NumFilesPerSnapshot", std::int32_t{1});
}

void write_hdf5_units(hid_t file, const Units& units) {
  const Hdf5Object group = new_group(file, "Units");
  write_attribute(group.id(), "UnitLength_in_cm", units.length_cm);
  write_attribute(group.id(), "UnitMass_in_g", units.mass_g);
  write_attribute(group.id(), "UnitVelocity_in_cm_per_s", units.velocity_cm_s);
  write_attribute(group.id(), "UnitTime_in_s", units.time_s());
}

bool any_of_species(const SnapshotView& snapshot, Species species, const std::vector<float>& values) {
  bool any = false;
  if (!values.empty()) for_each_of(snapshot, species, [&](std::size_t body) { any |= values[body] != 0; });
  return any;
}

bool has_wide_ids(const SnapshotView& snapshot) {
  return std::ranges::any_of(snapshot.properties.ids, [](std::uint64_t id) { return id > 0xffffffffu; });
}

/// All but the positions, velocities and masses, for which there is room then.
void make_type(hid_t file, const SnapshotView& snapshot, const GadgetHeader& header, Species species) {
  const auto number = static_cast<std::size_t>(species);
  const std::vector<std::uint64_t>& ids = snapshot.properties.ids;
  const TypeWriter type{file, snapshot, species, header.counts[number]};
  type.make_room("Coordinates", 3, snapshot.frame.position != Vec3d{});
  type.make_room("Velocities", 3, snapshot.frame.velocity != Vec3d{});
  type.write<std::uint64_t>("ParticleIDs", has_wide_ids(snapshot) ? H5T_STD_U64LE : H5T_STD_U32LE, H5T_NATIVE_UINT64,
                            [&](std::size_t body) { return ids.empty() ? body + std::uint64_t{1} : ids[body]; });
  if (header.masses[number] == 0) type.make_room("Masses", 1);
  for (const Hdf5Property& property : hdf5_properties) {
    const std::vector<float>& values = snapshot.properties.*property.values;
    const bool common = property.values == &BodyProperties::softening && values.empty() && snapshot.softening > 0;
    if (!common && !any_of_species(snapshot, species, values)) continue;
    const bool scale_factors =
        property.values == &BodyProperties::formation_time && snapshot.properties.formation_scale_factors;
    type.write_floats(scale_factors ? hdf5_formation_scale_factors.data() : property.names.front(),
                      [&](std::size_t body) { return common ? snapshot.softening : values[body]; });
  }
}

/// The positions, velocities and masses, some rows at a time.
void fill_type(hid_t file, const SnapshotView& snapshot, Species species) {
  Hdf5BodyRows rows{file, hdf5_group(species)};
  std::vector<Vec4> positions, velocities;
  hsize_t first = 0;
  const auto flush = [&] {
    rows.write(first, positions, velocities);
    first += positions.size();
    positions.clear(), velocities.clear();
  };
  for_each_of(snapshot, species, [&](std::size_t body) {
    positions.push_back(snapshot.bodies->position(body));
    velocities.push_back(snapshot.bodies->velocity(body));
    if (positions.size() == BodyRows::at_once) flush();
  });
  if (!positions.empty()) flush();
}

/// Over the rows of floats: doubles where the origin of the bodies was moved.
void fill_wide(hid_t file, const SnapshotView& snapshot, Species species, const char* name,
               Vec3d (SnapshotView::*value)(std::size_t) const) {
  const Hdf5Object group = open_group(file, hdf5_group(species).c_str()), data = open_dataset(group.id(), name);
  std::vector<double> block;
  hsize_t first = 0;
  const auto flush = [&] {
    write_hdf5_rows<double>(data, first, 3, H5T_NATIVE_DOUBLE, block);
    first += block.size() / 3;
    block.clear();
  };
  for_each_of(snapshot, species, [&](std::size_t body) {
    const Vec3d v = (snapshot.*value)(body);
    block.insert(block.end(), {v.x, v.y, v.z});
    if (block.size() == 3 * BodyRows::at_once) flush();
  });
  if (!block.empty()) flush();
}

void for_each_species(const GadgetHeader& header, const auto& use) {
  for (std::size_t type = 0; type < species_count; ++type) {
    if (header.counts[type] > 0) use(static_cast<Species>(type));
  }
}

/// The numbers alone.
std::uint64_t hdf5_bytes(const SnapshotView& snapshot, const GadgetHeader& header) {
  std::uint64_t per_body =
      (snapshot.frame.is_moved() ? 6 * sizeof(double) : 6 * sizeof(float)) + (has_wide_ids(snapshot) ? 8 : 4);
  if (header.own_masses() > 0) per_body += sizeof(float);
  for (const Hdf5Property& property : hdf5_properties) {
    if (!(snapshot.properties.*property.values).empty()) per_body += sizeof(float);
  }
  return header.bodies() * per_body;
}

void finish(const Hdf5Object& hdf5) {
  require_hdf5(H5Fflush(hdf5.id(), H5F_SCOPE_GLOBAL) >= 0, "it could not be finished");
}

/// Where all ranks can write the bodies of a file. None: only if all bodies are of one species, each has the row of its
/// place.
std::optional<JointRows> joint_rows_of(hid_t file, const SnapshotView& snapshot, const GadgetHeader& header) {
  const auto only = std::ranges::find(header.counts, std::uint64_t{snapshot.bodies->count()});
  if (only == header.counts.end()) return std::nullopt;
  return Hdf5BodyRows{file, hdf5_group(static_cast<Species>(only - header.counts.begin()))}.places();
}

std::optional<JointRows> make_hdf5_file(const std::string& path, const SnapshotView& snapshot,
                                        const GadgetHeader& header) {
  const Hdf5Turn turn;
  const Hdf5Object hdf5{H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, unlocked_access().id()), H5Fclose};
  require_hdf5(static_cast<bool>(hdf5), "HDF5 cannot create it");
  write_hdf5_header(hdf5.id(), header, *snapshot.units);
  write_hdf5_units(hdf5.id(), *snapshot.units);
  for_each_species(header, [&](Species species) { make_type(hdf5.id(), snapshot, header, species); });
  finish(hdf5);
  return joint_rows_of(hdf5.id(), snapshot, header);
}

void fill_hdf5_file(const std::string& path, const SnapshotView& snapshot, const GadgetHeader& header) {
  const Hdf5Turn turn;
  const Hdf5Object hdf5{H5Fopen(path.c_str(), H5F_ACC_RDWR, unlocked_access().id()), H5Fclose};
  require_hdf5(static_cast<bool>(hdf5), "HDF5 cannot open it again");
  for_each_species(header, [&](Species species) {
    fill_type(hdf5.id(), snapshot, species);
    if (snapshot.frame.position != Vec3d{}) {
      fill_wide(hdf5.id(), snapshot, species, "Coordinates", &SnapshotView::position);
    }
    if (snapshot.frame.velocity != Vec3d{}) {
      fill_wide(hdf5.id(), snapshot, species, "Velocities", &SnapshotView::velocity);
    }
  });
  finish(hdf5);
}

void write_hdf5_file(const std::string& path, const SnapshotView& snapshot, const GadgetHeader& header) {
  if (std::optional<JointRows> rows = make_hdf5_file(path, snapshot, header)) {
    rows->path = fs::absolute(path);
    rows->file_bytes = fs::file_size(path);
    if (!snapshot.frame.is_moved() && snapshot.bodies->write_jointly(*rows)) return;
  }
  fill_hdf5_file(path, snapshot, header);
}

/// Copies a file to a stream, which HDF5 cannot write.
void copy_to(AtomicFile& out, const fs::path& from) {
  std::ifstream in{from, std::ios::binary};
  std::vector<char> block(1 << 20);
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())), in.gcount() > 0) {
    out.write({block.data(), static_cast<std::size_t>(in.gcount())});
  }
}

}  // namespace

std::vector<fs::path> write_hdf5(const fs::path& file, const SnapshotView& snapshot, const SnapshotOutput& output) {
  const auto refuse = [&](const std::string& cause) -> std::runtime_error {
    return std::runtime_error("'" + file.string() + "': not written: " + cause);
  };
  if (output.order == ByteOrder::big) throw refuse("GADGET HDF5 is little-endian: leave out --byte-order");
  const GadgetHeader header = gadget_header_of(snapshot);
  const auto write_to = [&](const AtomicFile& target) {
    target.require_room(hdf5_bytes(snapshot, header));
    try {
      write_hdf5_file(target.present_path(), snapshot, header);
    } catch (const std::runtime_error& error) {
      constexpr std::uint64_t any = 1 << 20;
      target.require_room(hdf5_bytes(snapshot, header) + any);  // HDF5 does not say that a disk or a limit is full
      throw refuse(failure_text(error));
    }
  };
  AtomicFile out{file, output.existing, AtomicFile::Temporary::named};
  if (is_stream(file)) {
    const TemporaryFolder own;  // only this user may look into it
    const AtomicFile seekable{own / "orrery.hdf5", Existing::keep, AtomicFile::Temporary::named};
    write_to(seekable);
    copy_to(out, seekable.present_path());
  } else {
    write_to(out);
  }
  return {out.commit()};
}

}  // namespace orrery
