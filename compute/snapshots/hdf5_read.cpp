#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "compute/core/format_count.h"
#include "compute/core/range.h"
#include "compute/core/trial_process.h"
#include "compute/snapshots/gadget_header.h"
#include "compute/snapshots/gadget_meaning.h"
#include "compute/snapshots/gadget_parts.h"
#include "compute/snapshots/hdf5_dataset.h"
#include "compute/snapshots/hdf5_object.h"
#include "compute/snapshots/hdf5_properties.h"
#include "compute/snapshots/hdf5_snapshot.h"
#include "compute/snapshots/snapshot_input.h"

namespace orrery {
namespace {

constexpr double most_compression = 1100;                // deflate reaches 1032
constexpr std::uint64_t least_bytes_per_s = 10'000'000;  // of a file that libhdf5 unpacks

std::string type_name(std::size_t type) {
  return "PartType" + std::to_string(type);
}

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

  /// Asks libhdf5 for all that read() will ask for, but for rows that need no work of it.
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
    constexpr std::size_t version = 8, flags = 11;  // bytes of a superblock
    const std::span<const std::byte> head = input_.head();
    if (head.size() > flags && head[version] == std::byte{3} && head[flags] != std::byte{0}) {
      input_.fail_at(flags, "superblock",
                     "still open for writing, or left so by a program that crashed: once nothing writes it, "
                     "'h5clear -s FILE' clears the mark");
    }
    input_.fail_at(0, "superblock", "not an HDF5 file, or a damaged one");
  }

  /// All but the rows. Checks their sizes before any memory is taken.
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

  /// SWIFT has an edge for each axis.
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

  /// The powers in the datasets of the first type that has them.
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

  /// The first of these datasets that the group has; null if there is none.
  static const char* first_name(hid_t group, std::span<const char* const> names) {
    const auto found =
        std::ranges::find_if(names, [&](const char* name) { return static_cast<bool>(open_dataset(group, name)); });
    return found == names.end() ? nullptr : *found;
  }

  /// Opens a dataset of `columns` numbers per body. None if there is no such one; fails if it has another shape, or if
  /// its values cannot be read.
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

  /// Positions are hardly alike: that many do not fit into a small file, however they are compressed.
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

  /// Skips types of rows that are no bodies, such as the tracers of AREPO: they have neither places nor masses.
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

  /// Reads rows, which libhdf5 converts to `Value`. Returns whether it could.
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

  /// Calls take(row, column, value) for all of them.
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

  /// Notes masses that MassTable contradicts, which readers take.
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

  /// Negative ids are unsigned numbers of the same width that a program stored as signed ones.
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
        constexpr double most = 9007199254740992;  // up to which doubles are exact
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
      if (const auto extent = extent_of(found); !extent || (*extent)[1] != 1) {  // one number per element
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

  /// Reads rows as read() will, whatever they are: all of those in chunks. Without chunks, the first ones show whether
  /// libhdf5 can read and convert them, and the others are bytes in one piece.
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

  /// The datasets that are read of each type.
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
  std::map<std::string, std::string> unread_;  // datasets, and the types that have them
};

}  // namespace

bool has_hdf5() {
  return true;
}

Snapshot read_hdf5(SnapshotInput& input) {
  const Hdf5Turn turn;
  return read_gadget_parts(input, [](SnapshotInput& part) {
    // libhdf5 does not check all that it finds: some damage ends the process.
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

}  // namespace orrery
