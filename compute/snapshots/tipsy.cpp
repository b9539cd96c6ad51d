// TIPSY binary: a 32-byte header, then gas, dark and star records of 4-byte floats.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "compute/core/atomic_file.h"
#include "compute/core/error.h"
#include "compute/core/text.h"
#include "compute/snapshots/file_meaning.h"
#include "compute/snapshots/snapshot.h"
#include "compute/snapshots/snapshot_format.h"
#include "compute/snapshots/snapshot_input.h"
#include "compute/snapshots/text_lines.h"
#include "compute/snapshots/units.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

// Ids: a text file FILE.iord next to the TIPSY file holds them, as in other programs. Its first line is the number of
// bodies. Each further line is the id of one body, in the order of the TIPSY file.

std::uint64_t next_number(SnapshotInput& input, TextLines& lines) {
  if (!lines.next()) input.fail_at(input.size(), "id", "truncated: the file ends there");
  const auto number = parsed_number<std::uint64_t>(lines.line());
  if (!number) {
    input.fail_at(lines.byte_of(lines.line()), lines.place("id"), "not a whole number from 0 to 2^64 - 1");
  }
  return *number;
}

std::vector<std::uint64_t> ids_in(const fs::path& file, std::size_t bodies) {
  SnapshotInput input{file};
  TextLines lines{input};
  if (const std::uint64_t count = next_number(input, lines); count != bodies) {
    input.fail_at(0, "number of bodies", std::to_string(count) + ", but the snapshot has " + std::to_string(bodies));
  }
  std::vector<std::uint64_t> ids;
  ids.reserve(bodies);
  while (ids.size() < bodies) ids.push_back(next_number(input, lines));
  while (lines.next()) {
    if (trimmed(lines.line()).empty()) continue;
    input.fail_at(lines.byte_of(lines.line()), lines.place("id"), "more than the snapshot has bodies");
  }
  return ids;
}

fs::path iord_of(const fs::path& file) {
  return fs::path{file}.concat(".iord");
}

/// Reads the ids from FILE.iord, if it exists. Adds a note if they cannot be used.
void take_iord(const fs::path& file, Snapshot& snapshot) {
  const fs::path beside = iord_of(file);
  if (!fs::exists(beside)) return;
  try {
    snapshot.properties.ids = ids_in(beside, snapshot.bodies.positions.size());
  } catch (const std::runtime_error& error) {
    snapshot.notes.push_back(std::string{"ids are not read: "} + failure_text(error));
  }
}

/// Throws std::runtime_error if a new snapshot of this name would get the ids of an older one.
void check_iord(const fs::path& snapshot, Existing existing) {
  const fs::path beside = iord_of(snapshot);
  if (replaces(existing) || !fs::exists(beside)) return;
  throw std::runtime_error("'" + beside.string() + "' exists and holds the ids of other bodies: choose another name");
}

/// Writes FILE.iord.
class IordFile {
 public:
  /// Starts the file. Throws std::runtime_error if it exists and must not be replaced.
  IordFile(const fs::path& snapshot, std::size_t bodies, Existing existing);

  void add(std::uint64_t id);
  fs::path commit();

 private:
  AtomicFile out_;
  std::string text_;
};

IordFile::IordFile(const fs::path& snapshot, std::size_t bodies, Existing existing)
    : out_{iord_of(snapshot), existing}, text_{std::to_string(bodies) + '\n'} {
  check_iord(snapshot, existing);
}

void IordFile::add(std::uint64_t id) {
  constexpr std::size_t block = 1 << 20;
  text_ += std::to_string(id);
  text_ += '\n';
  if (text_.size() < block) return;
  out_.write(text_);
  text_.clear();
}

fs::path IordFile::commit() {
  out_.write(text_);
  return out_.commit();
}

// Units: the parameter file NAME.param of NAME.tipsy states them, in lines such as "dKpcUnit = 1" and "dMsolUnit =
// 1e10". All states of a run share it: NAME.param also applies to NAME.00128, NAME_00128.tipsy and NAME-2.tipsy, unless
// they have their own.

/// Statements about a snapshot's numbers in the parameter file of gasoline, ChaNGa or pkdgrav.
struct TipsyParam {
  fs::path file;                                             ///< the existing file, or the one to be written
  std::optional<Units> units{};                              ///< empty: the file states none, or unusable ones
  std::optional<bool> comoving{};                            ///< bComove
  bool double_positions = false, double_velocities = false;  ///< bDoublePos, bDoubleVel
  double box_size = 0;             ///< edge of a periodic box, in the run's unit of length; 0: none
  std::optional<double> omega0{};  ///< dOmega0
  std::string problem{};           ///< why something cannot be used: one line that names the file and the field
};

