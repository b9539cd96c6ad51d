#include "compute/snapshots/file_meaning.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "compute/core/text.h"
#include "compute/snapshots/snapshot.h"

namespace orrery {
namespace {

constexpr double least_scale_factor = 1e-6, most_scale_factor = 1e3;
constexpr double same_time = 1e-5, same_gravity = 0.01;  // relative differences that count as equal

bool is_scale_factor(double value) {
  return value >= least_scale_factor && value <= most_scale_factor;
}

/// Decision whether a file is cosmological, and the reason.
struct Decision {
  bool cosmological = false;
  std::string reason{};
};

/// Returns whether a (1 + redshift) = 1: within 1e-5 at redshift 0, else within 1 %, as redshifts may be rounded.
bool agree(double a, double redshift) {
  const double tolerance = redshift == 0 ? same_time : 0.01;
  return is_scale_factor(a) && redshift > -1 && std::abs(a * (1 + redshift) - 1) <= tolerance;
}

/// Decides for a file without a flag: it is cosmological if its time, taken as a scale factor, matches the redshift. At
/// a = 1, a run without expansion matches too. The file must then have a box, because runs in vacuum have none.
Decision decide_by_numbers(const FileMeaning& meaning) {
  const double time = meaning.scale_factor.value_or(meaning.time), redshift = meaning.redshift.value_or(0);
  const std::string name = meaning.scale_factor ? "scale factor = " : "Time = ";
  const bool without_matter = meaning.omega0 && !(*meaning.omega0 > 0);
  if ((without_matter || !meaning.omega0) && !(redshift > 0)) return {};
  const std::string values = name + shortest_text(time) + " and Redshift = " + shortest_text(redshift);
  if (without_matter) {
    if (!agree(time, redshift)) return {};
    return {false, "Omega0 = " + shortest_text(*meaning.omega0) + ", although " + values + " match"};
  }
  if (!agree(time, redshift)) return {false, values + " do not match"};
  const bool first = std::abs(time - 1) <= same_time;
  if (first && !meaning.scale_factor && !(meaning.box_size > 0))
    return {false, values + " do not decide it without a box"};
  return {true, values};
}

Decision decide(const FileMeaning& meaning, const SnapshotHints& hints) {
  if (hints.cosmological) return {*hints.cosmological, "--cosmological"};
  if (meaning.comoving) return {*meaning.comoving, meaning.comoving_name + " = " + (*meaning.comoving ? "1" : "0")};
  return decide_by_numbers(meaning);
}

/// Returns the scale factor of a cosmological file; 0 if there is no usable one.
double scale_factor_of(const FileMeaning& meaning) {
  if (meaning.scale_factor) return is_scale_factor(*meaning.scale_factor) ? *meaning.scale_factor : 0;
  const double by_redshift = meaning.redshift && *meaning.redshift > -1 ? 1 / (1 + *meaning.redshift) : 0;
  if (is_scale_factor(meaning.time) &&
      (meaning.time <= 1 + same_time || agree(meaning.time, meaning.redshift.value_or(0))))
    return meaning.time;
  return is_scale_factor(by_redshift) ? by_redshift : 0;
}

/// Returns `meaning` after setting those powers to 0 that do not apply.
FileMeaning with_powers_that_hold(FileMeaning meaning, const Decision& decision, const SnapshotHints& hints) {
  const bool proper = meaning.zero_powers && decision.cosmological && !hints.cosmological;
  if (proper) meaning.length = meaning.mass = meaning.velocity = {0, 0};
  if (meaning.without_h) meaning.length.h = meaning.mass.h = meaning.velocity.h = 0;
  return meaning;
}

/// Returns the factor a^powers.a h^powers.h as text, such as "0.5", "0.5 / 0.7" or "1 / 0.7"; empty if it is 1.
std::string factor_text(const CosmologicalPowers& powers, double a, double h) {
  const auto power = [](double base, double exponent) {
    return shortest_text(base) + (exponent == 1 ? "" : "^" + shortest_text(exponent));
  };
  std::string text = powers.a == 0 || a == 1 ? "" : power(a, powers.a);
  if (powers.h == 0 || h == 1) return text;
  if (powers.h > 0) return text + (text.empty() ? "" : " * ") + power(h, powers.h);
  return (text.empty() ? "1" : text) + " / " + power(h, -powers.h);
}

/// Multiplies the units by the powers of a and h, so that the file's numbers become proper values.
void multiply(Units& units, const FileMeaning& meaning, double a, double h) {
  const auto factor = [&](const CosmologicalPowers& powers) { return std::pow(a, powers.a) * std::pow(h, powers.h); };
  units.length_cm *= factor(meaning.length);
  units.mass_g *= factor(meaning.mass);
  units.velocity_cm_s *= factor(meaning.velocity);
}

std::string changes_text(const FileMeaning& meaning, double a, double h) {
  std::string text;
  const auto add = [&](const char* what, const CosmologicalPowers& powers) {
    const std::string factor = factor_text(powers, a, h);
    if (!factor.empty()) text.append(text.empty() ? "" : ", ").append(what + (" times " + factor));
  };
  add("lengths", meaning.length);
  add("masses", meaning.mass);
  add("velocities", meaning.velocity);
  return text;
}

/// Returns the file's units before multiplication by the powers of a and h; empty if G = 1.
std::optional<Units> own_units(const FileMeaning& meaning, const SnapshotHints& hints) {
  std::optional<Units> units = meaning.units ? meaning.units : meaning.usual_units;
  if (!hints.units) return units;
  const double usual = meaning.usual_units ? meaning.usual_units->velocity_cm_s
                                           : gravity_units(hints.units->length_cm, hints.units->mass_g).velocity_cm_s;
  units = hints.units;
  if (!(units->velocity_cm_s > 0)) units->velocity_cm_s = usual;
  return units;
}

/// Changes the unit of velocity if the code's G differs from the physical one by over 1 %, so that the physical G gives
/// the same orbits.
void take_gravity(const FileMeaning& meaning, Snapshot& snapshot) {
  if (!meaning.gravity) return;
  const double ratio = *meaning.gravity / gravitational_constant;
  if (!(ratio > 0) || !std::isfinite(ratio) || std::abs(ratio - 1) <= same_gravity) return;
  snapshot.units->velocity_cm_s /= std::sqrt(ratio);
  snapshot.notes.push_back("the file's constant of gravity is " + shortest_text(static_cast<float>(ratio)) +
                           " times the physical one in its units: the unit of velocity was changed to keep the orbits "
                           "of the file; --units overrides this");
}

}  // namespace

std::string take_meaning(const FileMeaning& given, const SnapshotHints& hints, Snapshot& snapshot) {
  const Decision decision = decide(given, hints);
  const FileMeaning meaning = with_powers_that_hold(given, decision, hints);
  const bool has_h = meaning.length.h != 0 || meaning.mass.h != 0 || meaning.velocity.h != 0;
  snapshot.time = meaning.time;
  snapshot.units = own_units(meaning, hints);
  snapshot.units_assumed = snapshot.units && !hints.units && !meaning.units;
  if (!hints.units && snapshot.units) take_gravity(meaning, snapshot);
  if (meaning.box_size > 0) snapshot.box = {meaning.box_size, meaning.box_size, meaning.box_size};
  if (hints.hubble && !has_h) snapshot.notes.emplace_back("--hubble changes nothing: no number of the file has h");

  double h = 1;
  if (hints.hubble) {
    h = *hints.hubble;
  } else if (has_h && (decision.cosmological || meaning.powers_known)) {
    h = meaning.hubble.value_or(1);
    if (!meaning.hubble) snapshot.notes.emplace_back("no h in the file: read with h = 1; --hubble names another");
    if (!hubble_range.contains(h))
      return "HubbleParam: " + shortest_text(h) + " is not a usable h; set it with --hubble";
  }
  if (!decision.cosmological) {
    if (!meaning.comoving && !hints.cosmological && meaning.omega0 && !(*meaning.omega0 > 0) &&
        !decision.reason.empty()) {
      snapshot.notes.push_back("not cosmological (" + decision.reason + "); --cosmological overrides this");
    }
    if (meaning.omega0.value_or(0) > 0 && !decision.reason.empty()) {
      snapshot.notes.push_back("not cosmological (" + decision.reason +
                               "), although Omega0 = " + shortest_text(*meaning.omega0) +
                               (hints.cosmological ? "" : "; --cosmological overrides this"));
    }
    if (has_h && h == 1 && !hints.hubble && meaning.hubble && hubble_range.contains(*meaning.hubble) &&
        *meaning.hubble != 1) {
      snapshot.notes.push_back(
          "HubbleParam = " + shortest_text(*meaning.hubble) +
          ", but the file is not cosmological: lengths and masses are not divided by it; --hubble " +
          shortest_text(*meaning.hubble) + " divides them");
    }
    if (h == 1 || !has_h) return {};
  }
  const double a = decision.cosmological ? scale_factor_of(meaning) : 1;
  if (a == 0) {
    return "cosmological (" + decision.reason + "), but neither Time = " + shortest_text(meaning.time) +
           " nor Redshift gives a scale factor; --cosmological no reads it without one";
  }
  if (!snapshot.units) {
    return "cosmological (" + decision.reason +
           "), but its units are not known: name them with --units, or read its "
           "numbers as they are with --cosmological no";
  }
  multiply(*snapshot.units, meaning, a, h);
  if (decision.cosmological && meaning.length.a != 1) {  // the box size is comoving
    snapshot.box = scaled(snapshot.box, std::pow(a, 1 - meaning.length.a));
  }
  if (!snapshot.units->usable()) return "units: not usable after multiplication by scale factor and h";
  const std::string changes = changes_text(meaning, a, h);
  if (!decision.cosmological) {
    snapshot.notes.push_back("h = " + shortest_text(h) + ": " + changes);
    return {};
  }
  snapshot.time = 0;
  snapshot.properties.formation_scale_factors = true;
  snapshot.notes.push_back("cosmological (" + decision.reason +
                           "): proper coordinates and peculiar velocities at scale factor " + shortest_text(a) +
                           (changes.empty() ? "" : " (" + changes + ')') +
                           ", without the expansion; the time is set to 0");
  if (given.zero_powers && changes.empty()) {
    snapshot.notes.emplace_back("the powers of scale factor and h in the datasets are all 0: no number is multiplied");
  }
  return {};
}

double softening_of_type(const FileMeaning& given, const SnapshotHints& hints, std::size_t type) {
  const CodeSoftening& softening = given.softening[type];
  const Decision decision = decide(given, hints);
  const double a = decision.cosmological ? scale_factor_of(given) : 0;
  if (!(a > 0)) return softening.without_expansion;
  const double proper =
      softening.most_physical > 0 ? std::min(softening.comoving * a, softening.most_physical) : softening.comoving * a;
  return proper / std::pow(a, with_powers_that_hold(given, decision, hints).length.a);
}

namespace {

enum class Fact { time, comoving, scale_factor, redshift, omega0, hubble, box_size };

/// Convention for scale factor and h in files that have a row's attribute.
enum class Numbers {
  gadget,  ///< the defaults of FileMeaning
  swift,   ///< comoving positions, peculiar velocities, no factors of h
};

/// Attribute that states a fact. If a file has several for one fact, the first row applies.
struct FactRow {
  Fact fact;
  const char* group;
  const char* attribute;
  Numbers numbers = Numbers::gadget;
};
constexpr FactRow fact_rows[]{
    {Fact::time, "Header", "Time"},  // all codes; the scale factor in a comoving run
    {Fact::comoving, "Cosmology", "Cosmological run", Numbers::swift},
    {Fact::comoving, "Header", "ComovingIntegrationOn"},      // GIZMO since November 2020
    {Fact::comoving, "Parameters", "ComovingIntegrationOn"},  // GADGET-4, AREPO
    {Fact::scale_factor, "Cosmology", "Scale-factor"},        // SWIFT
    {Fact::scale_factor, "Header", "Scale-factor"},           // SWIFT
    {Fact::scale_factor, "Header", "ExpansionFactor"},        // EAGLE, OWLS
    {Fact::redshift, "Header", "Redshift"},                   // all codes
    {Fact::redshift, "Cosmology", "Redshift"},                // SWIFT
    {Fact::omega0, "Header", "Omega0"},                       // GADGET-2 and -3, AREPO, EAGLE, OWLS, older GIZMO
    {Fact::omega0, "Header", "Omega_Matter"},                 // GIZMO since November 2020
    {Fact::omega0, "Parameters", "Omega0"},                   // GADGET-4, AREPO
    {Fact::hubble, "Header", "HubbleParam"},                  // all codes but GADGET-4 and SWIFT
    {Fact::hubble, "Parameters", "HubbleParam"},              // GADGET-4, AREPO
    {Fact::box_size, "Header", "BoxSize"},                    // all codes
    {Fact::box_size, "Parameters", "BoxSize"},                // GADGET-4, AREPO
};

/// Names of the attributes that hold the units in CGS. Null: the code has no such attribute.
struct UnitRow {
  const char* group;
  const char* length;
  const char* mass;
  const char* velocity;
  const char* time;
  bool over_h = false;  ///< the units are already divided by h
};
constexpr UnitRow unit_rows[]{
    // EAGLE, OWLS, Orrery
    {"Units", "UnitLength_in_cm", "UnitMass_in_g", "UnitVelocity_in_cm_per_s", "UnitTime_in_s"},
    // SWIFT
    {"Units", "Unit length in cgs (U_L)", "Unit mass in cgs (U_M)", nullptr, "Unit time in cgs (U_t)"},
    // AREPO, older GIZMO
    {"Header", "UnitLength_in_cm", "UnitMass_in_g", "UnitVelocity_in_cm_per_s", "UnitTime_in_s"},
    // GIZMO since November 2020
    {"Header", "UnitLength_In_CGS", "UnitMass_In_CGS", "UnitVelocity_In_CGS", nullptr, true},
    // GADGET-4, AREPO
    {"Parameters", "UnitLength_in_cm", "UnitMass_in_g", "UnitVelocity_in_cm_per_s", nullptr},
};
/// Units of the constants in SWIFT's files. Users can choose other units for the snapshot itself.
constexpr UnitRow internal_units{"InternalCodeUnits", "Unit length in cgs (U_L)", "Unit mass in cgs (U_M)", nullptr,
                                 "Unit time in cgs (U_t)"};

/// Attribute that holds G in the code's units. Its value 0 means the physical G.
struct GravityRow {
  const char* group;
  const char* attribute;
  const UnitRow* units = nullptr;  ///< null, or missing in the file: the file's units apply
};
constexpr GravityRow gravity_rows[]{
    {"Parameters", "GravityConstantInternal"},           // GADGET-4, AREPO
    {"Header", "Gravitational_Constant_In_Code_Inits"},  // GIZMO since November 2020
    {"PhysicalConstants/InternalUnits", "newton_G", &internal_units},
};

/// Attributes of a dataset that hold its CosmologicalPowers, the exponents of scale factor and h.
struct PowerRow {
  const char* a;
  const char* h;
};
constexpr PowerRow power_rows[]{
    {"aexp-scale-exponent", "h-scale-exponent"},  // EAGLE, OWLS
    {"a-scale exponent", "h-scale exponent"},     // SWIFT
    {"a_scaling", "h_scaling"},                   // GADGET-4, AREPO
};

/// SWIFT's attributes for the softening lengths of particle types, in its internal units.
struct SwiftSofteningRow {
  std::array<std::size_t, 3> types;
  std::array<const char*, 2> comoving, most_physical;  // names in older and newer versions
};
constexpr SwiftSofteningRow swift_softening_rows[]{
    {{1, 1, 1},
     {"Comoving DM softening length (Plummer equivalent)  [internal units]",
      "Comoving DM softening length (Plummer equivalent) [internal units]"},
     {"Maximal physical DM softening length (Plummer equivalent) [internal units]",
      "Maximal physical DM softening length (Plummer equivalent)  [internal units]"}},
    {{0, 4, 5},
     {"Comoving baryon softening length (Plummer equivalent)  [internal units]",
      "Comoving baryon softening length (Plummer equivalent) [internal units]"},
     {"Maximal physical baryon softening length (Plummer equivalent) [internal units]",
      "Maximal physical baryon softening length (Plummer equivalent)  [internal units]"}},
};
/// Words in the names of softening parameters: "SofteningComovingClass0" in GADGET-4, "SofteningComovingType0" in
/// AREPO.
constexpr std::array<const char*, 2> softening_words{"Class", "Type"};

class HeaderReader {
 public:
  HeaderReader(const HeaderLookup& lookup, std::vector<std::string>& notes) : lookup_{lookup}, notes_{notes} {}

