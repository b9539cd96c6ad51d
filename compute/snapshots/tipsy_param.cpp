#include "compute/snapshots/tipsy_param.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "compute/core/atomic_file.h"
#include "compute/core/parse_number.h"
#include "compute/core/range.h"
#include "compute/core/trimmed.h"
#include "compute/snapshots/bytes.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_param_bytes = 1 << 20;  // of a parameter file

fs::path own_param(fs::path snapshot) {
  return snapshot.replace_extension(".param");
}

/// Whether there is anything of that name; false where that cannot be known.
bool is_there(const fs::path& file) {
  std::error_code error;
  return fs::exists(file, error);
}

/// "run.param" for "run_00128.tipsy" and "run.00128.bin"; the snapshot's own where its name has no number.
fs::path param_of_run(const fs::path& snapshot) {
  constexpr std::string_view digits = "0123456789", separators = "._-";
  const std::string stem = snapshot.stem().string();
  const std::size_t last = stem.find_last_not_of(digits);
  const bool numbered =
      last != stem.npos && last > 0 && last + 1 < stem.size() && separators.find(stem[last]) != separators.npos;
  return numbered ? snapshot.parent_path() / (stem.substr(0, last) + ".param") : own_param(snapshot);
}

/// The one that exists, or the one that would be written.
fs::path param_of(const fs::path& snapshot) {
  const fs::path own = own_param(snapshot);
  return is_there(own) ? own : param_of_run(snapshot);
}

/// The value in a line "name = value # comment", or its beginning.
std::optional<std::string> value_of(std::string_view line, std::string_view name) {
  line = line.substr(0, line.find('#'));
  const std::size_t equals = line.find('=');
  if (equals == line.npos || trimmed(line.substr(0, equals)) != name) return std::nullopt;
  constexpr std::size_t most = 40;
  return std::string{trimmed(line.substr(equals + 1)).substr(0, most)};
}

/// A unit that the file gives as `text`, in CGS; 0 if it is none.
double unit_in(const std::string& text, double size) {
  const double unit = parsed_number<double>(text).value_or(0) * size;
  return Units::usable(unit) ? unit : 0;
}

/// The values that this program uses, as the file has them.
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
  /// 1, "true" and the like are true; nothing if the value is another word.
  std::optional<bool> flag(std::string_view name) const {
    constexpr std::array<std::string_view, 4> yes{"true", "True", "TRUE", "yes"}, no{"false", "False", "FALSE", "no"};
    const std::string word = text(name).value_or("");
    if (std::ranges::find(yes, word) != yes.end()) return true;
    if (std::ranges::find(no, word) != no.end()) return false;
    const std::optional<double> value = number(name);
    return value ? std::optional{*value != 0} : std::nullopt;
  }
  /// The first flag that is there but cannot be used, as "bComove = maybe is no flag"; empty if there is none.
  std::string fault_of_flags() const {
    for (const char* const name : {"bComove", "bPeriodic", "bDoublePos", "bDoubleVel"}) {
      if (text(name) && !flag(name)) return std::string{name} + " = " + *text(name) + " is not 0 or 1";
    }
    return {};
  }
};

/// Returns the units; or nothing, and why in `problem` if the file names any.
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

/// Reads the lines of a file of at most `most_param_bytes`. Returns why it cannot be read; empty if it was.
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

/// Whether a reader would give a snapshot with this parameter file exactly these units.
bool gives(const TipsyParam& found, const std::optional<Units>& units) {
  constexpr double rounding = 1e-12;
  if (!found.problem.empty() || found.comoving.value_or(false) || found.box_size > 0) return false;
  if (found.double_positions || found.double_velocities || found.units.has_value() != units.has_value()) return false;
  return !units || nearly_equal(*found.units, *units, rounding);
}

/// Whether the file may be a TIPSY snapshot, by its number of dimensions.
bool may_be_snapshot(const fs::path& file) {
  std::array<std::byte, 16> head{};
  std::ifstream stream{file, std::ios::binary};
  if (!stream.read(reinterpret_cast<char*>(head.data()), head.size())) return false;
  return std::ranges::any_of(std::array{ByteOrder::little, ByteOrder::big}, [&](ByteOrder order) {
    const std::uint32_t dimensions = Bytes{order}.load32(&head[12]);
    return dimensions >= 1 && dimensions <= 3;
  });
}

/// Another snapshot in the folder that reads the parameter file `param`; nothing if there is none.
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

}  // namespace

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

std::optional<fs::path> write_param(const fs::path& snapshot, const std::optional<Units>& units, Existing existing) {
  if (!units || is_stream(snapshot) || gives(param_beside(snapshot), units)) return std::nullopt;
  const std::string text = "dKpcUnit = " + shortest_text(units->length_cm / kpc_cm) +
                           "\ndMsolUnit = " + shortest_text(units->mass_g / solar_mass_g) + '\n' + no_units;
  const fs::path run = param_of_run(snapshot);
  const bool shared = is_there(run) || other_reader(run, snapshot);
  return write_file(shared ? own_param(snapshot) : run, text, existing);
}

}  // namespace orrery
