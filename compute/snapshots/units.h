#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compute/core/row_file.h"

namespace orrery {

struct BodyProperties;
struct Frame;
struct Snapshot;

/// Physical units of a snapshot's numbers, in CGS. The unit of time is length / velocity. All are finite, above 0 and
/// within Units::usable().
struct Units {
  double length_cm = 0, mass_g = 0;
  double velocity_cm_s = 0;  ///< 0 only where a user gave none, see parse_units()

  double time_s() const { return length_cm / velocity_cm_s; }
  /// Returns whether products of the units stay in the range of double.
  bool usable() const { return usable(length_cm) && usable(mass_g) && usable(velocity_cm_s); }
  static constexpr bool usable(double unit) { return unit >= 1e-60 && unit <= 1e60; }
  friend bool operator==(const Units&, const Units&) = default;
};

struct NamedUnit {
  const char* name;
  double size;  ///< in CGS
};

/// Units that GADGET's readers assume: kpc, 1e10 solar masses, km/s.
inline constexpr double kpc_cm = 3.0856775814913673e21;
inline constexpr double solar_mass_g = 1.988409870698051e33;
inline constexpr Units galactic_units{kpc_cm, 1e10 * solar_mass_g, 1e5};

inline constexpr double gravitational_constant = 6.6743e-8;  ///< in cm^3 / (g s^2), CODATA 2018

/// Returns the units of this length and mass in which G = 1.
Units gravity_units(double length_cm, double mass_g);

/// Returns whether all units of `a` and `b` agree within a relative `tolerance`. The default covers the slightly
/// different kiloparsecs and solar masses of other programs.
bool nearly_equal(const Units& a, const Units& b, double tolerance = 1e-3);

/// Reads units such as "kpc,1e10Msun" or "kpc,1e10Msun,km/s". If the third word is "G=1", the unit of velocity is the
/// one of gravity_units(). Without a third word, velocity_cm_s is 0. Throws UsageError: its text begins with `option`
/// and lists the known names.
Units parse_units(std::string_view option, std::string_view text);

/// The next functions return a unit as text, with a factor if needed: "kpc", "1e10 Msun", "207.4 km/s", "4.715 Myr".
std::string length_text(double cm);
std::string mass_text(double g);
std::string velocity_text(double cm_s);
std::string time_text(double s);
/// Returns the units as text: "kpc, 1e10 Msun, km/s".
std::string units_text(const Units& units);

/// The next functions return a value in CGS as text, in a suitable unit: "1 kpc", "1e10 Msun", "3500 km/s", "250 yr".
std::string length_value(double cm);
std::string mass_value(double g);
std::string velocity_value(double cm_s);
std::string time_value(double s);

/// Returns a number as text with four significant digits, or with all digits before the point below a million: "0.5",
/// "12.35", "35210", "1e10".
std::string four_digits(double value);

/// The next functions return the unit in which astronomers express a value given in CGS: Mpc, kpc, pc, AU, km ...;
/// Msun, Mjup, Mearth, kg ...; Gyr, Myr, kyr, yr, d, s; km/s, m/s, cm/s. The larger the value, the larger the unit.
NamedUnit length_unit_for(double cm);
NamedUnit mass_unit_for(double g);
NamedUnit time_unit_for(double s);
NamedUnit velocity_unit_for(double cm_s);
NamedUnit acceleration_unit_for(double cm_s2);
NamedUnit density_unit_for(double g_cm3);
NamedUnit mass_per_area_unit_for(double g_cm2);

/// Returns a text that parse_units() reads back bit for bit: "kpc,1e10Msun,km/s", or CGS numbers if no names fit.
std::string units_option(const Units& units);

/// Factors that convert numbers from some units to others.
struct UnitScale : BodyScale {
  UnitScale(const Units& from, const Units& to);
  void apply_to(BodyProperties& properties) const;
  Frame of_frame(const Frame& frame) const;

  double time;
};

/// Converts the snapshot, which must have units, to other units.
void convert_units(Snapshot& snapshot, const Units& to);

}  // namespace orrery
