#include "compute/snapshots/tipsy_param.h"

#include <array>
#include <charconv>
#include <fstream>
#include <stdexcept>
#include <string>

#include "compute/core/atomic_file.h"
#include "compute/core/parse_number.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_param_bytes = 1 << 20;  // of a parameter file

fs::path own_param(fs::path snapshot) {
  return snapshot.replace_extension(".param");
}

bool is_small_file(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && fs::file_size(file, error) <= most_param_bytes && !error;
}

/// Its own, or the only one in the folder; empty if there is none.
fs::path param_of(const fs::path& snapshot) {
  if (const fs::path own = own_param(snapshot); is_small_file(own)) return own;
  const fs::path folder = snapshot.has_parent_path() ? snapshot.parent_path() : fs::path{"."};
  fs::path only;
  std::error_code error;
  for (fs::directory_iterator entry{folder, error}; !error && entry != fs::directory_iterator{};
       entry.increment(error)) {
    if (entry->path().extension() != ".param") continue;
    if (!only.empty()) return {};
    only = entry->path();
  }
  return is_small_file(only) ? only : fs::path{};
}

/// The value in a line "name = value # comment".
std::optional<double> value_of(std::string_view line, std::string_view name) {
  line = line.substr(0, line.find('#'));
  const auto trim = [](std::string_view text) {
    constexpr std::string_view blanks = " \t\r";
    const std::size_t begin = text.find_first_not_of(blanks);
    return begin == text.npos ? std::string_view{} : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
  };
  const std::size_t equals = line.find('=');
  if (equals == line.npos || trim(line.substr(0, equals)) != name) return std::nullopt;
  return parsed_number<double>(trim(line.substr(equals + 1)));
}

std::string param_number(double value) {
  std::array<char, 32> digits;
  const auto [end, failed] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end};
}

bool same_units(const std::optional<Units>& found, const Units& units) {
  constexpr double rounding = 1e-12;
  return found && nearly_equal(*found, units, rounding);
}

}  // namespace

std::optional<Units> units_beside(const fs::path& snapshot) {
  const fs::path file = param_of(snapshot);
  if (file.empty()) return std::nullopt;
  std::ifstream lines{file};
  std::optional<double> kpc, solar_masses;
  for (std::string line; std::getline(lines, line);) {
    if (const auto value = value_of(line, "dKpcUnit")) kpc = value;
    if (const auto value = value_of(line, "dMsolUnit")) solar_masses = value;
  }
  if (!kpc || !solar_masses) return std::nullopt;
  const Units units = gravity_units(*kpc * kpc_cm, *solar_masses * solar_mass_g);
  return units.usable() ? std::optional{units} : std::nullopt;
}

void check_param(const fs::path& snapshot, const Units& units, Existing existing) {
  const fs::path own = own_param(snapshot);
  if (existing == Existing::replace || !fs::exists(own) || is_stream(snapshot) ||
      same_units(units_beside(snapshot), units)) {
    return;
  }
  throw std::runtime_error("'" + own.string() +
                           "' exists and holds other units than the snapshot: choose another name");
}

void write_param(std::vector<fs::path>& written, const Units& units, Existing existing) {
  const fs::path snapshot = written.front();
  if (is_stream(snapshot) || same_units(units_beside(snapshot), units)) return;
  check_param(snapshot, units, existing);
  const std::string text = "dKpcUnit = " + param_number(units.length_cm / kpc_cm) +
                           "\ndMsolUnit = " + param_number(units.mass_g / solar_mass_g) +
                           "\nbComove = 0\nbPeriodic = 0\n";
  written.emplace_back(write_file(own_param(snapshot), text, existing));
}

}  // namespace orrery
