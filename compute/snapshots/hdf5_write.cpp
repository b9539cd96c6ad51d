#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

#include "compute/core/atomic_file.h"
#include "compute/snapshots/gadget_header.h"
#include "compute/snapshots/hdf5_object.h"
#include "compute/snapshots/hdf5_properties.h"
#include "compute/snapshots/hdf5_snapshot.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t rows_at_once = 65536;

/// The bodies of one type as a group of datasets.
class TypeWriter {
 public:
  TypeWriter(hid_t file, const std::string& name, std::span<const std::uint32_t> bodies)
      : group_{H5Gcreate2(file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose}, bodies_{bodies} {
    require_hdf5(static_cast<bool>(group_), "a group was not written");
  }

  /// Writes take(body, column) for each body.
  template <class Value, class Take>
  void write(const char* name, hsize_t columns, hid_t stored, hid_t native, Take take) const {
    const std::array<hsize_t, 2> extent{bodies_.size(), columns};
    const int rank = columns > 1 ? 2 : 1;
    const Hdf5Object space{H5Screate_simple(rank, extent.data(), nullptr), H5Sclose};
    const Hdf5Object data{H5Dcreate2(group_.id(), name, stored, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                          H5Dclose};
    require_hdf5(static_cast<bool>(data), "a dataset was not written");
    std::vector<Value> block;
    for (std::size_t first = 0; first < bodies_.size(); first += rows_at_once) {
      const auto part = bodies_.subspan(first, std::min(rows_at_once, bodies_.size() - first));
      block.clear();
      for (const std::uint32_t body : part) {
        for (hsize_t column = 0; column < columns; ++column) block.push_back(take(body, column));
      }
      const std::array<hsize_t, 2> start{first, 0}, count{part.size(), columns};
      const hsize_t size = block.size();
      const Hdf5Object memory{H5Screate_simple(1, &size, nullptr), H5Sclose};
      const bool written =
          H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >= 0 &&
          H5Dwrite(data.id(), native, memory.id(), space.id(), H5P_DEFAULT, block.data()) >= 0;
      require_hdf5(written, "a dataset was not written");
    }
  }

  void write_floats(const char* name, const auto& take) const {
    write<float>(name, 1, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, [&](std::uint32_t body, hsize_t) { return take(body); });
  }

 private:
  Hdf5Object group_;
  std::span<const std::uint32_t> bodies_;
};

void write_hdf5_header(hid_t file, const GadgetHeader& header) {
  const Hdf5Object group{H5Gcreate2(file, "Header", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose};
  require_hdf5(static_cast<bool>(group), "the group Header was not written");
  std::array<std::uint32_t, species_count> counts{};
  for (std::size_t type = 0; type < species_count; ++type)
    counts[type] = static_cast<std::uint32_t>(header.counts[type]);
  write_attribute(group.id(), "NumPart_ThisFile", counts);
  write_attribute(group.id(), "NumPart_Total", counts);
  write_attribute(group.id(), "NumPart_Total_HighWord", std::array<std::uint32_t, species_count>{});
  write_attribute(group.id(), "MassTable", header.masses);
  write_attribute(group.id(), "Time", header.time);
  write_attribute(group.id(), "Redshift", 0.0);
  write_attribute(group.id(), "BoxSize", 0.0);
  write_attribute(group.id(), "NumFilesPerSnapshot", std::int32_t{1});
}

void write_hdf5_units(hid_t file, const Units& units) {
  const Hdf5Object group{H5Gcreate2(file, "Units", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose};
  require_hdf5(static_cast<bool>(group), "the group Units was not written");
  write_attribute(group.id(), "UnitLength_in_cm", units.length_cm);
  write_attribute(group.id(), "UnitMass_in_g", units.mass_g);
  write_attribute(group.id(), "UnitVelocity_in_cm_per_s", units.velocity_cm_s);
  write_attribute(group.id(), "UnitTime_in_s", units.time_s());
}

bool is_star(Species species) {
  return plain_species(species) == Species::star;
}

void write_type(hid_t file, const Snapshot& snapshot, Species species, bool own_masses,
                std::span<const std::uint32_t> bodies) {
  constexpr std::array<float Vec4::*, 3> components{&Vec4::x, &Vec4::y, &Vec4::z};
  const std::vector<std::uint64_t>& ids = snapshot.properties.ids;
  const TypeWriter type{file, "PartType" + std::to_string(static_cast<int>(species)), bodies};
  const std::pair<const char*, const std::vector<Vec4>*> vectors[] = {{"Coordinates", &snapshot.bodies.positions},
                                                                      {"Velocities", &snapshot.bodies.velocities}};
  for (const auto& [name, values] : vectors) {
    type.write<float>(name, 3, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT,
                      [&, all = values](std::uint32_t body, hsize_t k) { return (*all)[body].*components[k]; });
  }
  const bool wide = std::ranges::any_of(ids, [](std::uint64_t id) { return id > 0xffffffffu; });
  type.write<std::uint64_t>(
      "ParticleIDs", 1, wide ? H5T_STD_U64LE : H5T_STD_U32LE, H5T_NATIVE_UINT64,
      [&](std::uint32_t body, hsize_t) { return ids.empty() ? body + std::uint64_t{1} : ids[body]; });
  if (own_masses) type.write_floats("Masses", [&](std::uint32_t body) { return snapshot.bodies.positions[body].w; });
  for (const Hdf5Property& property : hdf5_properties) {
    const std::vector<float>& values = snapshot.properties.*property.values;
    const bool common = property.values == &BodyProperties::softening && values.empty() && snapshot.softening > 0;
    const bool wanted = species == Species::gas ? property.gas : is_star(species) ? property.stars : property.others;
    if (!wanted || (values.empty() && !common)) continue;
    type.write_floats(property.names.front(),
                      [&](std::uint32_t body) { return common ? snapshot.softening : values[body]; });
  }
}

/// The bytes of the file in memory, while it is open.
std::string_view image_of(hid_t file, hid_t access) {
  void* handle = nullptr;
  const bool found = H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0 && H5Fget_vfd_handle(file, access, &handle) >= 0;
  const ssize_t size = H5Fget_file_image(file, nullptr, 0);  // without the room to grow that the driver has
  require_hdf5(found && handle && size > 0, "it could not be finished in memory");
  return {*static_cast<char**>(handle), static_cast<std::size_t>(size)};  // what the core driver's handle points to
}

/// AtomicFile's file may have no name, by which libhdf5 would have to open it: it writes into memory.
Hdf5Object memory_access() {
  constexpr std::size_t increment = 16 << 20;
  Hdf5Object access{H5Pcreate(H5P_FILE_ACCESS), H5Pclose};
  H5Pset_fapl_core(access.id(), increment, false);
  return access;
}

}  // namespace

std::vector<fs::path> write_hdf5(const fs::path& file, const Snapshot& snapshot, const SnapshotOutput& output) {
  const auto refuse = [&](const std::string& cause) -> std::runtime_error {
    return std::runtime_error("'" + file.string() + "': not written: " + cause);
  };
  if (output.order == ByteOrder::big) throw refuse("GADGET HDF5 is little-endian: leave out --byte-order");
  const GadgetHeader header = gadget_header_of(snapshot);
  const std::vector<std::uint32_t> order = gadget_order_of(snapshot);
  AtomicFile out{file, output.existing};
  const Hdf5Turn turn;
  const Hdf5Object access = memory_access();
  const Hdf5Object hdf5{H5Fcreate("orrery.hdf5 in memory", H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose};
  std::string_view image;
  try {
    require_hdf5(static_cast<bool>(hdf5), "HDF5 cannot create it");
    write_hdf5_header(hdf5.id(), header);
    write_hdf5_units(hdf5.id(), *snapshot.units);
    std::size_t first = 0;
    for (std::size_t type = 0; type < species_count; ++type) {
      const auto count = static_cast<std::size_t>(header.counts[type]);
      if (count > 0) {
        write_type(hdf5.id(), snapshot, static_cast<Species>(type), header.masses[type] == 0,
                   std::span{order}.subspan(first, count));
      }
      first += count;
    }
    image = image_of(hdf5.id(), access.id());
  } catch (const std::runtime_error& error) {
    throw refuse(error.what());
  }
  out.write(image);
  return {out.commit()};
}

}  // namespace orrery
