#include "compute/snapshots/tipsy_param.h"

#include <fstream>
#include <stdexcept>
#include <string>

#include "compute/core/atomic_file.h"
#include "compute/core/parse_number.h"
#include "compute/core/range.h"
#include "compute/core/trimmed.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_param_bytes = 1 << 20;  // of a parameter file

fs::path own_param(fs::path snapshot) {
  return snapshot.replace_extension(".param");
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

bool is_small_file(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && fs::file_size(file, error) <= most_param_bytes && !error;
}

/// The one that exists, or the one that would be written.
fs::path param_of(const fs::path& snapshot) {
  const fs::path own = own_param(snapshot);
  return fs::exists(own) ? own : param_of_run(snapshot);
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

bool same_units(const ParamUnits& found, const Units& units) {
  constexpr double rounding = 1e-12;
  return found.units && nearly_equal(*found.units, units, rounding);
}

}  // namespace

ParamUnits units_beside(const fs::path& snapshot) {
  ParamUnits found{.file = param_of(snapshot)};
  if (!is_small_file(found.file)) return found;
  std::ifstream lines{found.file};
  std::optional<std::string> kpc, solar_masses;
  for (std::string line; std::getline(lines, line);) {
    if (const auto value = value_of(line, "dKpcUnit")) kpc = value;
    if (const auto value = value_of(line, "dMsolUnit")) solar_masses = value;
  }
  if (!kpc && !solar_masses) return found;
  const auto refuse = [&](const std::string& cause) {
    found.problem = "units are not read: '" + found.file.string() + "': " + cause;
    return found;
  };
  if (!kpc) return refuse("dKpcUnit is missing");
  if (!solar_masses) return refuse("dMsolUnit is missing");
  const double length = unit_in(*kpc, kpc_cm), mass = unit_in(*solar_masses, solar_mass_g);
  if (length == 0) return refuse("dKpcUnit = " + *kpc + " is no unit");
  if (mass == 0) return refuse("dMsolUnit = " + *solar_masses + " is no unit");
  found.units = gravity_units(length, mass);
  return found;
}

void check_param(const fs::path& snapshot, const Units& units, Existing existing) {
  const fs::path param = param_of(snapshot);
  if (replaces(existing) || !fs::exists(param) || is_stream(snapshot) || same_units(units_beside(snapshot), units)) {
    return;
  }
  throw std::runtime_error("'" + param.string() +
                           "' exists and holds other units than the snapshot: choose another name");
}

void write_param(std::vector<fs::path>& written, const Units& units, Existing existing) {
  const fs::path snapshot = written.front();
  if (is_stream(snapshot) || same_units(units_beside(snapshot), units)) return;
  check_param(snapshot, units, existing);
  const std::string text = "dKpcUnit = " + shortest_text(units.length_cm / kpc_cm) +
                           "\ndMsolUnit = " + shortest_text(units.mass_g / solar_mass_g) +
                           "\nbComove = 0\nbPeriodic = 0\n";
  written.emplace_back(write_file(param_of(snapshot), text, existing));
}

}  // namespace orrery
