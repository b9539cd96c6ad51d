// GADGET HDF5, also written by AREPO, GIZMO and SWIFT. In a build without libhdf5 (ORRERY_HAVE_HDF5 is 0), reading and
// writing throw std::runtime_error that names the cure.
#include <fcntl.h>
#if ORRERY_HAVE_HDF5
#include <hdf5.h>
#endif
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "compute/core/atomic_file.h"
#include "compute/core/error.h"
#include "compute/core/process.h"
#include "compute/core/row_file.h"
#include "compute/core/temporary_folder.h"
#include "compute/core/text.h"
#include "compute/core/vec.h"
#include "compute/snapshots/file_meaning.h"
#include "compute/snapshots/gadget.h"
#include "compute/snapshots/snapshot.h"
#include "compute/snapshots/snapshot_format.h"
#include "compute/snapshots/snapshot_input.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

#if ORRERY_HAVE_HDF5

// Wrappers of libhdf5: objects, links, attributes, datasets.

/// Owner of an object that libhdf5 opened; the destructor closes it.
class Hdf5Object {
 public:
  using Close = herr_t (*)(hid_t);

  Hdf5Object() = default;
  Hdf5Object(hid_t id, Close close) : id_{id}, close_{close} {}
  Hdf5Object(Hdf5Object&& other) noexcept : id_{std::exchange(other.id_, -1)}, close_{other.close_} {}
  Hdf5Object& operator=(Hdf5Object&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hdf5Object() {
    if (id_ >= 0) close_(id_);
  }

  hid_t id() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }  ///< false: the object could not be opened

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

std::mutex turns;

/// Lock of libhdf5, which serves one thread at a time. Also stops libhdf5 from printing its errors. The functions below
/// must be called while a lock exists.
class Hdf5Turn {
 public:
  Hdf5Turn() {
    turns.lock();
    [[maybe_unused]] static const herr_t alone = H5PLset_loading_state(0);  // ignores HDF5_PLUGIN_PATH
    [[maybe_unused]] static const herr_t kept = H5dont_atexit();  // at exit, libhdf5 would retry writes that failed
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  Hdf5Turn(const Hdf5Turn&) = delete;
  ~Hdf5Turn() { turns.unlock(); }
};

/// Thrown if an object is a link to another file; such links are never followed. The text names the link and the cure.
struct ForeignLink : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws std::runtime_error with `what` if a call of libhdf5 failed.
void require_hdf5(bool succeeded, const char* what) {
  if (!succeeded) throw std::runtime_error(what);
}

bool foreign_link_met = false;  // guarded by `turns`

herr_t meet_foreign_link(const char*, const char*, const char*, const char*, unsigned*, hid_t, void*) {
  foreign_link_met = true;
  return -1;
}

/// Returns access properties that refuse links to other files.
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

/// Returns properties for opening a file without locks: AtomicFile holds a lock, and a read-only disk may permit none.
Hdf5Object unlocked_access() {
  Hdf5Object access{H5Pcreate(H5P_FILE_ACCESS), H5Pclose};
  H5Pset_file_locking(access.id(), false, true);
  return access;
}

/// The next three functions open the object at a path such as "Header" or "PartType1/Coordinates". They return an empty
/// object if there is none of that kind. They throw ForeignLink for a link to another file.
Hdf5Object open_object(hid_t in, const std::string& path) {
  const hid_t access = no_foreign_links();
  for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
    if (!has_own_link(in, path.substr(0, end), access)) return {};
  }
  if (!has_own_link(in, path, access)) return {};
  foreign_link_met = false;
  Hdf5Object found{H5Oopen(in, path.c_str(), access), H5Oclose};
  if (foreign_link_met) refuse_link(in, path);  // a soft link led to a link to another file
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

/// Returns whether `type` is an integer or real type whose bit fields are all inside its bytes. With any other type,
/// libhdf5 would read beyond its memory.
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

/// Returns the numbers of an attribute; empty if it is missing, is not numeric, or has more than `most` numbers.
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

/// Returns the first number of an attribute; empty if it has none, or more than 16.
std::optional<double> attribute_number(hid_t in, const char* name) {
  const std::vector<double> values = attribute_numbers(in, name, 16);
  return values.empty() ? std::nullopt : std::optional{values.front()};
}

void write_numbers(hid_t in, const char* name, hid_t stored, hid_t type, const void* values, std::size_t count) {
  const hsize_t size = count;
  const Hdf5Object space{count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, nullptr), H5Sclose};
  const Hdf5Object attribute{H5Acreate2(in, name, stored, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose};
  require_hdf5(attribute && H5Awrite(attribute.id(), type, values) >= 0, "an attribute was not written");
}

void write_attribute(hid_t in, const char* name, std::int32_t value) {
  write_numbers(in, name, H5T_STD_I32LE, H5T_NATIVE_INT32, &value, 1);
}

void write_attribute(hid_t in, const char* name, double value) {
  write_numbers(in, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value, 1);
}

void write_attribute(hid_t in, const char* name, std::span<const std::uint32_t> values) {
  write_numbers(in, name, H5T_STD_U32LE, H5T_NATIVE_UINT32, values.data(), values.size());
}

void write_attribute(hid_t in, const char* name, std::span<const double> values) {
  write_numbers(in, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.data(), values.size());
}

enum class NumberKind { whole, with_sign, real };

constexpr hsize_t rows_per_block = 65536;

/// Returns why a dataset's chunks cannot be unpacked in bounded memory; empty if they can.
std::string unpackable(const Hdf5Object& made, std::size_t value_bytes) {
  constexpr hsize_t most_chunk_bytes = hsize_t{256} << 20;
  std::array<hsize_t, 2> chunk{1, 1};
  H5Pget_chunk(made.id(), static_cast<int>(chunk.size()), chunk.data());
  if (chunk[0] == 0 || chunk[1] == 0) return "its chunks are empty: damaged";
  if (chunk[0] > most_chunk_bytes / chunk[1] / value_bytes) {
    return "its chunks of " + std::to_string(chunk[0]) + " x " + std::to_string(chunk[1]) +
           " values are larger than 256 MiB";
  }
  for (int filter = 0; filter < H5Pget_nfilters(made.id()); ++filter) {
    std::array<char, 64> name{};
    unsigned flags = 0, used = 0;
    std::size_t values = 0;
    const H5Z_filter_t id = H5Pget_filter2(made.id(), static_cast<unsigned>(filter), &flags, &values, nullptr,
                                           name.size(), name.data(), &used);
    if (H5Zfilter_avail(id) > 0) continue;
    return "compressed by the filter " + (name[0] ? std::string{name.data()} : std::to_string(id)) +
           ", which libhdf5 does not have here: compress it by gzip";
  }

  return {};
}

/// Returns a dataset's dimensions, {rows, columns}, with 1 column if it has one dimension; empty if it has more than
/// two.
std::optional<std::array<hsize_t, 2>> extent_of(const Hdf5Object& data) {
  const Hdf5Object space{H5Dget_space(data.id()), H5Sclose};
  const int rank = space ? H5Sget_simple_extent_ndims(space.id()) : -1;
  if (rank < 1 || rank > 2) return std::nullopt;
  std::array<hsize_t, 2> extent{0, 1};
  H5Sget_simple_extent_dims(space.id(), extent.data(), nullptr);
  return extent;
}

/// Returns the bytes per number of a dataset; 0 if libhdf5 cannot convert its values to numbers.
std::size_t number_bytes(const Hdf5Object& data) {
  const Hdf5Object kind{H5Dget_type(data.id()), H5Tclose};
  return kind && is_sound_number(kind.id()) ? H5Tget_size(kind.id()) : 0;
}

NumberKind kind_of(const Hdf5Object& data) {
  const Hdf5Object kind{H5Dget_type(data.id()), H5Tclose};
  if (H5Tget_class(kind.id()) != H5T_INTEGER) return NumberKind::real;
  return H5Tget_sign(kind.id()) == H5T_SGN_2 ? NumberKind::with_sign : NumberKind::whole;
}

/// Returns why a dataset cannot be read: its values are not numbers, are in other files, or cannot be unpacked in
/// bounded memory. Empty if it can be read.
std::string unreadable(const Hdf5Object& data) {
  const std::size_t value_bytes = number_bytes(data);
  if (value_bytes == 0) return "not numbers, or of a damaged type";
  const Hdf5Object made{H5Dget_create_plist(data.id()), H5Pclose};
  const H5D_layout_t layout = made ? H5Pget_layout(made.id()) : H5D_LAYOUT_ERROR;
  if (layout == H5D_VIRTUAL || H5Pget_external_count(made.id()) > 0) {
    return "its values are in other files: open one of these";
  }
  return layout == H5D_CHUNKED ? unpackable(made, value_bytes) : std::string{};
}

/// Returns whether a dataset is stored in chunks, which libhdf5 finds by an index and may have to unpack.
bool is_chunked(const Hdf5Object& data) {
  const Hdf5Object made{H5Dget_create_plist(data.id()), H5Pclose};
  return H5Pget_layout(made.id()) == H5D_CHUNKED;
}

/// Returns the number of rows to read per call: whole chunks, so that no chunk is unpacked twice.
hsize_t rows_at_once(const Hdf5Object& data) {
  if (!is_chunked(data)) return rows_per_block;
  const Hdf5Object made{H5Dget_create_plist(data.id()), H5Pclose};
  std::array<hsize_t, 2> chunk{1, 1};
  H5Pget_chunk(made.id(), static_cast<int>(chunk.size()), chunk.data());
  return chunk[0] > rows_per_block ? chunk[0] : rows_per_block / chunk[0] * chunk[0];
}

/// Writes whole rows of a dataset, starting at row `first`. `values`: row by row. Throws std::runtime_error.
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

// Names in files of GADGET and related codes.

std::string type_name(std::size_t type) {
  return "PartType" + std::to_string(type);
}

/// Returns the name of the group with a species' bodies.
std::string group_name(Species species) {
  return type_name(static_cast<std::size_t>(species));
}

/// Names of the datasets of bodies in the files of several codes. Orrery writes the first name, and reads the first one
/// that a file has.
constexpr std::array hdf5_positions{"Coordinates"}, hdf5_ids{"ParticleIDs"};
constexpr std::array hdf5_velocities{"Velocities", "Velocity"};  // most codes; EAGLE and OWLS

constexpr std::array hdf5_masses{"Masses", "Mass", "DynamicalMasses"};  // most codes; EAGLE, OWLS; SWIFT's black holes

/// A property of bodies and the names of its dataset in files of GADGET, AREPO and SWIFT. Orrery writes the first name.
struct Hdf5Property {
  std::vector<float> BodyProperties::*values;
  std::array<const char*, 4> names;
};

constexpr std::array<Hdf5Property, 4> hdf5_properties{{
    {&BodyProperties::softening, {"Softenings", "Softening"}},
    {&BodyProperties::temperature, {"Temperature", "Temperatures"}},
    {&BodyProperties::metals, {"Metallicity", "GFM_Metallicity", "MetalMassFractions"}},
    {&BodyProperties::formation_time,
     {"StellarFormationTime", "GFM_StellarFormationTime", "BirthTimes", "BirthScaleFactors"}},
}};

/// SWIFT's name for formation times that are scale factors.
constexpr std::string_view hdf5_formation_scale_factors = "BirthScaleFactors";

/// Writer of a group's positions, velocities and, if the group has a dataset for them, masses.
class Hdf5BodyRows {
 public:
  /// Opens the datasets, which must exist. Throws std::runtime_error.
  Hdf5BodyRows(hid_t file, const std::string& group)
      : group_{open_group(file, group.c_str())},
        coordinates_{open_dataset(group_.id(), "Coordinates")},
        velocities_{open_dataset(group_.id(), "Velocities")},
        masses_{open_dataset(group_.id(), "Masses")} {
    require_hdf5(coordinates_ && velocities_, "a dataset cannot be opened");
  }
  /// Writes rows, starting at row `first`: positions with masses in w, and velocities. Throws std::runtime_error.
  void write(hsize_t first, std::span<const Vec4> positions, std::span<const Vec4> velocities) {
    blocks_.each_block(first, positions, velocities, static_cast<bool>(masses_),
                       [&](RowArray array, std::size_t row, std::span<const float> values) {
                         write_hdf5_rows(dataset_of(array), row, columns_of(array), H5T_NATIVE_FLOAT, values);
                       });
  }
  /// Returns the datasets' byte offsets in the file; empty if one is not contiguous.
  std::optional<JointRows> places() const {
    const auto place = [](const Hdf5Object& data) { return H5Dget_offset(data.id()); };
    JointRows rows{.positions = place(coordinates_), .velocities = place(velocities_)};
    if (masses_) rows.masses = place(masses_);
    for (const haddr_t found : {rows.positions, rows.velocities, rows.masses.value_or(0)}) {
      if (found == HADDR_UNDEF) return std::nullopt;  // datasets in chunks have no single offset
    }
    return rows;
  }