  FileMeaning read() {
    for (const FactRow& row : fact_rows) {
      if (known_[static_cast<std::size_t>(row.fact)]) continue;
      if (const auto value = number(row.group, row.attribute)) take(row, *value);
    }
    for (const UnitRow& row : unit_rows) {
      if (!meaning_.units) take_units(row, units_of(row));
    }
    for (const UnitRow& row : unit_rows) {
      if (!meaning_.units && !has_refused_units_) take_units(row, incomplete_units_of(row));
    }
    for (const GravityRow& row : gravity_rows) {
      if (!meaning_.gravity) take_gravity(row);
    }
    for (const char* const word : softening_words) take_softening(word);
    for (const SwiftSofteningRow& row : swift_softening_rows) take_softening(row);
    return meaning_;
  }

 private:
  std::optional<double> number(const std::string& group, const char* attribute) {
    const HeaderAttribute found = lookup_(group, attribute);
    if (found.number && std::isfinite(*found.number)) return found.number;
    if (found.exists) notes_.push_back(group + '/' + attribute + " is not read: it is not a number");
    return std::nullopt;
  }

  void take(const FactRow& row, double value) {
    known_[static_cast<std::size_t>(row.fact)] = true;
    switch (row.fact) {
      case Fact::time:
        meaning_.time = value;
        break;
      case Fact::comoving:
        meaning_.comoving = value != 0;
        meaning_.comoving_name = std::string{row.group} + '/' + row.attribute;
        break;
      case Fact::scale_factor:
        meaning_.scale_factor = value;
        break;
      case Fact::redshift:
        meaning_.redshift = value;
        break;
      case Fact::omega0:
        meaning_.omega0 = value;
        break;
      case Fact::hubble:
        meaning_.hubble = value;
        break;
      case Fact::box_size:
        meaning_.box_size = value;
        break;
    }
    if (row.numbers == Numbers::swift) {
      meaning_.length = {1, 0};
      meaning_.mass = meaning_.velocity = {0, 0};
      meaning_.without_h = true;
    }
  }