fs::path own_param(fs::path snapshot) {
  return snapshot.replace_extension(".param");
}

/// Returns whether a file of this name exists; false if that cannot be determined.
bool is_there(const fs::path& file) {
  std::error_code error;
  return fs::exists(file, error);
}

/// Returns the parameter file of the run: "run.param" for "run_00128.tipsy" and "run.00128.bin". If the name has no
/// number, returns the snapshot's own.
fs::path param_of_run(const fs::path& snapshot) {
  constexpr std::string_view digits = "0123456789", separators = "._-";
  const std::string stem = snapshot.stem().string();
  const std::size_t last = stem.find_last_not_of(digits);
  const bool numbered =
      last != stem.npos && last > 0 && last + 1 < stem.size() && separators.find(stem[last]) != separators.npos;
  return numbered ? snapshot.parent_path() / (stem.substr(0, last) + ".param") : own_param(snapshot);
}

/// Returns the parameter file that exists, or the one to be written.
fs::path param_of(const fs::path& snapshot) {
  const fs::path own = own_param(snapshot);
  return is_there(own) ? own : param_of_run(snapshot);
}

/// Returns the value in a line "name = value # comment"; nothing if the line has another name.
std::optional<std::string> value_of(std::string_view line, std::string_view name) {
  line = line.substr(0, line.find('#'));
  const std::size_t equals = line.find('=');
  if (equals == line.npos || trimmed(line.substr(0, equals)) != name) return std::nullopt;
  constexpr std::size_t most = 40;
  return std::string{trimmed(line.substr(equals + 1)).substr(0, most)};
}

/// Values of the parameters that Orrery uses, as text.
struct ParamValues {
  struct {
    const char* name;
    std::optional<std::string> text{};
  } values[9]{{"dKpcUnit"}, {"dMsolUnit"}, {"bComove"},    {"bPeriodic"}, {"dPeriod"},
              {"dxPeriod"}, {"dOmega0"},   {"bDoublePos"}, {"bDoubleVel"}};

  void take(std::string_view line) {
    for (auto& [name, text] : values) {
      if (auto value = value_of(line, name)) text = std::move(value);
    }
  }
  const std::optional<std::string>& text(std::string_view name) const {
    return std::ranges::find(values, name, [](const auto& value) { return std::string_view{value.name}; })->text;
  }
  std::optional<double> number(std::string_view name) const {
    const std::optional<std::string>& value = text(name);
    return value ? parsed_number<double>(*value) : std::nullopt;
  }
  /// Returns a flag: true for a number other than 0, "true" or "yes"; nothing for an unknown word.
  std::optional<bool> flag(std::string_view name) const {
    constexpr std::array<std::string_view, 4> yes{"true", "True", "TRUE", "yes"}, no{"false", "False", "FALSE", "no"};
    const std::string word = text(name).value_or("");
    if (std::ranges::find(yes, word) != yes.end()) return true;
    if (std::ranges::find(no, word) != no.end()) return false;
    const std::optional<double> value = number(name);
    return value ? std::optional{*value != 0} : std::nullopt;
  }
  /// Returns what is wrong with the first unusable flag, such as "bComove = maybe is not 0 or 1"; empty if all are
  /// usable.
  std::string fault_of_flags() const {
    for (const char* const name : {"bComove", "bPeriodic", "bDoublePos", "bDoubleVel"}) {
      if (text(name) && !flag(name)) return std::string{name} + " = " + *text(name) + " is not 0 or 1";
    }
    return {};
  }
};

/// Returns the number in `text` times `size`, a unit in CGS; 0 if it is unusable.
double unit_in(const std::string& text, double size) {
  const double unit = parsed_number<double>(text).value_or(0) * size;
  return Units::usable(unit) ? unit : 0;
}

/// Returns the units in the parameters; nothing if they state none, or unusable ones. `problem` gets the cause if they
/// are unusable.
std::optional<Units> units_in(const ParamValues& values, std::string& problem) {
  const std::optional<std::string>&kpc = values.text("dKpcUnit"), &solar_masses = values.text("dMsolUnit");
  if (!kpc && !solar_masses) return std::nullopt;
  const double length = kpc ? unit_in(*kpc, kpc_cm) : 0, mass = solar_masses ? unit_in(*solar_masses, solar_mass_g) : 0;
  if (!kpc || !solar_masses) {
    problem = std::string{kpc ? "dMsolUnit" : "dKpcUnit"} + " is missing";
  } else if (length == 0) {
    problem = "dKpcUnit = " + *kpc + " is no unit";
  } else if (mass == 0) {
    problem = "dMsolUnit = " + *solar_masses + " is no unit";
  } else {
    return gravity_units(length, mass);
  }
  return std::nullopt;
}

