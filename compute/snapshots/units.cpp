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

// Unit names that users may give. Messages suggest the first one of each list.
constexpr NamedUnit length_units[]{{"kpc", kpc_cm},
                                   {"Mpc", 1e3 * kpc_cm},
                                   {"pc", 1e-3 * kpc_cm},
                                   {"AU", au_cm},
                                   {"Rsun", 6.957e10},
                                   {"km", 1e5},
                                   {"m", 1e2},
                                   {"cm", 1},
                                   {"ly", 9.4607304725808e17}};
constexpr double earth_mass_g = 5.97217e27, jupiter_mass_g = 1.89812e30;
constexpr NamedUnit mass_units[]{
    {"Msun", solar_mass_g}, {"Mjup", jupiter_mass_g}, {"Mearth", earth_mass_g}, {"kg", 1e3}, {"g", 1}};
constexpr NamedUnit velocity_units[]{{"km/s", 1e5},
                                     {"m/s", 1e2},
                                     {"cm/s", 1},
                                     {"AU/yr", au_cm / year_s},
                                     {"pc/Myr", 1e-3 * kpc_cm / (1e6 * year_s)},
                                     {"kpc/Gyr", kpc_cm / (1e9 * year_s)}};
constexpr NamedUnit time_units[]{{"Gyr", 1e9 * year_s}, {"Myr", 1e6 * year_s}, {"kyr", 1e3 * year_s},
                                 {"yr", year_s},        {"d", 86400},          {"s", 1}};

/// Unit for showing values from `from` units up to the start of the next larger unit.
struct ShownFrom {
  NamedUnit unit;
  double from;
};
// Units that astronomers expect, the largest first. Planetary systems are in AU, km/s and years, clusters in pc and
// Myr, galaxies in kpc, km/s and Gyr. Values below the last entry use its unit too.
constexpr double pc_cm = 1e-3 * kpc_cm, myr_s = 1e6 * year_s;
constexpr ShownFrom shown_lengths[]{
    {{"Mpc", 1e3 * kpc_cm}, 1}, {{"kpc", kpc_cm}, 0.1}, {{"pc", pc_cm}, 0.01}, {{"AU", au_cm}, 0.01},
    {{"km", 1e5}, 0.1},         {{"m", 1e2}, 0.1},      {{"cm", 1}, 0}};
constexpr ShownFrom shown_masses[]{{{"Msun", solar_mass_g}, 0.02},
                                   {{"Mjup", jupiter_mass_g}, 0.1},
                                   {{"Mearth", earth_mass_g}, 1e-3},
                                   {{"kg", 1e3}, 0.1},
                                   {{"g", 1}, 0}};
constexpr ShownFrom shown_times[]{{{"Gyr", 1e3 * myr_s}, 0.1}, {{"Myr", myr_s}, 0.1}, {{"kyr", 1e-3 * myr_s}, 10},
                                  {{"yr", year_s}, 0.5},       {{"d", 86400}, 0.1},   {{"s", 1}, 0}};
constexpr ShownFrom shown_velocities[]{{{"km/s", 1e5}, 0.1}, {{"m/s", 1e2}, 0.1}, {{"cm/s", 1}, 0}};
constexpr ShownFrom shown_accelerations[]{{{"m/s\u00b2", 1e2}, 0.1},        {{"mm/s\u00b2", 0.1}, 0.1},
                                          {{"km/s/yr", 1e5 / year_s}, 0.1}, {{"km/s/kyr", 1e8 / myr_s}, 0.1},
                                          {{"km/s/Myr", 1e5 / myr_s}, 0.1}, {{"km/s/Gyr", 1e2 / myr_s}, 0}};
constexpr double cubic_pc_density = solar_mass_g / (pc_cm * pc_cm * pc_cm);
constexpr ShownFrom shown_densities[]{{{"g/cm\u00b3", 1}, 1e-15},
                                      {{"Msun/pc\u00b3", cubic_pc_density}, 1e-3},
                                      {{"Msun/kpc\u00b3", 1e-9 * cubic_pc_density}, 0}};
constexpr double square_pc_density = solar_mass_g / (pc_cm * pc_cm);
constexpr ShownFrom shown_masses_per_area[]{{{"g/cm\u00b2", 1}, 10},
                                            {{"Msun/pc\u00b2", square_pc_density}, 1e-3},
                                            {{"Msun/kpc\u00b2", 1e-6 * square_pc_density}, 0}};

constexpr double names_tolerance = 1e-3;  // relative; covers the constants of other programs

bool near_one(double ratio) {
  return std::abs(ratio - 1) <= names_tolerance;
}

/// Returns the text with the fewest digits that reads as the same number.
std::string exact_text(double value) {
  std::array<char, 32> digits;
  const auto [end, failed] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end};
}