 private:
  const Hdf5Object& dataset_of(RowArray array) const {
    if (array == RowArray::masses) return masses_;
    return array == RowArray::positions ? coordinates_ : velocities_;
  }

  Hdf5Object group_, coordinates_, velocities_, masses_;  // masses_ is empty if there is no such dataset
  BodyRows blocks_;
};

// Reading.

constexpr double most_compression = 1100;                // most bytes of data per stored byte; deflate reaches 1032
constexpr std::uint64_t least_bytes_per_s = 10'000'000;  // slowest libhdf5 unpacking for which the trial waits

class Hdf5Reader {
 public:
  explicit Hdf5Reader(SnapshotInput& input)
      : input_{input}, file_{H5Fopen(input.path().c_str(), H5F_ACC_RDONLY, unlocked_access().id()), H5Fclose} {
    if (!file_) fail_to_open();
  }

  GadgetPart read() {
    read_facts();
    snapshot_.bodies.positions.resize(header_.bodies());
    snapshot_.bodies.velocities.resize(header_.bodies());
    for (std::size_t type = 0; type < GadgetHeader::types; ++type) {
      if (header_.counts[type] > 0) read_type(type);
    }
    if (const std::string cause = take_gadget_header(header_, input_.hints(), snapshot_); !cause.empty()) {
      input_.fail(cause);
    }
    read_box();
    if (ids_missing_) snapshot_.properties.ids = {};
    snapshot_.wide.in_double = double_;
    if (double_) snapshot_.notes.emplace_back("double precision in the file, rounded to single");
    drop_empty();
    for (const auto& [name, types] : unread_) snapshot_.unread.push_back(name + " of " + types);
    return {std::move(snapshot_), header_};
  }