constexpr std::uintmax_t most_param_bytes = 1 << 20;  // largest parameter file that is read

/// Reads the values in a file of at most `most_param_bytes`. Returns why it cannot be read; empty if it was.
std::string read_values(const fs::path& file, ParamValues& values) {
  std::error_code error;
  const bool regular = fs::is_regular_file(file, error);
  if (error) return error.message();
  if (!regular) return "not a regular file";
  if (fs::file_size(file, error) > most_param_bytes) return error ? error.message() : "larger than 1 MB";
  std::ifstream lines{file};
  if (!lines) return std::generic_category().message(errno);
  bool first = true;
  for (std::string line; std::getline(lines, line); first = false) {
    values.take(first ? without_byte_order_mark(line) : std::string_view{line});
  }
  return lines.bad() ? "it could not be read to its end" : "";
}

/// Reads the parameter file of a snapshot, if there is one.
TipsyParam param_beside(const fs::path& snapshot) {
  TipsyParam found{.file = param_of(snapshot)};
  std::error_code error;
  if (!fs::exists(found.file, error) && !error) return found;
  ParamValues values;
  std::string problem = read_values(found.file, values);
  if (problem.empty()) {
    found.units = units_in(values, problem);
    found.comoving = values.flag("bComove");
    found.double_positions = values.flag("bDoublePos").value_or(false);
    found.double_velocities = values.flag("bDoubleVel").value_or(false);
    found.omega0 = values.number("dOmega0");
    const double period = values.number("dxPeriod").value_or(values.number("dPeriod").value_or(1));
    if (values.flag("bPeriodic").value_or(false) && period > 0 && std::isfinite(period)) found.box_size = period;
  }
  if (!problem.empty()) found.problem = "units are not read: '" + found.file.string() + "': " + problem;
  if (const std::string fault = values.fault_of_flags(); !fault.empty() && problem.empty()) {
    found.problem = "a flag is not read: '" + found.file.string() + "': " + fault;
  }
  return found;
}

/// Returns whether a reader would give a snapshot with this parameter file exactly these units.
bool gives(const TipsyParam& found, const std::optional<Units>& units) {
  constexpr double rounding = 1e-12;
  if (!found.problem.empty() || found.comoving.value_or(false) || found.box_size > 0) return false;
  if (found.double_positions || found.double_velocities || found.units.has_value() != units.has_value()) return false;
  return !units || nearly_equal(*found.units, *units, rounding);
}

/// Returns whether the file may be a TIPSY snapshot, by its number of dimensions.
bool may_be_snapshot(const fs::path& file) {
  std::array<std::byte, 16> head{};
  std::ifstream stream{file, std::ios::binary};
  if (!stream.read(reinterpret_cast<char*>(head.data()), head.size())) return false;
  return std::ranges::any_of(std::array{ByteOrder::little, ByteOrder::big}, [&](ByteOrder order) {
    const std::uint32_t dimensions = Bytes{order}.load32(&head[12]);
    return dimensions >= 1 && dimensions <= 3;
  });
}