/// Returns a power of ten as text, such as "1e10" or "0.001".
std::string power_text(int exponent) {
  if (exponent >= -3 && exponent <= 3) return four_digits(std::pow(10.0, exponent));
  return "1e" + std::to_string(exponent);
}

/// Returns the largest unit in which a size is at least the unit's `from`; units[of_zero] for 0.
const NamedUnit& suitable(double size, std::span<const ShownFrom> units, std::size_t of_zero = 0) {
  if (!(size > 0)) return units[of_zero].unit;
  constexpr double rounding = 1e-6;
  const auto found = std::ranges::find_if(
      units, [&](const ShownFrom& shown) { return size >= (1 - rounding) * shown.from * shown.unit.size; });
  return (found == units.end() ? units.back() : *found).unit;
}

std::string value_in(double size, const NamedUnit& unit) {
  return four_digits(size / unit.size) + ' ' + unit.name;
}

/// Returns a size as text: a unit's name, a power of ten and a name, or a number and the unit that suits it.
std::string unit_named(double size, std::span<const NamedUnit> units, std::span<const ShownFrom> shown) {
  for (const NamedUnit& unit : units) {
    if (near_one(size / unit.size)) return unit.name;
  }
  for (const NamedUnit& unit : units) {
    const int exponent = static_cast<int>(std::lround(std::log10(size / unit.size)));
    if (std::abs(exponent) <= 15 && near_one(size / unit.size / std::pow(10.0, exponent))) {
      return power_text(exponent) + ' ' + unit.name;
    }
  }
  return value_in(size, suitable(size, shown));
}

std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// Returns a unit such as "1e10Msun" in CGS.
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

std::string four_digits(double value) {
  const double size = std::abs(value);
  std::array<char, 32> text;
  if (size >= 999.95 && size < 999999.5) {
    std::snprintf(text.data(), text.size(), "%.0f", value);
    return text.data();
  }
  std::snprintf(text.data(), text.size(), "%.4g", value);
  std::string short_text = text.data();
  if (const std::size_t plus = short_text.find("e+"); plus != std::string::npos) {
    short_text.erase(plus + 1, short_text[plus + 2] == '0' ? 2 : 1);
  } else if (const std::size_t minus = short_text.find("e-0"); minus != std::string::npos) {
    short_text.erase(minus + 2, 1);
  }
  return short_text;
}

std::string length_text(double cm) {
  return unit_named(cm, length_units, shown_lengths);
}

std::string mass_text(double g) {
  return unit_named(g, mass_units, shown_masses);
}

std::string velocity_text(double cm_s) {
  return unit_named(cm_s, velocity_units, shown_velocities);
}

std::string time_text(double s) {
  return unit_named(s, time_units, shown_times);
}

std::string length_value(double cm) {
  return value_in(cm, length_unit_for(cm));
}

std::string mass_value(double g) {
  return value_in(g, mass_unit_for(g));
}

std::string velocity_value(double cm_s) {
  return value_in(cm_s, velocity_unit_for(cm_s));
}

std::string time_value(double s) {
  return value_in(s, time_unit_for(s));
}

NamedUnit length_unit_for(double cm) {
  return suitable(cm, shown_lengths, 1);
}

NamedUnit mass_unit_for(double g) {
  return suitable(g, shown_masses);
}

NamedUnit time_unit_for(double s) {
  return suitable(s, shown_times);
}

NamedUnit velocity_unit_for(double cm_s) {
  return suitable(cm_s, shown_velocities);
}

NamedUnit acceleration_unit_for(double cm_s2) {
  return suitable(cm_s2, shown_accelerations, 4);
}

NamedUnit density_unit_for(double g_cm3) {
  return suitable(g_cm3, shown_densities, 1);
}

NamedUnit mass_per_area_unit_for(double g_cm2) {
  return suitable(g_cm2, shown_masses_per_area, 1);
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

Frame UnitScale::of_frame(const Frame& frame) const {
  return {scaled(frame.position, length), scaled(frame.velocity, velocity), frame.time * time};
}

void convert_units(Snapshot& snapshot, const Units& to) {
  const UnitScale scale{*snapshot.units, to};
  for (Vec3d& position : snapshot.wide.positions) position = scaled(position, scale.length);
  for (Vec3d& velocity : snapshot.wide.velocities) velocity = scaled(velocity, scale.velocity);
  for (double& mass : snapshot.wide.masses) mass *= scale.mass;
  snapshot.frame = scale.of_frame(snapshot.frame);
  snapshot.box = scaled(snapshot.box, scale.length);
  snapshot.bodies = with_digits(std::move(snapshot.bodies), Digits::single);  // scaling makes the low parts invalid
  for (Vec4& position : snapshot.bodies.positions) position = scale.of_position(position);
  for (Vec4& velocity : snapshot.bodies.velocities) velocity = scale.of_velocity(velocity);
  round_all(snapshot);
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