  void take_units(const UnitRow& row, const std::optional<Units>& units) {
    meaning_.units = units;
    meaning_.without_h |= units && row.over_h;
  }

  void refuse_unit(const UnitRow& row, const char* name, const std::string& cause) {
    notes_.push_back(std::string{"units are not read: "} + row.group + '/' + name + cause);
    has_refused_units_ = true;
  }

  /// Returns the units of a file that states length and mass but not velocity, whose unit is then km/s. A stated G may
  /// change it later. Notes what is missing.
  std::optional<Units> incomplete_units_of(const UnitRow& row) {
    const auto unit = [&](const char* name) { return lookup_(row.group, name).number.value_or(0); };
    const double length = unit(row.length), mass = unit(row.mass);
    if (!Units::usable(length) || !Units::usable(mass)) {
      if (length == 0 && mass == 0) return std::nullopt;
      refuse_unit(row, length == 0 ? row.length : row.mass, " is missing or no unit");
      return std::nullopt;
    }
    notes_.push_back(std::string{"the unit of velocity is not in "} + row.group +
                     ": taken as km/s; --units overrides this");
    return Units{length, mass, galactic_units.velocity_cm_s};
  }

  /// Reads the softening lengths from the parameters of GADGET-4 or AREPO.
  void take_softening(const std::string& word) {
    for (std::size_t type = 0; type < meaning_.softening.size(); ++type) {
      const auto parameter = [&](const std::string& name, double number_behind) {
        const std::string attribute = name + std::to_string(static_cast<int>(number_behind));
        return number("Parameters", attribute.c_str());
      };
      const auto set = parameter("Softening" + word + "OfPartType", static_cast<double>(type));
      if (!set || !(*set >= 0 && *set < 100)) continue;
      const double comoving = parameter("SofteningComoving" + word, *set).value_or(0);
      meaning_.softening[type] = {comoving, parameter("SofteningMaxPhys" + word, *set).value_or(0), comoving};
    }
  }