/// Returns another snapshot in the folder that uses the parameter file `param`; nothing if there is none.
std::optional<fs::path> other_reader(const fs::path& param, const fs::path& snapshot) {
  std::error_code error;
  const fs::path folder = param.parent_path().empty() ? "." : param.parent_path();
  for (const fs::directory_entry& entry : fs::directory_iterator{folder, error}) {
    const fs::path file = param.parent_path() / entry.path().filename();
    if (file == snapshot || file == param || !entry.is_regular_file(error)) continue;
    if ((own_param(file) == param || param_of_run(file) == param) && param_of(file) == param && may_be_snapshot(file)) {
      return file;
    }
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const fs::path& param, const std::string& cause) {
  throw std::runtime_error('\'' + param.string() + "' " + cause + ": choose another name");
}

constexpr const char* no_units = "bComove = 0\nbPeriodic = 0\n";

/// Prevents an existing parameter file from giving wrong units to a snapshot that will be written, without affecting
/// other snapshots. If needed, writes a parameter file without units for this snapshot alone and returns its name;
/// write_param() adds the units. Throws std::runtime_error if another snapshot needs the file, or if `existing` keeps
/// it.
std::optional<fs::path> prepare_param(const fs::path& snapshot, const std::optional<Units>& units, Existing existing) {
  const TipsyParam found = param_beside(snapshot);
  if (is_stream(snapshot) || gives(found, units)) return std::nullopt;
  const fs::path own = own_param(snapshot);
  if (own == param_of_run(snapshot)) {
    if (const auto other = other_reader(own, snapshot)) {
      refuse(own, "is also the parameter file of '" + other->string() + "', which has other units");
    }
  }
  if (!is_there(found.file) && found.problem.empty()) return std::nullopt;
  if (existing == Existing::keep) {
    refuse(found.file, units ? "exists and holds other units than the snapshot"
                             : "exists and would give its units to bodies that have none");
  }
  return write_file(own, no_units, existing);
}

/// Writes the parameter file of a written snapshot, unless the snapshot has these units already. Writes the run's file
/// if it does not exist and no other snapshot would use it, otherwise the snapshot's own. Returns its name.
std::optional<fs::path> write_param(const fs::path& snapshot, const std::optional<Units>& units, Existing existing) {
  if (!units || is_stream(snapshot) || gives(param_beside(snapshot), units)) return std::nullopt;
  const std::string text = "dKpcUnit = " + shortest_text(units->length_cm / kpc_cm) +
                           "\ndMsolUnit = " + shortest_text(units->mass_g / solar_mass_g) + '\n' + no_units;
  const fs::path run = param_of_run(snapshot);
  const bool shared = is_there(run) || other_reader(run, snapshot);
  return write_file(shared ? own_param(snapshot) : run, text, existing);
}

// The file itself.

constexpr std::size_t header_bytes = 32;

/// Layout of one kind of records. Each starts with seven floats: mass, x, y, z, vx, vy, vz. The last float is the
/// potential, which is written as 0.
struct RecordKind {
  const char* name;
  Species species;
  std::size_t floats;
  std::size_t bytes() const { return floats * sizeof(float); }
};

constexpr std::array<RecordKind, 3> record_kinds{
    {{"gas", Species::gas, 12}, {"dark", Species::dark, 9}, {"star", Species::star, 11}}};

/// Field of records that a Snapshot does not hold. `place`: its index among the floats of each kind; 0: the kind has
/// none.
struct UnreadField {
  const char* name;
  std::array<std::size_t, record_kinds.size()> place;
};

constexpr UnreadField unread_density{"density of gas", {7, 0, 0}}, unread_potential{"potential", {11, 8, 10}};

namespace header {

constexpr std::size_t time = 0, bodies = 8, dimensions = 12, gas = 16, dark = 20, star = 24, pad = 28;
}  // namespace header

/// Vectors that are doubles in all records (gasoline's bDoublePos and bDoubleVel). Each lengthens a record by 12 bytes.
struct Doubles {
  bool positions = false, velocities = false;
  std::size_t more_bytes() const { return 12 * (std::size_t{positions} + std::size_t{velocities}); }
  const char* text() const {
    return positions && velocities ? ", positions and velocities in double"
           : positions             ? ", positions in double"
           : velocities            ? ", velocities in double"
                                   : "";
  }
  /// Returns the byte offset in a record of the number with index `place`.
  std::size_t byte_of(std::size_t place) const {
    const auto before = [&](std::size_t first) { return std::clamp<std::size_t>(place, first, first + 3) - first; };
    return sizeof(float) * (place + (positions ? before(1) : 0) + (velocities ? before(4) : 0));
  }
};

struct Header {
  ByteOrder order;
  double time;
  std::array<std::uint64_t, record_kinds.size()> counts;  // gas, dark, star
  enum class Ids {
    none,
    for_potential,                // ids perhaps replace the potential; see BonsaiIds
    for_softening_and_potential,  // ids of 64 bits replace both
  } ids = Ids::none;

  Doubles doubles{};

  std::uint64_t bodies() const { return counts[0] + counts[1] + counts[2]; }
  std::size_t record_bytes(std::size_t kind) const { return record_kinds[kind].bytes() + doubles.more_bytes(); }
  std::uint64_t file_bytes() const {
    std::uint64_t bytes = header_bytes;
    for (std::size_t kind = 0; kind < counts.size(); ++kind) bytes += counts[kind] * record_bytes(kind);
    return bytes;
  }
  /// Returns the record at a byte offset as text: "star record 2 (counted from 0)".
  std::string record_at(std::uint64_t byte) const {
    std::uint64_t first = header_bytes;
    for (std::size_t kind = 0; kind < counts.size(); ++kind) {
      const std::uint64_t next = first + counts[kind] * record_bytes(kind);
      if (byte < next) return record_text(kind, (byte - first) / record_bytes(kind));
      first = next;
    }
    return "records";
  }
  static std::string record_text(std::size_t kind, std::uint64_t number) {
    return std::string{record_kinds[kind].name} + " record " + std::to_string(number) + " (counted from 0)";
  }
};

bool dimensions_fit(std::span<const std::byte> head, ByteOrder order) {
  if (head.size() < header_bytes) return false;
  const std::uint32_t dimensions = Bytes{order}.load32(&head[header::dimensions]);
  return dimensions >= 1 && dimensions <= 3;
}

bool detect(std::span<const std::byte> head, std::uint64_t) {
  return dimensions_fit(head, ByteOrder::little) || dimensions_fit(head, ByteOrder::big);
}

/// Parses the header. Throws if its counts contradict each other, neither byte order fits, or the time is not finite.
Header parsed_header(const SnapshotInput& input) {
  const std::span<const std::byte> head = input.head();
  if (head.size() < header_bytes) {
    input.fail_at(head.size(), "header",
                  "truncated: " + counted(head.size(), "byte") + ", but a TIPSY header alone has 32");
  }
  if (!detect(head, input.size())) {
    input.fail_at(header::dimensions, "ndim", "not a TIPSY file: in neither byte order 1, 2 or 3 dimensions");
  }
  const ByteOrder order = dimensions_fit(head, ByteOrder::little) ? ByteOrder::little : ByteOrder::big;
  const Bytes bytes{order};
  Header small{order, bytes.load_double(&head[header::time]), {}};
  if (!std::isfinite(small.time)) input.fail_at(header::time, "time", "not finite");
  small.counts = {bytes.load32(&head[header::gas]), bytes.load32(&head[header::dark]),
                  bytes.load32(&head[header::star])};
  const std::uint64_t bodies = bytes.load32(&head[header::bodies]), pad = bytes.load32(&head[header::pad]);
  if (bodies == small.bodies()) {
    if (small.counts[0] > 0) return small;  // Bonsai, which writes ids, has no gas
    small.ids = pad == 2 ? Header::Ids::for_softening_and_potential : Header::Ids::for_potential;
    return small;
  }

  // The padding may hold bits 32 to 39 of the four counts. Many writers leave it undefined, so it is used only if it
  // makes the counts agree.
  Header large = small;
  for (std::size_t kind = 0; kind < large.counts.size(); ++kind) {
    large.counts[kind] |= ((pad >> (8 * (kind + 1))) & 0xff) << 32;
  }
  if ((bodies | (pad & 0xff) << 32) == large.bodies()) return large;
  input.fail_at(header::bodies, "nbodies",
                "not a TIPSY file, or a damaged one: its header has " + counted(bodies, "body record") + ", but " +
                    format_count(small.counts[0]) + " gas + " + format_count(small.counts[1]) + " dark + " +
                    format_count(small.counts[2]) + " star");
}

/// Returns which vectors are doubles, by the size of the file. If two choices give the same size, the parameter file
/// decides; without one, positions are doubles.
Doubles doubles_in(const SnapshotInput& input, const Header& head, const TipsyParam& param) {
  for (const bool both : {false, true}) {
    const bool velocities_alone = param.double_velocities && !param.double_positions;
    Header wide = head;
    wide.doubles = {.positions = both || !velocities_alone, .velocities = both || velocities_alone};
    if (wide.file_bytes() == input.size()) return wide.doubles;
  }
  return {};
}

/// Throws if the file has another size than its header implies, or too many bodies for this program.
void check_size(const SnapshotInput& input, const Header& head) {
  if (head.bodies() == 0) input.fail_at(header::bodies, "nbodies", "a TIPSY file without bodies");
  const std::uint64_t expected = head.file_bytes(), size = input.size();
  const std::string has = "its header asks for " + counted(expected, "byte") + " (" +
                          counted(head.counts[0], "gas record") + ", " + format_count(head.counts[1]) + " dark, " +
                          format_count(head.counts[2]) + " star), it has " + format_count(size);
  if (size < expected) {
    input.fail_at(size, head.record_at(size), "truncated, " + counted(expected - size, "byte") + " missing: " + has);
  }
  if (size > expected) {
    input.fail_at(expected, "end of the records",
                  "oversized, " + counted(size - expected, "byte") + " too many: " + has);
  }
  input.require_room_for(head.bodies());
}

/// Collects the last 32-bit words of records, which may be ids by version 1 of Bonsai. Ids are all different: from
/// 200,000,000 for dark bodies, below that for stars. As floats, they are above 0 and below 1e-23, as no potential is.
/// Frees its memory when a word cannot be an id.
class BonsaiIds {
 public:
  void add(Species species, std::uint32_t word) {
    constexpr std::uint32_t first_dark = 200'000'000, end = 2 * first_dark;
    if (!possible_) return;
    const bool in_range = species == Species::dark ? word >= first_dark && word < end : word < first_dark;
    possible_ = in_range && (words_.empty() || word != words_.back());
    if (possible_) {
      words_.push_back(word);
    } else {
      words_ = {};
    }
  }
  /// Returns the ids; empty if the words are not ids.
  std::vector<std::uint64_t> ids() {
    if (words_.size() < 2) return {};
    std::vector<std::uint64_t> ids{words_.begin(), words_.end()};
    std::ranges::sort(words_);
    const bool different = std::ranges::adjacent_find(words_) == words_.end();
    words_ = {};
    return different ? std::move(ids) : std::vector<std::uint64_t>{};
  }

 private:
  bool possible_ = true;
  std::vector<std::uint32_t> words_;
};

/// Property and its index among the floats of gas, dark and star records; 0: the record does not have it.
struct Column {
  const char* name;
  std::vector<float> BodyProperties::*values;
  std::array<std::size_t, record_kinds.size()> place;
};

constexpr std::array<Column, 4> columns{{{"a softening", &BodyProperties::softening, {9, 7, 9}},
                                         {"a temperature", &BodyProperties::temperature, {8, 0, 0}},
                                         {"metals", &BodyProperties::metals, {10, 0, 7}},
                                         {"a formation time", &BodyProperties::formation_time, {0, 0, 8}}}};

constexpr std::size_t records_per_block = 16384;  // number of records read or written together

/// Reads the records, one kind after the other.
class RecordReader {
 public:
  /// `units_known`: true skips the check of SnapshotLimits, because settle() can convert the units first.
  RecordReader(SnapshotInput& input, const Header& head, bool units_known)
      : input_{input}, head_{head}, bytes_{head.order}, units_known_{units_known} {
    snapshot_.time = head.time;
    snapshot_.wide.in_double = head.doubles.positions || head.doubles.velocities;
    snapshot_.bodies.positions.reserve(head.bodies());
    snapshot_.bodies.velocities.reserve(head.bodies());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      used_[i] = is_used(columns[i]);
      if (used_[i]) (snapshot_.properties.*columns[i].values).reserve(head.bodies());
    }
    if (head.ids == Header::Ids::for_softening_and_potential) snapshot_.properties.ids.reserve(head.bodies());
    if (!all_dark()) snapshot_.properties.species.reserve(head.bodies());
  }

  Snapshot read() {
    for (std::size_t kind = 0; kind < record_kinds.size(); ++kind) read_records(kind);
    for (const auto& [name, column, place] : columns) {
      std::vector<float>& values = snapshot_.properties.*column;
      if (std::ranges::all_of(values, [](float value) { return value == 0; })) values = {};
    }
    if (head_.ids == Header::Ids::for_potential) snapshot_.properties.ids = possible_ids_.ids();
    return std::move(snapshot_);
  }
  bool has_density() const { return has_density_; }
  bool has_potential() const { return has_potential_; }

 private:
  static Vec4 single(const Vec3d& v, float w) {
    return {single_precision(v.x), single_precision(v.y), single_precision(v.z), w};
  }
  bool all_dark() const { return head_.counts[1] == head_.bodies(); }
  bool is_used(const Column& column) const {
    if (column.values == &BodyProperties::softening && head_.ids == Header::Ids::for_softening_and_potential)
      return false;
    bool used = false;
    for (std::size_t kind = 0; kind < column.place.size(); ++kind) {
      used |= column.place[kind] != 0 && head_.counts[kind] > 0;
    }
    return used;
  }

  void read_records(std::size_t kind) {
    const std::size_t size = head_.record_bytes(kind);
    std::vector<std::byte> block(std::min<std::uint64_t>(records_per_block, head_.counts[kind]) * size);
    for (std::uint64_t first = 0; first < head_.counts[kind]; first += records_per_block) {
      const std::uint64_t here = std::min<std::uint64_t>(records_per_block, head_.counts[kind] - first);
      input_.read(block.data(), here * size);
      for (std::uint64_t i = 0; i < here; ++i) {
        if (const std::string cause = append(kind, &block[i * size]); !cause.empty()) {
          input_.fail_at(input_.offset() - (here - i) * size, Header::record_text(kind, first + i), cause);
        }
      }
    }
  }

  /// Appends the body of a record. Returns why the record cannot be used; empty if it was appended.
  std::string append(std::size_t kind, const std::byte* at) {
    const Doubles& doubles = head_.doubles;
    const auto value = [&](std::size_t place) { return bytes_.load_float(at + doubles.byte_of(place)); };
    const auto vector = [&](std::size_t place, bool wide) {
      const auto component = [&](std::size_t k) -> double {
        return wide ? bytes_.load_double(at + doubles.byte_of(place + k)) : value(place + k);
      };
      return Vec3d{component(0), component(1), component(2)};
    };
    const Vec3d position = vector(1, doubles.positions), velocity = vector(4, doubles.velocities);
    std::string cause = no_body(position, value(0), velocity);
    if (cause.empty() && !units_known_) cause = unusable(single(position, value(0)), single(velocity, 0));
    if (!cause.empty()) return cause;
    append_body(snapshot_, position, value(0), velocity);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Column& column = columns[i];
      if (!used_[i]) continue;
      const float held = column.place[kind] == 0 ? 0 : value(column.place[kind]);
      if (!std::isfinite(held)) return std::string{column.name} + " that is not finite";
      (snapshot_.properties.*column.values).push_back(held);
    }
    if (!all_dark()) snapshot_.properties.species.push_back(record_kinds[kind].species);
    const std::byte* const end = at + head_.record_bytes(kind);
    if (head_.ids == Header::Ids::for_potential) possible_ids_.add(record_kinds[kind].species, bytes_.load32(end - 4));
    if (head_.ids == Header::Ids::for_softening_and_potential) {
      snapshot_.properties.ids.push_back(bytes_.load64(end - 8));
    }
    if (unread_density.place[kind] != 0) has_density_ |= value(unread_density.place[kind]) != 0;
    has_potential_ |= value(unread_potential.place[kind]) != 0;
    return {};
  }

  SnapshotInput& input_;
  const Header& head_;
  const Bytes bytes_;
  const bool units_known_;
  Snapshot snapshot_;
  BonsaiIds possible_ids_;
  std::array<bool, columns.size()> used_{};
  bool has_density_ = false, has_potential_ = false;
};

