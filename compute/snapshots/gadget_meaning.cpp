#include "compute/snapshots/gadget_meaning.h"

#include <array>
#include <cmath>

#include "compute/core/range.h"

namespace orrery {
namespace {

enum class Fact { time, comoving, scale_factor, redshift, omega0, hubble, box_size };

/// How the numbers of a file depend on scale factor and h, if it has this row's attribute.
enum class Numbers {
  gadget,  ///< as FileMeaning says without more
  swift,   ///< comoving positions, peculiar velocities, nothing over h
};

/// An attribute that holds a fact. Of several rows for a fact, the first that the file has counts.
struct FactRow {
  Fact fact;
  const char* group;
  const char* attribute;
  Numbers numbers = Numbers::gadget;
};
constexpr FactRow fact_rows[]{
    {Fact::time, "Header", "Time"},  // all codes; a scale factor if comoving
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

/// Attributes that hold the units in CGS. Null: the code has no such attribute.
struct UnitRow {
  const char* group;
  const char* length;
  const char* mass;
  const char* velocity;
  const char* time;
  bool over_h = false;  ///< they are divided by h already
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
/// SWIFT's units of its constants, which are not those of its snapshots if the user chose others for these.
constexpr UnitRow internal_units{"InternalCodeUnits", "Unit length in cgs (U_L)", "Unit mass in cgs (U_M)", nullptr,
                                 "Unit time in cgs (U_t)"};

/// Attributes that hold the constant of gravity in the code's units. 0: the physical one.
struct GravityRow {
  const char* group;
  const char* attribute;
  const UnitRow* units = nullptr;  ///< null, or the file has none of these: those of the file
};
constexpr GravityRow gravity_rows[]{
    {"Parameters", "GravityConstantInternal"},           // GADGET-4, AREPO
    {"Header", "Gravitational_Constant_In_Code_Inits"},  // GIZMO since November 2020
    {"PhysicalConstants/InternalUnits", "newton_G", &internal_units},
};

/// Attributes of a dataset that hold its powers.
struct PowerRow {
  const char* a;
  const char* h;
};
constexpr PowerRow power_rows[]{
    {"aexp-scale-exponent", "h-scale-exponent"},  // EAGLE, OWLS
    {"a-scale exponent", "h-scale exponent"},     // SWIFT
    {"a_scaling", "h_scaling"},                   // GADGET-4, AREPO
};

/// Attributes of SWIFT that hold the softening of types of bodies, in its internal units.
struct SwiftSofteningRow {
  std::array<std::size_t, 3> types;
  std::array<const char*, 2> comoving, most_physical;  // of older and newer versions
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
/// The word for a set of softenings in the parameters of GADGET-4 and of AREPO: "SofteningComovingClass0".
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

  /// Without a unit of velocity: the usual one, unless a constant of gravity decides it later. Notes what is missing.
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

  /// The lengths of the parameters of GADGET-4 and AREPO.
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

  /// Notes those that cannot be used.
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
  bool has_refused_units_ = false;  // and noted why
};

/// The powers that a dataset carries.
struct DatasetPowers : CosmologicalPowers {
  bool physical = false;  ///< it says that its numbers are proper ones
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
  // GADGET-4 and AREPO write zeros if a run is not cosmological, whatever its h.
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