  void take_softening(const SwiftSofteningRow& row) {
    const auto length = [&](const std::array<const char*, 2>& names) {
      const auto first = number("GravityScheme", names[0]);
      return first ? first : number("GravityScheme", names[1]);
    };
    const double inside = lookup_(internal_units.group, internal_units.length).number.value_or(0);
    const double unit = Units::usable(inside) && meaning_.units ? inside / meaning_.units->length_cm : 1;
    const double comoving = length(row.comoving).value_or(0) * unit;
    const double most_physical = length(row.most_physical).value_or(0) * unit;
    if (!(comoving > 0) && !(most_physical > 0)) return;
    for (const std::size_t type : row.types) {
      meaning_.softening[type] = {comoving, most_physical, most_physical > 0 ? most_physical : comoving};
    }
  }

  /// Returns the units in a row's attributes; empty if some are missing. Notes unusable ones.
  std::optional<Units> units_of(const UnitRow& row) {
    const auto unit = [&](const char* name) { return name ? lookup_(row.group, name).number : std::nullopt; };
    for (const char* const name : {row.length, row.mass, row.velocity, row.time}) {
      if (name && lookup_(row.group, name).exists && !unit(name)) refuse_unit(row, name, " is not a number");
    }
    const auto length = unit(row.length), mass = unit(row.mass), velocity = unit(row.velocity), time = unit(row.time);
    if (!length || !mass || (!velocity && !time)) return std::nullopt;
    const bool by_velocity = velocity.has_value();
    const struct {
      const char* name;
      double value;
    } found[]{{row.length, *length},
              {row.mass, *mass},
              {by_velocity ? row.velocity : row.time, by_velocity ? *velocity : *time}};
    for (const auto& [name, value] : found) {
      if (Units::usable(value)) continue;
      refuse_unit(row, name, " = " + shortest_text(value) + " is no unit");
      return std::nullopt;
    }
    const Units units{*length, *mass, by_velocity ? *velocity : *length / *time};
    return units.usable() ? std::optional{units} : std::nullopt;
  }