/// Applies the parameter file to the snapshot: see FileMeaning.
void take_param(const SnapshotInput& input, const TipsyParam& param, Snapshot& snapshot) {
  FileMeaning meaning{.time = snapshot.time, .units = param.units, .length = {1, 0}, .mass = {}, .velocity = {1, 0}};
  meaning.comoving = param.comoving.value_or(false);
  meaning.comoving_name = "bComove";
  meaning.box_size = param.box_size;
  if (param.comoving) meaning.omega0 = param.omega0;
  if (const std::string cause = take_meaning(meaning, input.hints(), snapshot); !cause.empty()) input.fail(cause);
  if (param.units && !input.hints().units) snapshot.units_file = param.file.string();
  if (!param.problem.empty()) snapshot.notes.push_back(param.problem);
  if (snapshot.properties.formation_scale_factors && !snapshot.properties.formation_time.empty()) {
    snapshot.notes.emplace_back("formation times are kept as they are in the file");
  }
}

Snapshot read(SnapshotInput& input) {
  const TipsyParam param = param_beside(input.path());
  Header head = parsed_header(input);
  head.doubles = doubles_in(input, head, param);
  check_size(input, head);
  input.set_encoding(std::string{name_of(head.order)} + head.doubles.text());
  std::array<std::byte, header_bytes> skipped;
  input.read(skipped.data(), skipped.size());

  RecordReader reader{input, head, param.units || param.comoving.value_or(false) || input.hints().units};
  Snapshot snapshot = reader.read();
  const std::vector<std::uint64_t>& ids = snapshot.properties.ids;
  if (reader.has_density()) snapshot.unread.emplace_back(unread_density.name);
  if (reader.has_potential() && ids.empty()) snapshot.unread.emplace_back(unread_potential.name);
  if (ids.empty()) take_iord(input.path(), snapshot);
  take_param(input, param, snapshot);
  return snapshot;
}