  /// Makes all calls of libhdf5 that read() will make, except for rows that libhdf5 copies without processing.
  void try_out() {
    read_facts();
    for (std::size_t type = 0; type < GadgetHeader::types; ++type) {
      if (header_.counts[type] == 0) continue;
      const Hdf5Object group = group_of(type);
      for (const std::string& name : known_names()) try_out_dataset(group.id(), type, name);
      note_other_datasets(group.id(), type);
    }
  }

 private:
  [[noreturn]] void fail(const std::string& field, const std::string& cause) const {
    input_.fail(field + ": " + cause);
  }

  [[noreturn]] void fail_to_open() const {
    const int opened = open(input_.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (opened < 0) input_.fail("cannot be read: " + std::generic_category().message(errno));
    close(opened);
    constexpr std::size_t version = 8, flags = 11;  // byte offsets in the superblock
    const std::span<const std::byte> head = input_.head();
    if (head.size() > flags && head[version] == std::byte{3} && head[flags] != std::byte{0}) {
      input_.fail_at(flags, "superblock",
                     "still open for writing, or left so by a program that crashed: once nothing writes it, "
                     "'h5clear -s FILE' clears the mark");
    }
    input_.fail_at(0, "superblock", "not an HDF5 file, or a damaged one");
  }

  /// Reads everything except the rows. Checks the sizes of datasets before memory is allocated.
  void read_facts() {
    read_header();
    check_sizes();
    take_dataset_powers();
    input_.require_room_for(header_.bodies());
  }

  void read_header() {
    const Hdf5Object header = open_group(file_.id(), "Header");
    if (!header) input_.fail("an HDF5 file, but no GADGET snapshot: it has no group Header");
    const std::vector<double> counts = attribute_numbers(header.id(), "NumPart_ThisFile", GadgetHeader::types);
    if (counts.empty()) fail("Header/NumPart_ThisFile", "not 1 to " + std::to_string(GadgetHeader::types) + " numbers");
    const std::vector<double> masses = attribute_numbers(header.id(), "MassTable", GadgetHeader::types);
    for (std::size_t type = 0; type < counts.size(); ++type) {
      constexpr double most = 1e15;
      if (!(counts[type] >= 0 && counts[type] <= most)) fail("Header/NumPart_ThisFile", "not a valid count");
      header_.counts[type] = static_cast<std::uint64_t>(counts[type]);
      if (type < masses.size()) header_.masses[type] = masses[type];
    }
    read_meaning();
    const double files = attribute_number(header.id(), "NumFilesPerSnapshot").value_or(1);
    constexpr double no_number = -1, most_files = 1e15;
    header_.files = static_cast<std::int64_t>(std::abs(files) <= most_files ? files : no_number);
    read_totals(header.id());
    if (const auto fault = fault_of(header_)) fail("Header/" + fault->field, fault->cause);
  }

  /// Reads the edges of the periodic box. SWIFT states one per axis, other codes one for all.
  void read_box() {
    const Hdf5Object header = open_group(file_.id(), "Header");
    const std::vector<double> edges = attribute_numbers(header.id(), "BoxSize", 3);
    const double size = header_.meaning.box_size, unit = size > 0 ? snapshot_.box.x / size : 1;
    if (edges.size() == 3) snapshot_.box = {edges[0] * unit, edges[1] * unit, edges[2] * unit};
  }

  void read_totals(hid_t header) {
    const std::vector<double> low = attribute_numbers(header, "NumPart_Total", GadgetHeader::types),
                              high = attribute_numbers(header, "NumPart_Total_HighWord", GadgetHeader::types);
    for (std::size_t type = 0; type < low.size(); ++type) {
      constexpr double most = 1e15, word = 4294967296.0;
      if (!(low[type] >= 0 && low[type] <= most)) fail("Header/NumPart_Total", "not a valid count");
      header_.totals[type] = static_cast<std::uint64_t>(low[type]);
      if (type < high.size() && high[type] >= 0 && high[type] < word) {
        header_.high_words[type] = static_cast<std::uint64_t>(high[type]);
      }
    }
  }

  HeaderLookup lookup() const {
    return [this](const std::string& object, const char* attribute) -> HeaderAttribute {
      const Hdf5Object found = open_object(file_.id(), object);
      if (!found || H5Aexists(found.id(), attribute) <= 0) return {};
      return {true, attribute_number(found.id(), attribute)};
    };
  }

  void read_meaning() { header_.meaning = meaning_of_header(lookup(), snapshot_.notes); }

  void note_unread(const std::string& name, std::size_t type) {
    std::string& types = unread_[name];
    types.append(types.empty() ? "" : " and ").append(type_name(type));
  }

  /// Takes the powers of scale factor and h from the first type that has such a dataset.
  void take_dataset_powers() {
    const auto first = [&](std::span<const char* const> names) -> std::string {
      for (std::size_t type = 0; type < GadgetHeader::types; ++type) {
        if (header_.counts[type] == 0) continue;
        const Hdf5Object group = group_of(type);
        if (const char* const name = first_name(group.id(), names)) return type_name(type) + '/' + name;
      }
      return {};
    };
    take_powers(lookup(), first(hdf5_positions), first(hdf5_masses), first(hdf5_velocities), header_.meaning);
  }

  /// Returns the first of `names` that the group has as a dataset; null if it has none.
  static const char* first_name(hid_t group, std::span<const char* const> names) {
    const auto found =
        std::ranges::find_if(names, [&](const char* name) { return static_cast<bool>(open_dataset(group, name)); });
    return found == names.end() ? nullptr : *found;
  }

  /// Opens a dataset with `columns` numbers per body. Returns an empty object if it does not exist. Fails if it has
  /// another shape, or if its values cannot be read.
  Hdf5Object dataset(hid_t group, std::size_t type, const char* name, hsize_t columns) {
    Hdf5Object data = name ? open_dataset(group, name) : Hdf5Object{};
    if (!data) return data;
    const std::string field = type_name(type) + '/' + name;
    const auto extent = extent_of(data);
    if (!extent) fail(field, "neither one nor two dimensions");
    if ((*extent)[0] != header_.counts[type] || (*extent)[1] != columns) {
      fail(field, std::to_string((*extent)[0]) + " x " + std::to_string((*extent)[1]) +
                      " values, but Header promises " + std::to_string(header_.counts[type]) + " x " +
                      std::to_string(columns));
    }
    if (const std::string cause = unreadable(data); !cause.empty()) fail(field, cause);
    if (kind_of(data) == NumberKind::real && number_bytes(data) > sizeof(float)) double_ = true;
    if (H5Dget_storage_size(data.id()) == 0) {
      const std::string note = field + " was never written: its values are those that HDF5 fills in";
      if (std::ranges::find(snapshot_.notes, note) == snapshot_.notes.end()) snapshot_.notes.push_back(note);
    }
    return data;
  }

  /// Fails if the file is too small for a type's positions. Positions hardly ever repeat, so compression cannot shrink
  /// them much.
  void check_rows(const Hdf5Object& places, std::size_t type) const {
    const double needed = 3.0 * static_cast<double>(header_.counts[type]) * static_cast<double>(number_bytes(places));
    if (H5Dget_storage_size(places.id()) == 0) {
      fail(type_name(type) + "/Coordinates", "truncated: no values are stored");
    }
    const double stored = static_cast<double>(std::min<std::uint64_t>(H5Dget_storage_size(places.id()), input_.size()));
    if (needed <= stored * most_compression) return;
    fail(type_name(type) + "/Coordinates", "truncated: " + counted(header_.counts[type], "row") +
                                               " do not fit into the file's " + counted(input_.size(), "byte"));
  }

  Hdf5Object group_of(std::size_t type) const {
    Hdf5Object group = open_group(file_.id(), type_name(type).c_str());
    if (!group) fail(type_name(type), "there is no such group, but Header promises its bodies");
    return group;
  }

  /// Skips types whose rows hold no bodies, such as AREPO's tracers: they have no positions, velocities or masses.
  void check_sizes() {
    for (std::size_t type = 0; type < GadgetHeader::types; ++type) {
      if (header_.counts[type] == 0) continue;
      const Hdf5Object group = group_of(type);
      const Hdf5Object places = dataset(group.id(), type, hdf5_positions.front(), 3);
      if (places) {
        check_rows(places, type);
        continue;
      }
      const std::string field = type_name(type) + "/Coordinates";
      if (first_name(group.id(), hdf5_velocities) || first_name(group.id(), hdf5_masses)) fail(field, "missing");
      snapshot_.notes.push_back(field + " is missing: its " + counted(header_.counts[type], "row") + " are skipped");
      header_.skipped += std::exchange(header_.counts[type], 0);
    }
    if (header_.bodies() == 0 && header_.skipped > 0 && header_.files <= 1) input_.fail("no type has Coordinates");
  }

  /// Reads rows and converts them to `Value`. Returns false if libhdf5 fails.
  template <class Value>
  static bool read_rows(const Hdf5Object& data, const std::array<hsize_t, 2>& start,
                        const std::array<hsize_t, 2>& count, std::vector<Value>& block) {
    const hid_t native = std::is_same_v<Value, double>         ? H5T_NATIVE_DOUBLE
                         : std::is_same_v<Value, std::int64_t> ? H5T_NATIVE_INT64
                                                               : H5T_NATIVE_UINT64;
    const hsize_t size = count[0] * count[1];
    block.resize(size);
    const Hdf5Object space{H5Dget_space(data.id()), H5Sclose}, memory{H5Screate_simple(1, &size, nullptr), H5Sclose};
    return H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >= 0 &&
           H5Dread(data.id(), native, memory.id(), space.id(), H5P_DEFAULT, block.data()) >= 0;
  }

  /// Reads a dataset in blocks and calls take(row, column, value) for each value.
  template <class Value, class Take>
  void for_each(const Hdf5Object& data, std::size_t type, const char* name, hsize_t columns, Take take) {
    const hsize_t rows = std::min<hsize_t>(header_.counts[type], rows_at_once(data));
    std::vector<Value> block;
    for (hsize_t first = 0; first < header_.counts[type]; first += rows) {
      const hsize_t some = std::min<hsize_t>(rows, header_.counts[type] - first);
      if (!read_rows(data, {first, 0}, {some, columns}, block)) {
        fail(type_name(type) + '/' + name, "cannot be read: damaged");
      }
      for (hsize_t i = 0; i < block.size(); ++i) take(first + i / columns, i % columns, block[i]);
    }
  }

  void check(std::size_t type, const char* name, std::size_t first, bool places, bool weighed) const {
    for (std::size_t i = first; i < first + header_.counts[type]; ++i) {
      const std::string cause = no_body(snapshot_, i, places, !places, weighed);
      if (!cause.empty()) {
        fail(type_name(type) + '/' + name, "row " + std::to_string(i - first) + " (counted from 0) has " + cause);
      }
    }
  }

  void read_type(std::size_t type) {
    const std::size_t first = first_;
    const Hdf5Object group = group_of(type);
    const auto open = [&](const char* name, hsize_t columns) { return dataset(group.id(), type, name, columns); };
    for_each<double>(open("Coordinates", 3), type, "Coordinates", 3,
                     [&](hsize_t row, hsize_t k, double value) { set_position(snapshot_, first + row, k, value); });
    check(type, "Coordinates", first, true, false);
    const char* const name = first_name(group.id(), hdf5_velocities);
    if (const Hdf5Object data = open(name, 3)) {
      for_each<double>(data, type, name, 3,
                       [&](hsize_t row, hsize_t k, double value) { set_velocity(snapshot_, first + row, k, value); });
      check(type, name, first, false, false);
    } else {
      snapshot_.notes.push_back(type_name(type) + " has no velocities: these bodies are at rest");
    }
    if (header_.masses[type] == 0) {
      const char* const masses = first_name(group.id(), hdf5_masses);
      const Hdf5Object data = open(masses, 1);
      if (!data) fail(type_name(type) + "/Masses", "missing, and Header/MassTable has no mass");
      for_each<double>(data, type, masses, 1,
                       [&](hsize_t row, hsize_t, double value) { set_mass(snapshot_, first + row, value); });
      check(type, masses, first, true, true);
    } else {
      note_other_masses(group.id(), type);
    }
    read_ids(open(hdf5_ids.front(), 1), type, first);
    for (const Hdf5Property& property : hdf5_properties) read_property(group.id(), type, first, property);
    note_other_datasets(group.id(), type);
    first_ += header_.counts[type];
  }

  /// Adds a note if MassTable, which is used, contradicts the masses in a dataset.
  void note_other_masses(hid_t group, std::size_t type) {
    const char* const name = first_name(group, hdf5_masses);
    const Hdf5Object data = dataset(group, type, name, 1);
    if (!data) return;
    constexpr double rounding = 1e-5;
    const double mass = header_.masses[type];
    std::uint64_t others = 0;
    for_each<double>(data, type, name, 1, [&](hsize_t, hsize_t, double value) {
      others += std::abs(value - mass) <= rounding * std::abs(mass) ? 0 : 1;
    });
    if (others == 0) return;
    snapshot_.notes.push_back(type_name(type) + '/' + name + " is not read, and differs in " + counted(others, "row") +
                              ": the mass of all is " + shortest_text(mass) + " by Header/MassTable");
  }

  /// Reads the ids. Negative ids become unsigned numbers of the same width: some programs store unsigned ids as signed.
  void read_ids(const Hdf5Object& data, std::size_t type, std::size_t first) {
    const char* const name = hdf5_ids.front();
    if (!data) {
      ids_missing_ = true;
      return;
    }
    std::vector<std::uint64_t>& ids = snapshot_.properties.ids;
    ids.resize(header_.bodies());
    const NumberKind kind = kind_of(data);
    if (kind == NumberKind::whole) {
      for_each<std::uint64_t>(data, type, name, 1,
                              [&](hsize_t row, hsize_t, std::uint64_t value) { ids[first + row] = value; });
    } else if (kind == NumberKind::with_sign) {
      const std::size_t bits = std::min<std::size_t>(8 * number_bytes(data), 64);
      std::uint64_t negative = 0;
      for_each<std::int64_t>(data, type, name, 1, [&](hsize_t row, hsize_t, std::int64_t value) {
        negative += value < 0;
        ids[first + row] = static_cast<std::uint64_t>(value) & (~std::uint64_t{0} >> (64 - bits));
      });
      if (negative > 0) {
        snapshot_.notes.push_back(type_name(type) + ": " + counted(negative, "negative id") +
                                  ", read without sign (-1 as " + std::to_string(~std::uint64_t{0} >> (64 - bits)) +
                                  ')');
      }
    } else {
      for_each<double>(data, type, name, 1, [&](hsize_t row, hsize_t, double value) {
        constexpr double most = 9007199254740992;  // largest number up to which all integers are exact in double
        if (!(value >= 0 && value <= most && value == std::floor(value))) {
          fail(type_name(type) + '/' + name,
               "row " + std::to_string(row) + " (counted from 0) is " + shortest_text(value) +
                   ": ids must be whole numbers from 0 to 2^53; without " + name + " the file can be read");
        }
        ids[first + row] = static_cast<std::uint64_t>(value);
      });
    }
  }

  void read_property(hid_t group, std::size_t type, std::size_t first, const Hdf5Property& property) {
    for (const char* const name : property.names) {
      if (!name) return;
      const Hdf5Object found = open_dataset(group, name);
      if (!found) continue;
      if (const auto extent = extent_of(found); !extent || (*extent)[1] != 1) {  // several values per body: not read
        note_unread(name, type);
        return;
      }
      const Hdf5Object data = dataset(group, type, name, 1);
      std::vector<float>& values = snapshot_.properties.*property.values;
      values.resize(header_.bodies());
      for_each<double>(data, type, name, 1, [&](hsize_t row, hsize_t, double value) {
        if (const std::string cause = unusable_property(value); !cause.empty()) {
          fail(type_name(type) + '/' + name, "row " + std::to_string(row) + " (counted from 0) is " + cause);
        }
        values[first + row] = static_cast<float>(value);
      });
      snapshot_.properties.formation_scale_factors |= name == hdf5_formation_scale_factors;
      return;
    }
  }

  /// Reads rows as read() will, and discards the values. Reads all rows of a chunked dataset. For other datasets, the
  /// first rows suffice: the rest are plain bytes that need no processing by libhdf5.
  void try_out_dataset(hid_t group, std::size_t type, const std::string& name) {
    const Hdf5Object data = open_dataset(group, name.c_str());
    const auto extent = data ? extent_of(data) : std::nullopt;
    if (!extent || (*extent)[0] != header_.counts[type] || (*extent)[1] > 3 || !unreadable(data).empty()) return;
    const hsize_t some = rows_at_once(data), end = is_chunked(data) ? (*extent)[0] : std::min((*extent)[0], some);
    std::vector<double> values;
    std::vector<std::uint64_t> ids;
    bool read = true;
    for (hsize_t first = 0; read && first < end; first += some) {
      const std::array<hsize_t, 2> start{first, 0}, count{std::min(some, end - first), (*extent)[1]};
      const bool whole = kind_of(data) == NumberKind::whole;
      read = whole ? read_rows(data, start, count, ids) : read_rows(data, start, count, values);
    }
  }

  /// Returns the names of all datasets that this reader uses.
  static const std::vector<std::string>& known_names() {
    static const std::vector<std::string> all = [] {
      std::vector<std::string> names;
      const auto add = [&](const auto& more) { names.insert(names.end(), more.begin(), more.end()); };
      add(hdf5_positions), add(hdf5_velocities), add(hdf5_masses), add(hdf5_ids);
      for (const Hdf5Property& property : hdf5_properties) {
        std::ranges::copy_if(property.names, std::back_inserter(names), [](const char* name) { return name; });
      }
      return names;
    }();
    return all;
  }

  void note_other_datasets(hid_t group, std::size_t type) {
    constexpr hsize_t most = 100;
    H5G_info_t info;
    if (H5Gget_info(group, &info) < 0) return;
    for (hsize_t i = 0; i < std::min(info.nlinks, most); ++i) {
      std::array<char, 64> name{};
      if (H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size(), H5P_DEFAULT) < 0)
        return;
      if (std::ranges::find(known_names(), name.data()) == known_names().end()) note_unread(name.data(), type);
    }
  }