  void take_gravity(const GravityRow& row) {
    const auto constant = number(row.group, row.attribute);
    if (!constant || !(*constant > 0)) return;
    std::optional<Units> units = row.units ? units_of(*row.units) : std::nullopt;
    if (!units) units = meaning_.units;
    if (units) {
      meaning_.gravity = *constant * units->length_cm * units->velocity_cm_s * units->velocity_cm_s / units->mass_g;
    }
  }

  const HeaderLookup& lookup_;
  std::vector<std::string>& notes_;
  FileMeaning meaning_{.usual_units = galactic_units};
  std::array<bool, static_cast<std::size_t>(Fact::box_size) + 1> known_{};
  bool has_refused_units_ = false;  // units were refused; a note says why
};

/// Powers in the attributes of a dataset.
struct DatasetPowers : CosmologicalPowers {
  bool physical = false;  ///< the dataset says that its numbers are proper
};
std::optional<DatasetPowers> powers_of(const HeaderLookup& lookup, const std::string& dataset) {
  if (dataset.empty()) return std::nullopt;
  for (const PowerRow& row : power_rows) {
    const auto a = lookup(dataset, row.a).number, h = lookup(dataset, row.h).number;
    if (!a || !h) continue;
    const bool physical = lookup(dataset, "Value stored as physical").number.value_or(0) != 0;  // SWIFT since 2024
    return DatasetPowers{{physical ? 0 : *a, *h}, physical};
  }
  return std::nullopt;
}

}  // namespace

FileMeaning meaning_of_header(const HeaderLookup& lookup, std::vector<std::string>& notes) {
  return HeaderReader{lookup, notes}.read();
}

void take_powers(const HeaderLookup& lookup, const std::string& positions, const std::string& masses,
                 const std::string& velocities, FileMeaning& meaning) {
  const auto length = powers_of(lookup, positions), mass = powers_of(lookup, masses),
             velocity = powers_of(lookup, velocities);
  const auto is_zero = [](const std::optional<DatasetPowers>& powers) {
    return !powers || (powers->a == 0 && powers->h == 0 && !powers->physical);
  };
  // GADGET-4 and AREPO write zeros if a run is not cosmological, even if its h is not 1.
  if (is_zero(length) && is_zero(mass) && is_zero(velocity)) {
    meaning.zero_powers = length.has_value();
    return;
  }
  if (length) meaning.length = *length;
  if (mass) meaning.mass = *mass;
  if (velocity) meaning.velocity = *velocity;
  meaning.powers_known = true;
}

}  // namespace orrery
