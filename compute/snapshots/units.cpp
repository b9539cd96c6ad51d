#include "compute/snapshots/units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/snapshots/snapshot.h"

namespace orrery {
namespace {

constexpr double au_cm = 1.495978707e13;
constexpr double year_s = 3.15576e7;

constexpr NamedUnit length_units[]{{"kpc", kpc_cm},
                                   {"Mpc", 1e3 * kpc_cm},
                                   {"pc", 1e-3 * kpc_cm},
                                   {"AU", au_cm},
                                   {"Rsun", 6.957e10},
                                   {"km", 1e5},
                                   {"m", 1e2},
                                   {"cm", 1},
                                   {"ly", 9.4607304725808e17}};
constexpr NamedUnit mass_units[]{
    {"Msun", solar_mass_g}, {"Mjup", 1.89812e30}, {"Mearth", 5.97217e27}, {"kg", 1e3}, {"g", 1}};
constexpr NamedUnit velocity_units[]{{"km/s", 1e5},
                                     {"m/s", 1e2},
                                     {"cm/s", 1},
                                     {"AU/yr", au_cm / year_s},
                                     {"pc/Myr", 1e-3 * kpc_cm / (1e6 * year_s)},
                                     {"kpc/Gyr", kpc_cm / (1e9 * year_s)}};
constexpr NamedUnit acceleration_units[]{{"km/s/Myr", 1e5 / (1e6 * year_s)},
                                         {"km/s/Gyr", 1e5 / (1e9 * year_s)},
                                         {"km/s/kyr", 1e5 / (1e3 * year_s)},
                                         {"km/s/yr", 1e5 / year_s},
                                         {"m/s\u00b2", 1e2},
                                         {"mm/s\u00b2", 0.1}};
constexpr NamedUnit time_units[]{{"Gyr", 1e9 * year_s}, {"Myr", 1e6 * year_s}, {"kyr", 1e3 * year_s},
                                 {"yr", year_s},        {"d", 86400},          {"s", 1}};

constexpr double pc_cm = 1e-3 * kpc_cm;
constexpr NamedUnit density_units[]{{"Msun/pc\u00b3", solar_mass_g / (pc_cm * pc_cm * pc_cm)},
                                    {"Msun/kpc\u00b3", solar_mass_g / (kpc_cm * kpc_cm * kpc_cm)},
                                    {"Msun/AU\u00b3", solar_mass_g / (au_cm * au_cm * au_cm)},
                                    {"g/cm\u00b3", 1},
                                    {"kg/m\u00b3", 1e-3}};
constexpr NamedUnit mass_per_area_units[]{{"Msun/pc\u00b2", solar_mass_g / (pc_cm * pc_cm)},
                                          {"Msun/kpc\u00b2", solar_mass_g / (kpc_cm * kpc_cm)},
                                          {"Msun/AU\u00b2", solar_mass_g / (au_cm * au_cm)},
                                          {"g/cm\u00b2", 1},
                                          {"kg/m\u00b2", 0.1}};

constexpr double names_tolerance = 1e-3;  // names by other programs' constants

bool near_one(double ratio) {
  return std::abs(ratio - 1) <= names_tolerance;
}

std::string number_text(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.4g", value);
  return text.data();
}

/// With the fewest digits that read as the same number.
std::string exact_text(double value) {
  std::array<char, 32> digits;
  const auto [end, failed] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end};
}

/// "1e10", "0.001": a power of ten.
std::string power_text(int exponent) {
  if (exponent >= -3 && exponent <= 3) return number_text(std::pow(10.0, exponent));
  return "1e" + std::to_string(exponent);
}

/// The first in which the size is from 0.1 to 1000; the first of all if there is none.
const NamedUnit& suitable(double size, std::span<const NamedUnit> units) {
  const auto handy = [&](const NamedUnit& unit) { return size / unit.size >= 0.1 && size / unit.size < 1000; };
  const auto found = std::ranges::find_if(units, handy);
  return found == units.end() ? units.front() : *found;
}

/// The unit itself, a power of ten of one, or a factor from 0.1 to 1000 of the first that has it.
std::string unit_named(double size, std::span<const NamedUnit> units) {
  for (const NamedUnit& unit : units) {
    if (near_one(size / unit.size)) return unit.name;
  }
  for (const NamedUnit& unit : units) {
    const int exponent = static_cast<int>(std::lround(std::log10(size / unit.size)));
    if (std::abs(exponent) <= 15 && near_one(size / unit.size / std::pow(10.0, exponent))) {
      return power_text(exponent) + ' ' + unit.name;
    }
  }
  const NamedUnit& unit = suitable(size, units);
  return number_text(size / unit.size) + ' ' + unit.name;
}

std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// "1e10Msun" in CGS.
double parse_unit(std::string_view option, std::string_view word, const char* what, std::span<const NamedUnit> units) {
  double factor = 1;
  const char* const last = word.data() + word.size();
  const auto [end, failed] = std::from_chars(word.data(), last, factor);
  const std::string_view name =
      without_blanks(failed == std::errc{} ? std::string_view{end, static_cast<std::size_t>(last - end)} : word);
  const auto found = std::ranges::find_if(units, [&](const NamedUnit& unit) { return name == unit.name; });
  const bool fits = found != units.end() && std::isfinite(factor) && factor > 0;
  if (fits) return factor * found->size;
  throw UsageError(std::string{option} + ": '" + std::string{word} + "' is no unit of " + what +
                   "; give one of these, with a factor if needed, such as 1e10" + units.front().name + ": " +
                   joined(units, [](const NamedUnit& unit) { return unit.name; }));
}

void scale_values(std::vector<float>& values, double factor) {
  for (float& value : values) value = static_cast<float>(value * factor);
}

}  // namespace

