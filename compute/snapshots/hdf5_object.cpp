#include "compute/snapshots/hdf5_object.h"

#include <array>
#include <mutex>
#include <utility>

namespace orrery {
namespace {

std::mutex turns;

void write_numbers(hid_t in, const char* name, hid_t stored, hid_t type, const void* values, std::size_t count) {
  const hsize_t size = count;
  const Hdf5Object space{count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, nullptr), H5Sclose};
  const Hdf5Object attribute{H5Acreate2(in, name, stored, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose};
  require_hdf5(attribute && H5Awrite(attribute.id(), type, values) >= 0, "an attribute was not written");
}

bool foreign_link_met = false;  // guarded by `turns`

herr_t meet_foreign_link(const char*, const char*, const char*, const char*, unsigned*, hid_t, void*) {
  foreign_link_met = true;
  return -1;
}

/// Properties with which no link to another file is followed.
hid_t no_foreign_links() {
  static const hid_t access = [] {
    const hid_t made = H5Pcreate(H5P_LINK_ACCESS);
    H5Pset_elink_cb(made, meet_foreign_link, nullptr);
    return made;
  }();
  return access;
}

[[noreturn]] void refuse_link(hid_t in, const std::string& path) {
  std::array<char, 256> name{};
  const ssize_t length = H5Iget_name(in, name.data(), name.size());
  const std::string group = length > 1 ? std::string{name.data() + 1} + '/' : "";
  throw ForeignLink{group + path +
                    ": a link to another file, which is not followed: copy its data into this file (h5copy -f ext)"};
}

bool has_own_link(hid_t in, const std::string& path, hid_t access) {
  if (H5Lexists(in, path.c_str(), access) <= 0) return false;
  H5L_info_t link;
  if (H5Lget_info(in, path.c_str(), &link, access) >= 0 && link.type == H5L_TYPE_EXTERNAL) refuse_link(in, path);
  return true;
}

}  // namespace

Hdf5Turn::Hdf5Turn() {
  turns.lock();
  [[maybe_unused]] static const herr_t alone = H5PLset_loading_state(0);  // no library that HDF5_PLUGIN_PATH names
  [[maybe_unused]] static const herr_t kept = H5dont_atexit();            // it would try again to write what has failed
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Turn::~Hdf5Turn() {
  turns.unlock();
}

Hdf5Object unlocked_access() {
  Hdf5Object access{H5Pcreate(H5P_FILE_ACCESS), H5Pclose};
  H5Pset_file_locking(access.id(), false, true);
  return access;
}

Hdf5Object open_object(hid_t in, const std::string& path) {
  const hid_t access = no_foreign_links();
  for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
    if (!has_own_link(in, path.substr(0, end), access)) return {};
  }
  if (!has_own_link(in, path, access)) return {};
  foreign_link_met = false;
  Hdf5Object found{H5Oopen(in, path.c_str(), access), H5Oclose};
  if (foreign_link_met) refuse_link(in, path);  // behind a soft link
  return found;
}

Hdf5Object open_group(hid_t in, const std::string& path) {
  Hdf5Object found = open_object(in, path);
  return found && H5Iget_type(found.id()) == H5I_GROUP ? std::move(found) : Hdf5Object{};
}

Hdf5Object open_dataset(hid_t in, const std::string& path) {
  Hdf5Object found = open_object(in, path);
  return found && H5Iget_type(found.id()) == H5I_DATASET ? std::move(found) : Hdf5Object{};
}

bool is_sound_number(hid_t type) {
  constexpr std::size_t most_bytes = 16;
  const H5T_class_t sort = H5Tget_class(type);
  const std::size_t bytes = H5Tget_size(type), bits = 8 * bytes, precision = H5Tget_precision(type);
  if (sort != H5T_FLOAT && sort != H5T_INTEGER) return false;
  if (bytes == 0 || bytes > most_bytes || precision == 0 || precision > bits) return false;
  const int offset = H5Tget_offset(type);
  if (offset < 0 || static_cast<std::size_t>(offset) + precision > bits) return false;
  if (sort == H5T_INTEGER) return true;
  std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  const auto within = [&](std::size_t first, std::size_t size) {
    return size > 0 && size <= bits && first <= bits - size;
  };
  return H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 && sign < bits &&
         within(exponent, exponent_bits) && within(mantissa, mantissa_bits);
}

std::vector<double> attribute_numbers(hid_t in, const char* name, std::size_t most) {
  if (H5Aexists(in, name) <= 0) return {};
  const Hdf5Object attribute{H5Aopen(in, name, H5P_DEFAULT), H5Aclose};
  if (!attribute) return {};
  const Hdf5Object space{H5Aget_space(attribute.id()), H5Sclose}, type{H5Aget_type(attribute.id()), H5Tclose};
  if (!space || !type) return {};
  const hssize_t count = H5Sget_simple_extent_npoints(space.id());
  if (!is_sound_number(type.id()) || count < 1 || count > static_cast<hssize_t>(most)) return {};
  std::vector<double> values(static_cast<std::size_t>(count));
  if (H5Aread(attribute.id(), H5T_NATIVE_DOUBLE, values.data()) < 0) return {};
  return values;
}

std::optional<double> attribute_number(hid_t in, const char* name) {
  const std::vector<double> values = attribute_numbers(in, name, 16);
  return values.empty() ? std::nullopt : std::optional{values.front()};
}

void write_attribute(hid_t in, const char* name, std::span<const double> values) {
  write_numbers(in, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.data(), values.size());
}

void write_attribute(hid_t in, const char* name, std::span<const std::uint32_t> values) {
  write_numbers(in, name, H5T_STD_U32LE, H5T_NATIVE_UINT32, values.data(), values.size());
}

void write_attribute(hid_t in, const char* name, double value) {
  write_numbers(in, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value, 1);
}

void write_attribute(hid_t in, const char* name, std::int32_t value) {
  write_numbers(in, name, H5T_STD_I32LE, H5T_NATIVE_INT32, &value, 1);
}

}  // namespace orrery
