// Headers of GADGET's family, code by code, and what they mean: the attributes that each writes of a system whose
// proper units are known.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compute/snapshots/file_meaning.h"
#include "compute/snapshots/snapshot.h"

namespace orrery {
namespace {

using Attributes = std::map<std::pair<std::string, std::string>, std::optional<double>>;

/// Reads a header of these attributes, with the powers of its datasets, where the file has such.
struct Read {
  Snapshot snapshot;
  std::string fault;

  explicit Read(const Attributes& attributes, const SnapshotHints& hints = {}) {
    const HeaderLookup lookup = [&](const std::string& object, const char* name) -> HeaderAttribute {
      const auto found = attributes.find({object, name});
      return found == attributes.end() ? HeaderAttribute{} : HeaderAttribute{true, found->second};
    };
    FileMeaning meaning = meaning_of_header(lookup, snapshot.notes);
    take_powers(lookup, "PartType1/Coordinates", "PartType1/Masses", "PartType1/Velocities", meaning);
    fault = take_meaning(meaning, hints, snapshot);
  }
  bool notes(const std::string& words) const {
    for (const std::string& note : snapshot.notes) {
      if (note.find(words) != std::string::npos) return true;
    }
    return false;
  }
  std::string all_notes() const {
    std::string all = fault;
    for (const std::string& note : snapshot.notes) all += '\n' + note;
    return all;
  }
};

void expect_units(const Read& read, double length_cm, double mass_g, double velocity_cm_s, const std::string& what) {
  ASSERT_TRUE(read.snapshot.units) << what << read.all_notes();
  EXPECT_NEAR(read.snapshot.units->length_cm / length_cm, 1, 1e-12) << what << read.all_notes();
  EXPECT_NEAR(read.snapshot.units->mass_g / mass_g, 1, 1e-12) << what << read.all_notes();
  EXPECT_NEAR(read.snapshot.units->velocity_cm_s / velocity_cm_s, 1, 1e-12) << what << read.all_notes();
}

constexpr double length = 3.085678e24, mass = 1.989e43, speed = 1e5;  // Mpc, 1e10 solar masses, km/s

Attributes with_units(const std::string& group, Attributes attributes, double over_h = 1, bool gizmo = false) {
  attributes[{group, gizmo ? "UnitLength_In_CGS" : "UnitLength_in_cm"}] = length / over_h;
  attributes[{group, gizmo ? "UnitMass_In_CGS" : "UnitMass_in_g"}] = mass / over_h;
  attributes[{group, gizmo ? "UnitVelocity_In_CGS" : "UnitVelocity_in_cm_per_s"}] = speed;
  return attributes;
}

Attributes swift_units(double length_cm, double mass_g, double time_s, const char* group = "Units") {
  return {{{group, "Unit length in cgs (U_L)"}, length_cm},
          {{group, "Unit mass in cgs (U_M)"}, mass_g},
          {{group, "Unit time in cgs (U_t)"}, time_s}};
}

Attributes merged(Attributes one, const Attributes& other) {
  one.insert(other.begin(), other.end());
  return one;
}

/// A cosmological snapshot of each code at the scale factor a.
std::map<std::string, Attributes> cosmological_headers(double a, double h) {
  const Attributes times{{{"Header", "Time"}, a}, {{"Header", "Redshift"}, 1 / a - 1}, {{"Header", "BoxSize"}, 100.0}};
  const Attributes gadget = merged(times, {{{"Header", "Omega0"}, 0.3}, {{"Header", "HubbleParam"}, h}});
  std::map<std::string, Attributes> headers;
  headers["GADGET-3"] = with_units("Units", gadget);
  headers["AREPO"] = with_units("Header", merged(gadget, {{{"Parameters", "ComovingIntegrationOn"}, 1.0}}));
  headers["GADGET-4"] = with_units("Parameters", merged(times, {{{"Parameters", "ComovingIntegrationOn"}, 1.0},
                                                                {{"Parameters", "Omega0"}, 0.3},
                                                                {{"Parameters", "HubbleParam"}, h},
                                                                {{"Parameters", "GravityConstantInternal"}, 0.0},
                                                                {{"PartType1/Coordinates", "a_scaling"}, 1.0},
                                                                {{"PartType1/Coordinates", "h_scaling"}, -1.0},
                                                                {{"PartType1/Velocities", "a_scaling"}, 0.5},
                                                                {{"PartType1/Velocities", "h_scaling"}, 0.0},
                                                                {{"PartType1/Masses", "a_scaling"}, 0.0},
                                                                {{"PartType1/Masses", "h_scaling"}, -1.0}}));
  headers["GIZMO"] = with_units("Header",
                                merged(times, {{{"Header", "ComovingIntegrationOn"}, 1.0},
                                               {{"Header", "Omega_Matter"}, 0.3},
                                               {{"Header", "HubbleParam"}, h}}),
                                h, true);
  headers["EAGLE"] = with_units("Units", {{{"Header", "Time"}, 0.012},
                                          {{"Header", "ExpansionFactor"}, a},
                                          {{"Header", "Redshift"}, 1 / a - 1},
                                          {{"Header", "BoxSize"}, 100.0},
                                          {{"Header", "Omega0"}, 0.3},
                                          {{"Header", "HubbleParam"}, h},
                                          {{"PartType1/Coordinates", "aexp-scale-exponent"}, 1.0},
                                          {{"PartType1/Coordinates", "h-scale-exponent"}, -1.0},
                                          {{"PartType1/Velocities", "aexp-scale-exponent"}, 0.5},
                                          {{"PartType1/Velocities", "h-scale-exponent"}, 0.0}});
  return headers;
}

TEST(Meaning, OfEveryCodesCosmologicalHeader) {
  for (const double a : {0.25, 0.5, 1.0}) {
    for (const double h : {0.5, 0.7, 1.0}) {
      for (const auto& [code, header] : cosmological_headers(a, h)) {
        const std::string what = code + " at a = " + std::to_string(a) + ", h = " + std::to_string(h);
        const Read read{header};
        EXPECT_EQ(read.fault, "") << what;
        expect_units(read, length * a / h, mass / h, speed * std::sqrt(a), what);
        EXPECT_EQ(read.snapshot.time, 0) << what;
        EXPECT_TRUE(read.snapshot.properties.formation_scale_factors) << what;
        EXPECT_TRUE(read.notes("cosmological (")) << what << read.all_notes();
        EXPECT_FALSE(read.snapshot.units_assumed) << what;
      }
      const Attributes swift =
          merged(swift_units(length, mass, length / speed), {{{"Cosmology", "Cosmological run"}, 1.0},
                                                             {{"Cosmology", "Scale-factor"}, a},
                                                             {{"Header", "Time"}, 1e-3},
                                                             {{"Header", "Redshift"}, 1 / a - 1},
                                                             {{"Cosmology", "h"}, h}});
      expect_units(Read{swift}, length * a, mass, speed, "SWIFT");
    }
  }
}

TEST(Meaning, OfAHeaderWithoutUnitsIsGadgets) {
  const Attributes header{{{"Header", "Time"}, 0.5},
                          {{"Header", "Redshift"}, 1.0},
                          {{"Header", "Omega0"}, 0.3},
                          {{"Header", "HubbleParam"}, 0.7}};
  const Read read{header};
  expect_units(read, galactic_units.length_cm * 0.5 / 0.7, galactic_units.mass_g / 0.7, 1e5 * std::sqrt(0.5), "");
  EXPECT_TRUE(read.snapshot.units_assumed);
  EXPECT_FALSE(read.notes("no h in the file"));
}

TEST(Meaning, OfACosmologicalHeaderWithoutHSaysSo) {
  const Attributes header{{{"Header", "Time"}, 0.5}, {{"Header", "Redshift"}, 1.0}, {{"Header", "Omega0"}, 0.3}};
  EXPECT_TRUE(Read{header}.notes("no h in the file: read with h = 1; --hubble names another"));
}

TEST(Meaning, OfRunsWithoutExpansionIsTheirUnits) {
  const Attributes isolated{{{"Header", "Time"}, 1.5}, {{"Header", "Redshift"}, 0.0}};
  const std::map<std::string, Attributes> headers{
      {"GADGET-3", with_units("Units", isolated)},
      {"AREPO", with_units("Header", merged(isolated, {{{"Parameters", "ComovingIntegrationOn"}, 0.0}}))},
      {"GADGET-4", with_units("Parameters", merged(isolated, {{{"Parameters", "ComovingIntegrationOn"}, 0.0},
                                                              {{"PartType1/Coordinates", "a_scaling"}, 0.0},
                                                              {{"PartType1/Coordinates", "h_scaling"}, 0.0}}))},
      {"GIZMO", with_units("Header",
                           merged(isolated, {{{"Header", "ComovingIntegrationOn"}, 0.0},
                                             {{"Header", "HubbleParam"}, 1.0},
                                             {{"Header", "Gravitational_Constant_In_Code_Inits"}, 43.0091}}),
                           1, true)},
      {"SWIFT", merged(merged(isolated, swift_units(length, mass, length / speed)),
                       {{{"Cosmology", "Cosmological run"}, 0.0},
                        {{"Cosmology", "Scale-factor"}, 1.0},
                        {{"PhysicalConstants/InternalUnits", "newton_G"}, 43.0091}})}};
  for (const auto& [code, header] : headers) {
    const Read read{header};
    EXPECT_EQ(read.fault, "") << code;
    expect_units(read, length, mass, speed, code);
    EXPECT_EQ(read.snapshot.time, 1.5) << code;
    EXPECT_EQ(read.all_notes(), "") << code;
    EXPECT_FALSE(read.snapshot.properties.formation_scale_factors) << code;
  }
}

/// An isolated run whose header has Omega0 is read alike at all times, also at 1.
TEST(Meaning, OfOmega0AloneIsNotAnExpansion) {
  for (const double time : {0.0, 0.5, 0.95, 0.9995, 1.0, 1.05, 3.0}) {
    const Attributes header = with_units("Units", {{{"Header", "Time"}, time},
                                                   {{"Header", "Redshift"}, 0.0},
                                                   {{"Header", "BoxSize"}, 0.0},
                                                   {{"Header", "Omega0"}, 0.26},
                                                   {{"Header", "HubbleParam"}, 0.72}});
    const Read read{header};
    expect_units(read, length, mass, speed, std::to_string(time));
    EXPECT_EQ(read.snapshot.time, time);
    EXPECT_TRUE(read.notes("not cosmological")) << read.all_notes();
    EXPECT_TRUE(read.notes("--hubble 0.72")) << read.all_notes();
  }
}

TEST(Meaning, IsOverruledByHints) {
  const Attributes isolated = with_units("Units", {{{"Header", "Time"}, 1.0},
                                                   {{"Header", "Redshift"}, 0.0},
                                                   {{"Header", "Omega0"}, 0.26},
                                                   {{"Header", "HubbleParam"}, 0.72}});
  expect_units(Read{isolated, {.cosmological = true}}, length / 0.72, mass / 0.72, speed, "--cosmological yes");
  expect_units(Read{isolated, {.hubble = 0.5}}, length / 0.5, mass / 0.5, speed, "--hubble");
  const Attributes web = cosmological_headers(0.5, 0.7).at("GADGET-4");
  const Read alone{web, {.cosmological = false}};
  EXPECT_EQ(alone.snapshot.time, 0.5);
  expect_units(Read{web, {.hubble = 0.5}}, length * 0.5 / 0.5, mass / 0.5, speed * std::sqrt(0.5), "--hubble");
  // --units are those of the code, before scale factor and h.
  const Read far{web, {.units = Units{kpc_cm, solar_mass_g, 0}}};
  expect_units(far, kpc_cm * 0.5 / 0.7, solar_mass_g / 0.7, 1e5 * std::sqrt(0.5), "--units");
  EXPECT_TRUE(Read(cosmological_headers(0.5, 0.7).at("GIZMO"), {.hubble = 0.5}).notes("--hubble changes nothing"));
  const Read lost{with_units("Units", {{{"Header", "Time"}, -5.0}}), {.cosmological = true}};
  EXPECT_NE(lost.fault.find("scale factor"), std::string::npos);
  EXPECT_NE(lost.fault.find("--cosmological no"), std::string::npos);
}

TEST(Meaning, OfAFlagWithoutAScaleFactorIsRefused) {
  Attributes header = cosmological_headers(0.5, 0.7).at("GADGET-4");
  header[{"Header", "Time"}] = 7.0;
  expect_units(Read{header}, length * 0.5 / 0.7, mass / 0.7, speed * std::sqrt(0.5), "by its redshift");
  header.erase({"Header", "Redshift"});
  EXPECT_NE(Read{header}.fault.find("Parameters/ComovingIntegrationOn = 1"), std::string::npos) << Read{header}.fault;
  header = cosmological_headers(0.5, 0.7).at("AREPO");
  header[{"Header", "HubbleParam"}] = 0.0;
  EXPECT_NE(Read{header}.fault.find("HubbleParam"), std::string::npos) << Read{header}.fault;
}

/// Gravity with G = 1 in the file's units: those of velocity become those in which the physical G gives the same.
TEST(Meaning, OfAConstantOfGravityKeepsOrbits) {
  const double g_1 = std::sqrt(gravitational_constant);
  const std::map<std::string, Attributes> headers{
      {"GADGET-4",
       {{{"Parameters", "UnitLength_in_cm"}, 1.0},
        {{"Parameters", "UnitMass_in_g"}, 1.0},
        {{"Parameters", "UnitVelocity_in_cm_per_s"}, 1.0},
        {{"Parameters", "GravityConstantInternal"}, 1.0}}},
      {"GIZMO",
       {{{"Header", "UnitLength_In_CGS"}, 1.0},
        {{"Header", "UnitMass_In_CGS"}, 1.0},
        {{"Header", "UnitVelocity_In_CGS"}, 1.0},
        {{"Header", "Gravitational_Constant_In_Code_Inits"}, 1.0}}},
      {"SWIFT", merged(swift_units(1, 1, 1), {{{"PhysicalConstants/InternalUnits", "newton_G"}, 1.0}})},
      // newton_G is in the units of the code, whatever those of the snapshot are.
      {"SWIFT, other units of output", merged(merged(swift_units(1, 1, 1), swift_units(10, 1, 1, "InternalCodeUnits")),
                                              {{{"PhysicalConstants/InternalUnits", "newton_G"}, 1e-3}})}};
  for (const auto& [code, header] : headers) {
    const Read read{header};
    expect_units(read, 1, 1, g_1, code);
    EXPECT_TRUE(read.notes("constant of gravity")) << code << read.all_notes();
  }
}

/// SWIFT may store proper coordinates in a cosmological file.
TEST(Meaning, OfNumbersThatAreStoredAsPhysical) {
  const Attributes swift = merged(swift_units(length, mass, length / speed), {{{"Cosmology", "Cosmological run"}, 1.0},
                                                                              {{"Cosmology", "Scale-factor"}, 0.4},
                                                                              {{"Header", "Redshift"}, 1.5},
                                                                              {{"Header", "BoxSize"}, 100.0}});
  const Attributes zeros{{{"PartType1/Coordinates", "a-scale exponent"}, 0.0},
                         {{"PartType1/Coordinates", "h-scale exponent"}, 0.0},
                         {{"PartType1/Velocities", "a-scale exponent"}, 0.0},
                         {{"PartType1/Velocities", "h-scale exponent"}, 0.0}};
  const Read without{merged(swift, zeros)};
  expect_units(without, length, mass, speed, "exponents of 0");
  EXPECT_TRUE(without.notes("are all 0: no number is multiplied")) << without.all_notes();
  EXPECT_NEAR(without.snapshot.box.x, 40, 1e-12) << "the size of a box is a comoving one";
  Attributes physical = merged(swift, zeros);
  physical[{"PartType1/Coordinates", "a-scale exponent"}] = 1.0;
  physical[{"PartType1/Coordinates", "Value stored as physical"}] = 1.0;
  expect_units(Read{physical}, length, mass, speed, "a mark");
  physical[{"PartType1/Coordinates", "a-scale exponent"}] = 0.0;
  expect_units(Read{physical}, length, mass, speed, "a mark and exponents of 0");
  physical[{"PartType1/Coordinates", "a-scale exponent"}] = 1.0;
  physical[{"PartType1/Coordinates", "Value stored as physical"}] = 0.0;
  expect_units(Read{physical}, length * 0.4, mass, speed, "no mark");
  // By Time and Redshift alone.
  const Attributes gadget = with_units("Header", {{{"Header", "Time"}, 0.5},
                                                  {{"Header", "Redshift"}, 1.0},
                                                  {{"Header", "Omega0"}, 0.3},
                                                  {{"Header", "HubbleParam"}, 0.7},
                                                  {{"PartType1/Coordinates", "a_scaling"}, 0.0},
                                                  {{"PartType1/Coordinates", "h_scaling"}, 0.0}});
  expect_units(Read{gadget}, length, mass, speed, "scalings of 0");
  expect_units(Read{gadget, {.cosmological = true}}, length * 0.5 / 0.7, mass / 0.7, speed * std::sqrt(0.5),
               "--cosmological yes");
}

TEST(Meaning, OfUnitsThatCannotBeUsedIsNoted) {
  Attributes header = with_units("Header", {{{"Header", "Time"}, 0.0}});
  header[{"Header", "UnitMass_in_g"}] = std::nullopt;
  const Read text{header};
  EXPECT_TRUE(text.notes("units are not read: Header/UnitMass_in_g is not a number")) << text.all_notes();
  EXPECT_TRUE(text.snapshot.units_assumed);
  header = with_units("Header", {{{"Header", "Time"}, 0.0}});
  header.erase({"Header", "UnitVelocity_in_cm_per_s"});
  Attributes alone = header;
  alone.erase({"Header", "UnitMass_in_g"});
  EXPECT_TRUE(Read{alone}.notes("units are not read: Header/UnitMass_in_g is missing")) << Read{alone}.all_notes();
  const Read incomplete{header};
  expect_units(incomplete, length, mass, 1e5, "without velocity");
  EXPECT_TRUE(incomplete.notes("unit of velocity is not in Header: taken as km/s")) << incomplete.all_notes();
  // With G, the orbits decide: G = 1 makes velocities sqrt(G M / L).
  header[{"Header", "Gravitational_Constant_In_Code_Inits"}] = 1.0;
  expect_units(Read{header}, length, mass, std::sqrt(gravitational_constant * mass / length), "with G");
}

TEST(Meaning, OfAMatchingTimeWithoutOmega0IsNoted) {
  const Attributes header = with_units("Units", {{{"Header", "Time"}, 0.02},
                                                 {{"Header", "Redshift"}, 49.0},
                                                 {{"Header", "Omega0"}, 0.0},
                                                 {{"Header", "HubbleParam"}, 0.7}});
  const Read read{header};
  expect_units(read, length, mass, speed, "");
  EXPECT_TRUE(read.notes("not cosmological (Omega0 = 0, although Time = 0.02 and Redshift = 49 match)"))
      << read.all_notes();
}

/// The softening of a type, as its coordinates are in the file.
double softening_in(const Attributes& attributes, std::size_t type) {
  const HeaderLookup lookup = [&](const std::string& object, const char* name) -> HeaderAttribute {
    const auto found = attributes.find({object, name});
    return found == attributes.end() ? HeaderAttribute{} : HeaderAttribute{true, found->second};
  };
  std::vector<std::string> notes;
  return softening_of_type(meaning_of_header(lookup, notes), {}, type);
}

TEST(Meaning, OfSofteningInTheParametersOfACode) {
  for (const std::string word : {"Class", "Type"}) {
    const Attributes softening{{{"Parameters", "Softening" + word + "OfPartType1"}, 2.0},
                               {{"Parameters", "SofteningComoving" + word + "2"}, 0.5},
                               {{"Parameters", "SofteningMaxPhys" + word + "2"}, 0.1}};
    const Attributes isolated =
        merged(softening, {{{"Header", "Time"}, 3.0}, {{"Parameters", "ComovingIntegrationOn"}, 0.0}});
    EXPECT_EQ(softening_in(isolated, 1), 0.5) << word;
    EXPECT_EQ(softening_in(isolated, 0), 0) << word;
    const auto at = [&](double a) {
      return softening_in(merged(softening, {{{"Header", "Time"}, a}, {{"Parameters", "ComovingIntegrationOn"}, 1.0}}),
                          1);
    };
    EXPECT_EQ(at(0.1), 0.5) << word << ": comoving, as the coordinates are";
    EXPECT_EQ(at(0.5), 0.2) << word << ": at most 0.1, of proper length";
  }
  const Attributes swift{
      {{"GravityScheme", "Comoving DM softening length (Plummer equivalent)  [internal units]"}, 0.5},
      {{"GravityScheme", "Maximal physical DM softening length (Plummer equivalent) [internal units]"}, 0.1},
      {{"Cosmology", "Cosmological run"}, 1.0},
      {{"Cosmology", "Scale-factor"}, 0.5}};
  EXPECT_EQ(softening_in(swift, 1), 0.2);
  EXPECT_EQ(softening_in(swift, 0), 0);
  Attributes still = swift;
  still[{"Cosmology", "Cosmological run"}] = 0.0;
  EXPECT_EQ(softening_in(still, 1), 0.1);
}

TEST(Meaning, NamesAttributesThatAreNoNumbers) {
  const Attributes header{{{"Header", "Time"}, std::nullopt}, {{"Header", "Omega0"}, NAN}};
  const Read read{header};
  EXPECT_TRUE(read.notes("Header/Time is not read"));
  EXPECT_TRUE(read.notes("Header/Omega0 is not read"));
  EXPECT_EQ(read.snapshot.time, 0);
}

TEST(Meaning, OfFormationTimesThatAreScaleFactorsStays) {
  Snapshot snapshot{.bodies = {{{0, 0, 0, 1}}, {{}}}, .units = galactic_units};
  snapshot.properties.formation_time = {0.4f};
  snapshot.properties.formation_scale_factors = true;
  convert_to_gravity_units(snapshot);
  EXPECT_EQ(snapshot.properties.formation_time, std::vector{0.4f});
}

}  // namespace
}  // namespace orrery