Units gravity_units(double length_cm, double mass_g) {
  return {length_cm, mass_g, std::sqrt(gravitational_constant * mass_g / length_cm)};
}

bool nearly_equal(const Units& a, const Units& b, double tolerance) {
  const auto near = [&](double x, double y) { return std::abs(x / y - 1) <= tolerance; };
  return near(a.length_cm, b.length_cm) && near(a.mass_g, b.mass_g) && near(a.velocity_cm_s, b.velocity_cm_s);
}

Units parse_units(std::string_view option, std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    words.push_back(without_blanks(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  if (words.size() < 2 || words.size() > 3) {
    throw UsageError(std::string{option} + " cannot be '" + std::string{text} +
                     "'; give units of length, mass and, if needed, velocity: kpc,1e10Msun or kpc,1e10Msun,km/s");
  }
  Units units{parse_unit(option, words[0], "length", length_units), parse_unit(option, words[1], "mass", mass_units)};
  if (words.size() == 3) {
    units.velocity_cm_s = words[2] == "G=1" ? gravity_units(units.length_cm, units.mass_g).velocity_cm_s
                                            : parse_unit(option, words[2], "velocity", velocity_units);
  }
  const Units whole{units.length_cm, units.mass_g, words.size() == 3 ? units.velocity_cm_s : 1};
  if (!whole.usable()) {
    throw UsageError(std::string{option} + " cannot be '" + std::string{text} + "': a factor is beyond all use");
  }
  return units;
}

std::string length_text(double cm) {
  return unit_named(cm, length_units);
}

std::string mass_text(double g) {
  return unit_named(g, mass_units);
}

std::string velocity_text(double cm_s) {
  return unit_named(cm_s, velocity_units);
}

std::string time_text(double s) {
  return unit_named(s, time_units);
}

NamedUnit length_unit_for(double cm) {
  return suitable(cm, length_units);
}

NamedUnit mass_unit_for(double g) {
  return suitable(g, mass_units);
}

NamedUnit time_unit_for(double s) {
  return suitable(s, time_units);
}

NamedUnit velocity_unit_for(double cm_s) {
  return suitable(cm_s, velocity_units);
}

NamedUnit acceleration_unit_for(double cm_s2) {
  return suitable(cm_s2, acceleration_units);
}

NamedUnit density_unit_for(double g_cm3) {
  return suitable(g_cm3, density_units);
}

NamedUnit mass_per_area_unit_for(double g_cm2) {
  return suitable(g_cm2, mass_per_area_units);
}

std::string units_option(const Units& units) {
  const bool with_velocity = units.velocity_cm_s > 0;
  std::string names = length_text(units.length_cm) + ',' + mass_text(units.mass_g);
  if (with_velocity) names += ',' + velocity_text(units.velocity_cm_s);
  std::erase(names, ' ');
  if (parse_units("units", names) == units) return names;
  std::string numbers = exact_text(units.length_cm) + "cm," + exact_text(units.mass_g) + 'g';
  if (with_velocity) numbers += ',' + exact_text(units.velocity_cm_s) + "cm/s";
  return numbers;
}

std::string units_text(const Units& units) {
  return length_text(units.length_cm) + ", " + mass_text(units.mass_g) + ", " + velocity_text(units.velocity_cm_s);
}

UnitScale::UnitScale(const Units& from, const Units& to)
    : BodyScale{.length = from.length_cm / to.length_cm,
                .mass = from.mass_g / to.mass_g,
                .velocity = from.velocity_cm_s / to.velocity_cm_s},
      time{from.time_s() / to.time_s()} {}

void UnitScale::apply_to(BodyProperties& properties) const {
  scale_values(properties.softening, length);
  if (!properties.formation_scale_factors) scale_values(properties.formation_time, time);
}

void convert_units(Snapshot& snapshot, const Units& to) {
  const UnitScale scale{*snapshot.units, to};
  const auto scaled = [](const Vec3d& v, double by) { return Vec3d{v.x * by, v.y * by, v.z * by}; };
  for (Vec3d& position : snapshot.wide.positions) position = scaled(position, scale.length);
  for (Vec3d& velocity : snapshot.wide.velocities) velocity = scaled(velocity, scale.velocity);
  for (double& mass : snapshot.wide.masses) mass *= scale.mass;
  snapshot.frame = {scaled(snapshot.frame.position, scale.length), scaled(snapshot.frame.velocity, scale.velocity),
                    snapshot.frame.time * scale.time};
  snapshot.box = scaled(snapshot.box, scale.length);
  snapshot.bodies = with_digits(std::move(snapshot.bodies), Digits::single);  // scaled floats have other low words
  for (Vec4& position : snapshot.bodies.positions) position = scale.of_position(position);
  for (Vec4& velocity : snapshot.bodies.velocities) velocity = scale.of_velocity(velocity);
  scale.apply_to(snapshot.properties);
  snapshot.softening = static_cast<float>(snapshot.softening * scale.length);
  snapshot.time *= scale.time;
  snapshot.units = to;
}

void convert_to_gravity_units(Snapshot& snapshot) {
  if (!snapshot.units) return;
  const Units to = gravity_units(snapshot.units->length_cm, snapshot.units->mass_g);
  if (to != *snapshot.units) convert_units(snapshot, to);
}

}  // namespace orrery