/// Writes bodies as records of one kind, in blocks.
class RecordWriter {
 public:
  RecordWriter(AtomicFile& out, const SnapshotView& snapshot, std::size_t kind, ByteOrder order)
      : out_{out}, snapshot_{snapshot}, kind_{kind}, bytes_{order} {}

  void add(std::size_t body) {
    const RecordKind& record = record_kinds[kind_];
    const Vec4& p = snapshot_.bodies->position(body);
    const Vec4& v = snapshot_.bodies->velocity(body);
    std::array<float, 12> values{p.w, p.x, p.y, p.z, v.x, v.y, v.z};
    for (const auto& [name, column, place] : columns) {
      const std::vector<float>& own = snapshot_.properties.*column;
      const float common = column == &BodyProperties::softening ? snapshot_.softening : 0.0f;
      if (place[kind_] != 0) values[place[kind_]] = own.empty() ? common : own[body];
    }
    const std::size_t at = block_.size();
    block_.resize(at + record.bytes());
    for (std::size_t i = 0; i < record.floats; ++i) bytes_.store_float(&block_[at + i * sizeof(float)], values[i]);
    if (block_.size() == records_per_block * record.bytes()) flush();
  }
  void flush() {
    out_.write({reinterpret_cast<const char*>(block_.data()), block_.size()});
    block_.clear();
  }

