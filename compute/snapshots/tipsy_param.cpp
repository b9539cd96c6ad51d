#include "compute/snapshots/tipsy_param.h"

#include <array>
#include <charconv>
#include <fstream>
#include <stdexcept>
#include <string>

#include "compute/core/atomic_file.h"
#include "compute/core/parse_number.h"
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

/// The value in a line "name = value # comment".
std::optional<double> value_of(std::string_view line, std::string_view name) {
  line = line.substr(0, line.find('#'));
  const std::size_t equals = line.find('=');
  if (equals == line.npos || trimmed(line.substr(0, equals)) != name) return std::nullopt;
  return parsed_number<double>(trimmed(line.substr(equals + 1)));
}

std::string param_number(double value) {
  std::array<char, 32> digits;
  const auto [end, failed] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end};
}

bool same_units(const std::optional<ParamUnits>& found, const Units& units) {
  constexpr double rounding = 1e-12;
  return found && nearly_equal(found->units, units, rounding);
}

}  // namespace

std::optional<ParamUnits> units_beside(const fs::path& snapshot) {
  const fs::path file = param_of(snapshot);
  if (!is_small_file(file)) return std::nullopt;
  std::ifstream lines{file};
  std::optional<double> kpc, solar_masses;
  for (std::string line; std::getline(lines, line);) {
    if (const auto value = value_of(line, "dKpcUnit")) kpc = value;
    if (const auto value = value_of(line, "dMsolUnit")) solar_masses = value;
  }
  if (!kpc || !solar_masses) return std::nullopt;
  const Units units = gravity_units(*kpc * kpc_cm, *solar_masses * solar_mass_g);
  return units.usable() ? std::optional{ParamUnits{units, file}} : std::nullopt;
}

void check_param(const fs::path& snapshot, const Units& units, Existing existing) {
  const fs::path param = param_of(snapshot);
  if (existing == Existing::replace || !fs::exists(param) || is_stream(snapshot) ||
      same_units(units_beside(snapshot), units)) {
    return;
  }
  throw std::runtime_error("'" + param.string() +
                           "' exists and holds other units than the snapshot: choose another name");
}

void write_param(std::vector<fs::path>& written, const Units& units, Existing existing) {
  const fs::path snapshot = written.front();
  if (is_stream(snapshot) || same_units(units_beside(snapshot), units)) return;
  check_param(snapshot, units, existing);
  const std::string text = "dKpcUnit = " + param_number(units.length_cm / kpc_cm) +
                           "\ndMsolUnit = " + param_number(units.mass_g / solar_mass_g) +
                           "\nbComove = 0\nbPeriodic = 0\n";
  written.emplace_back(write_file(param_of(snapshot), text, existing));
}

}  // namespace orrery