  /// Discards properties that are 0 for all bodies.
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
  std::size_t first_ = 0;  // index of the first body of the type being read
  bool ids_missing_ = false, double_ = false;
  std::map<std::string, std::string> unread_;  // dataset names, and the types that have them
};

Snapshot read_hdf5(SnapshotInput& input) {
  const Hdf5Turn turn;
  return read_gadget_parts(input, [](SnapshotInput& part) {
    // libhdf5 does not check everything it reads, and some damage crashes it. A child process tries the file first.
    const auto limit = std::chrono::minutes{1} + std::chrono::seconds{part.size() / least_bytes_per_s};
    const TrialEnd end = try_in_copy([&] { Hdf5Reader{part}.try_out(); }, limit);
    if (end.kind == TrialEnd::crashed) part.fail("damaged: libhdf5 cannot read it (" + end.cause + ')');
    if (end.kind != TrialEnd::well) part.fail("libhdf5 was ended while it tried the file: " + end.cause);
    try {
      return Hdf5Reader{part}.read();
    } catch (const ForeignLink& link) {
      part.fail(link.what());
    }
  });
}

// Writing.

/// Creates a group without a time stamp, so that equal bodies give equal files.
Hdf5Object new_group(hid_t in, const char* name) {
  const Hdf5Object made{H5Pcreate(H5P_GROUP_CREATE), H5Pclose};
  H5Pset_obj_track_times(made.id(), false);
  Hdf5Object group{H5Gcreate2(in, name, H5P_DEFAULT, made.id(), H5P_DEFAULT), H5Gclose};
  require_hdf5(static_cast<bool>(group), "a group was not written");
  return group;
}

/// Writer of one species' bodies as a group of datasets.
class TypeWriter {
 public:
  TypeWriter(hid_t file, const SnapshotView& snapshot, Species species, hsize_t count)
      : snapshot_{snapshot}, species_{species}, count_{count}, group_{new_group(file, group_name(species).c_str())} {
    H5Pset_obj_track_times(made_.id(), false);
  }