 private:
  AtomicFile& out_;
  const SnapshotView& snapshot_;
  const std::size_t kind_;
  const Bytes bytes_;
  std::vector<std::byte> block_;
};

/// Writes the bodies grouped by species; bodies of one species keep their order.
std::vector<fs::path> write(const fs::path& file, const SnapshotView& snapshot, const SnapshotOutput& output) {
  const ByteOrder order = output.order.value_or(ByteOrder::big);
  const std::vector<Species>& species = snapshot.properties.species;
  const std::size_t count = snapshot.bodies->count();
  const auto species_of = [&](std::size_t body) {
    return species.empty() ? Species::dark : plain_species(species[body]);
  };
  std::array<std::uint32_t, record_kinds.size()> counts{};
  for (std::size_t i = 0; i < count; ++i) {
    ++counts[static_cast<std::size_t>(std::ranges::find(record_kinds, species_of(i), &RecordKind::species) -
                                      record_kinds.begin())];
  }

  const std::vector<std::uint64_t>& ids = snapshot.properties.ids;
  const bool stream = is_stream(file);
  const bool numbered = !stream && (!ids.empty() || !std::ranges::is_sorted(species, {}, plain_species));
  const std::optional<fs::path> own_param = prepare_param(file, snapshot.units, output.existing);
  if (!stream && !fs::exists(file)) check_iord(file, output.existing);
  AtomicFile out{file, output.existing};
  const Bytes bytes{order};
  std::array<std::byte, header_bytes> head{};
  bytes.store_double(&head[header::time], snapshot.time);
  bytes.store32(&head[header::bodies], static_cast<std::uint32_t>(count));
  bytes.store32(&head[header::dimensions], 3);
  bytes.store32(&head[header::gas], counts[0]);
  bytes.store32(&head[header::dark], counts[1]);
  bytes.store32(&head[header::star], counts[2]);
  out.write({reinterpret_cast<const char*>(head.data()), head.size()});
  const auto for_each_of = [&](std::size_t kind, const auto& add) {
    for (std::size_t i = 0; i < count; ++i) {
      if (species_of(i) == record_kinds[kind].species) add(i);
    }
  };
  for (std::size_t kind = 0; kind < record_kinds.size(); ++kind) {
    RecordWriter records{out, snapshot, kind, order};
    for_each_of(kind, [&](std::size_t body) { records.add(body); });
    records.flush();
  }
  // The old ids are removed first. If the program is killed between the two files, the bodies have no ids, not wrong
  // ones.
  if (!stream && replaces(output.existing)) fs::remove(iord_of(file));
  std::vector<fs::path> written{out.commit()};
  if (numbered) {
    IordFile beside{written.front(), count, output.existing};
    for (std::size_t kind = 0; kind < record_kinds.size(); ++kind) {
      for_each_of(kind, [&](std::size_t body) { beside.add(ids.empty() ? body : ids[body]); });
    }
    written.push_back(beside.commit());
  }
  const std::optional<fs::path> param = write_param(written.front(), snapshot.units, output.existing);
  if (param || own_param) written.push_back(param ? *param : *own_param);
  return written;
}

}  // namespace

extern const SnapshotFormat tipsy_format;

constinit const SnapshotFormat tipsy_format{
    .id = "tipsy",
    .title = "TIPSY",
    .endings = {".tipsy"},
    .companion = ".tipsy.iord",
    .holds = {.velocities = true,
              .time = true,
              .ids = true,
              .species = true,
              .softening = true,
              .temperature = true,
              .metals = true,
              .formation_time = true,
              .units = true,
              .properties_by_species = true,
              .beside = true},
    .groups_species = true,
    .units = UnitRule::gravity,
    .takes_cosmology = true,
    .detect = detect,
    .read = read,
    .write = write,
};

}  // namespace orrery