  /// Creates a dataset and writes its first row, so that its place in the file is allocated. The values follow later.
  void make_room(const char* name, hsize_t columns, bool wide = false) const {
    const Hdf5Object data = new_dataset(name, columns, wide ? H5T_IEEE_F64LE : H5T_IEEE_F32LE);
    write_hdf5_rows<float>(data, 0, columns, H5T_NATIVE_FLOAT, std::vector<float>(columns));
  }

  /// Writes take(body) for each body, in blocks of rows.
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
  write_attribute(group.id(), "Time_GYR", header.meaning.time * units.time_s() / gyr_s);  // pynbody reads no other time
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

/// Writes all data of a species except positions, velocities and masses, whose datasets it only creates.
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

/// Writes the positions, velocities and masses of a species, in blocks of rows.
void fill_type(hid_t file, const SnapshotView& snapshot, Species species) {
  Hdf5BodyRows rows{file, group_name(species)};
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

/// Overwrites a dataset with doubles in the file's coordinates. Needed if the origin was moved.
void fill_wide(hid_t file, const SnapshotView& snapshot, Species species, const char* name,
               Vec3d (SnapshotView::*value)(std::size_t) const) {
  const Hdf5Object group = open_group(file, group_name(species).c_str()), data = open_dataset(group.id(), name);
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

/// Returns the size of the numbers in the file, without HDF5's own data.
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

/// Returns the offsets at which all ranks can write their bodies. Empty unless all bodies are of one species, because
/// only then is a body's row its index.
std::optional<JointRows> joint_rows_of(hid_t file, const SnapshotView& snapshot, const GadgetHeader& header) {
  const auto only = std::ranges::find(header.counts, std::uint64_t{snapshot.bodies->count()});
  if (only == header.counts.end()) return std::nullopt;
  return Hdf5BodyRows{file, group_name(static_cast<Species>(only - header.counts.begin()))}.places();
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

/// Copies a file to a stream. HDF5 cannot write to streams itself.
void copy_to(AtomicFile& out, const fs::path& from) {
  std::ifstream in{from, std::ios::binary};
  std::vector<char> block(1 << 20);
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())), in.gcount() > 0) {
    out.write({block.data(), static_cast<std::size_t>(in.gcount())});
  }
}

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
      target.require_room(hdf5_bytes(snapshot, header) + any);  // HDF5 does not report a full disk or a file size limit
      throw refuse(failure_text(error));
    }
  };
  AtomicFile out{file, output.existing, AtomicFile::Temporary::named};
  if (is_stream(file)) {
    const TemporaryFolder own;  // a folder that only this user can read
    const AtomicFile seekable{own / "orrery.hdf5", Existing::keep, AtomicFile::Temporary::named};
    write_to(seekable);
    copy_to(out, seekable.present_path());
  } else {
    write_to(out);
  }

  return {out.commit()};
}

#else

constexpr const char* cure = "this build has no HDF5: install libhdf5-dev, configure and build again";

Snapshot read_hdf5(SnapshotInput& input) {
  input.fail(cure);
}

std::vector<fs::path> write_hdf5(const fs::path& file, const SnapshotView&, const SnapshotOutput&) {
  throw std::runtime_error("'" + file.string() + "': not written: " + cure);
}

#endif

bool detect_hdf5(std::span<const std::byte> head, std::uint64_t) {
  constexpr std::array<unsigned char, 8> mark{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  return head.size() >= mark.size() && std::equal(mark.begin(), mark.end(), head.begin(),
                                                  [](unsigned char a, std::byte b) { return std::byte{a} == b; });
}

}  // namespace

bool has_hdf5() {
  return ORRERY_HAVE_HDF5;
}

extern const SnapshotFormat hdf5_format;

constinit const SnapshotFormat hdf5_format{
    .id = "hdf5",
    .title = "GADGET HDF5",
    .endings = {".hdf5", ".h5"},
    .holds = {.velocities = true,
              .time = true,
              .ids = true,
              .species = true,
              .components = true,
              .softening = true,
              .temperature = true,
              .metals = true,
              .formation_time = true,
              .units = true,
              .frame = true,
              .scale_factors = true},
    .groups_species = true,
    .units = UnitRule::galactic,
    .takes_cosmology = true,
    .detect = detect_hdf5,
    .read = read_hdf5,
    .write = write_hdf5,
};

}  // namespace orrery
