// Units, and what the headers of GADGET's family say of them, code by code.
#include "compute/snapshots/units.h"

#include "compute/core/temporary_folder.h"
#include "compute/scenes/scene.h"
#include "compute/snapshots/file_meaning.h"
#include "compute/snapshots/snapshot.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/compute/snapshots/tipsy_file.h"
#include "tests/test.h"

namespace orrery {
namespace {

TEST(UnitsTest, AreReadWithFactorsAndPrintedByTheirNames) {
  const Units units = parse_units("--units", "kpc, 1e10Msun,km/s");
  EXPECT_TRUE(nearly_equal(units, galactic_units, 1e-15));
  EXPECT_EQ(units_text(units), "kpc, 1e10 Msun, km/s");
  EXPECT_EQ(units_text({3.085678e21, 1.989e43, 1e5}), "kpc, 1e10 Msun, km/s") << "GADGET's own constants";
  EXPECT_EQ(units_text(parse_units("--units", "0.5pc,2 Msun,G=1")).substr(0, 15), "0.5 pc, 2 Msun,");
  EXPECT_EQ(length_text(100 * kpc_cm), "100 kpc");
  EXPECT_EQ(time_text(galactic_units.time_s()), "0.9778 Gyr");
  EXPECT_EQ(parse_units("--units", "AU,Msun").velocity_cm_s, 0);
}

TEST(UnitsTest, GiveTheSpeedOfTheEarth) {
  const Units solar = gravity_units(1.495978707e13, solar_mass_g);
  EXPECT_NEAR(solar.velocity_cm_s, 29.7847e5, 1e3);
  EXPECT_NEAR(gravity_units(kpc_cm, 1e10 * solar_mass_g).velocity_cm_s, 207.387e5, 1e4);
}

TEST(UnitsTest, RefuseUnknownNamesWithTheKnownOnes) {
  const auto refused = [](const char* text, const auto&... parts) {
    EXPECT_USAGE_ERROR(parse_units("--units", text), "--units", parts...);
  };
  refused("kpc", "kpc,1e10Msun");
  refused("kpc,Msun,km/s,yr", "kpc,1e10Msun");
  refused("kpc,kg,mph", "'mph'", "velocity", "km/s");
  refused("furlong,kg", "'furlong'", "length", "Mpc");
  refused("kpc,-1Msun", "'-1Msun'", "mass", "Mearth");
  refused("kpc,nanMsun", "mass");
  refused("1e200kpc,Msun", "beyond all use");
}

TEST(UnitsTest, AreConvertedForFormatsThatHaveTheirOwn) {
  const TemporaryFolder folder;
  const Bodies bodies = find_scene("plummer").generate(20, 1).bodies;
  const Snapshot snapshot{.bodies = bodies, .time = 2, .units = gravity_units(1e-3 * kpc_cm, 1e3 * solar_mass_g)};
  const WrittenSnapshot written = write_snapshot(folder / "a.gadget", snapshot);
  EXPECT_NE(written.remark().find("converted to kpc, 1e10 Msun, km/s"), std::string::npos) << written.remark();
  const Snapshot back = read_snapshot(folder / "a.gadget");
  ASSERT_TRUE(back.units && back.units_assumed);
  const double speed = snapshot.units->velocity_cm_s / 1e5;
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_NEAR(back.bodies.positions[i].x, 1e-3 * bodies.positions[i].x, 1e-9);
    EXPECT_NEAR(back.bodies.positions[i].w / bodies.positions[i].w, 1e-7, 1e-13);
    EXPECT_NEAR(back.bodies.velocities[i].y, speed * bodies.velocities[i].y, 1e-5 * speed);
  }
  EXPECT_NEAR(back.time * back.units->time_s(), 2 * snapshot.units->time_s(), 1e-9 * back.units->time_s());
}

TEST(UnitsTest, ThatAreNotKnownBecomeGadgets) {
  const TemporaryFolder folder;
  const Bodies bodies = find_scene("plummer").generate(20, 1).bodies;
  const WrittenSnapshot written = write_snapshot(folder / "a.gadget", {bodies});
  EXPECT_NE(written.remark().find("units were not known: written as kpc, 1e10 Msun, km/s"), std::string::npos);
  const Scene scene = load_scene({.file = (folder / "a.gadget").string()});
  ASSERT_TRUE(scene.units);
  EXPECT_NEAR(scene.bodies.velocities[3].x, bodies.velocities[3].x, 1e-6) << "a run has G = 1 again";
  EXPECT_EQ(scene.bodies.positions[3], bodies.positions[3]);
  const Snapshot far = read_snapshot(folder / "a.gadget", {.units = parse_units("--units", "Mpc,1e10Msun")});
  EXPECT_EQ(length_text(far.units->length_cm), "Mpc");
  EXPECT_EQ(far.units->velocity_cm_s, 1e5) << "GADGET's";
  EXPECT_FALSE(far.units_assumed);
}

TEST(UnitsTest, ThatTakeBodiesOutOfRangeAreRefused) {
  const TemporaryFolder folder;
  const Snapshot snapshot{.bodies = {{{0, 0, 0, 1}}, {{}}}, .units = gravity_units(kpc_cm, 1e-8)};
  EXPECT_RUNTIME_ERROR(write_snapshot(folder / "a.gadget", snapshot), "a.gadget", "body 0", "mass");
}

TEST(UnitsTest, OfTipsyStandInAParameterFile) {
  const TemporaryFolder folder;
  const Snapshot snapshot{.bodies = find_scene("plummer").generate(4, 1).bodies,
                          .units = gravity_units(2 * kpc_cm, 3e9 * solar_mass_g)};
  const WrittenSnapshot written = write_snapshot(folder / "a.tipsy", snapshot);
  ASSERT_EQ(written.files.size(), 2u);
  EXPECT_EQ(written.files[1], folder / "a.param");
  EXPECT_EQ(test::read_bytes(folder / "a.param"), "dKpcUnit = 2\ndMsolUnit = 3e9\nbComove = 0\nbPeriodic = 0\n");
  EXPECT_EQ(read_snapshot(folder / "a.tipsy").units_file, (folder / "a.param").string());
  test::write_bytes(folder / "b.tipsy", test::read_bytes(folder / "a.tipsy"));
  EXPECT_FALSE(read_snapshot(folder / "b.tipsy").units) << "the parameters are of another run";
  Snapshot other = snapshot;
  other.units = gravity_units(kpc_cm, solar_mass_g);
  std::filesystem::remove(folder / "a.tipsy");
  EXPECT_RUNTIME_ERROR(write_snapshot(folder / "a.tipsy", other), "a.param", "other units");
  EXPECT_FALSE(std::filesystem::exists(folder / "a.tipsy"));
  EXPECT_EQ(write_snapshot(folder / "c.tipsy", other).files.size(), 2u);
  EXPECT_EQ(read_snapshot(folder / "b.tipsy").units, std::nullopt) << "two files, none of them its own";
}

TEST(UnitsTest, OfAParameterFileAreNotedIfTheyAreNone) {
  const TemporaryFolder folder;
  write_snapshot(folder / "a.tipsy", {.bodies = find_scene("plummer").generate(4, 1).bodies});
  const auto note_of = [&](const std::string& text) {
    test::write_bytes(folder / "a.param", text);
    const Snapshot snapshot = read_snapshot(folder / "a.tipsy");
    EXPECT_FALSE(snapshot.units) << text;
    return snapshot.notes.empty() ? "" : snapshot.notes[0];
  };
  for (const std::string field : {"dKpcUnit", "dMsolUnit"}) {
    const std::string other = field == "dKpcUnit" ? "dMsolUnit" : "dKpcUnit";
    for (const char* value : {"nan", "0", "-1", "1e300", "x", ""}) {
      const std::string note = note_of(other + " = 1\n" + field + " = " + value + "\n");
      EXPECT_NE(note.find("a.param': " + field + " = " + value + " is no unit"), std::string::npos) << note;
    }
    const std::string note = note_of(other + " = 1\n");
    EXPECT_NE(note.find(field + " is missing"), std::string::npos) << note;
  }
  EXPECT_EQ(note_of("nSteps = 5\n"), "") << "a run without units";
  EXPECT_LT(note_of("dMsolUnit = 1\ndKpcUnit = " + std::string(1000, 'x') + '\n').size(), 200u);
}

TEST(UnitsTest, OfTheStatesOfARunStandInOneParameterFile) {
  const TemporaryFolder folder;
  const Snapshot snapshot{.bodies = find_scene("plummer").generate(4, 1).bodies,
                          .units = gravity_units(2 * kpc_cm, 3e9 * solar_mass_g)};
  const WrittenSnapshot first = write_snapshot(folder / "run_00000.tipsy", snapshot);
  ASSERT_EQ(first.files.size(), 2u);
  EXPECT_EQ(first.files[1], folder / "run.param");
  EXPECT_EQ(write_snapshot(folder / "run_00001.tipsy", snapshot).files.size(), 1u) << "it has these units";
  for (const char* name : {"run.00128", "run-2.tipsy", "run.00128.bin", "run"}) {
    std::filesystem::copy_file(folder / "run_00000.tipsy", folder / name);
    EXPECT_TRUE(read_snapshot(folder / name).units) << name;
  }
  for (const char* name : {"rerun_00000.tipsy", "run_a.tipsy", "run1.tipsy", "00000.tipsy"}) {
    std::filesystem::copy_file(folder / "run_00000.tipsy", folder / name);
    EXPECT_FALSE(read_snapshot(folder / name).units) << name;
  }
  test::write_bytes(folder / "run_00001.param", "dKpcUnit = 5\ndMsolUnit = 1\n");
  const Snapshot own = read_snapshot(folder / "run_00001.tipsy");
  EXPECT_EQ(own.units_file, (folder / "run_00001.param").string());
  EXPECT_NEAR(own.units->length_cm / kpc_cm, 5, 1e-12);
  EXPECT_EQ(read_snapshot(folder / "run_00001.tipsy", {.units = galactic_units}).units_file, "");
}

TEST(UnitsTest, AreWrittenAsAnOptionThatReadsBack) {
  for (const Units& units : {galactic_units, Units{kpc_cm, 1e10 * solar_mass_g, 0}, gravity_units(kpc_cm, 7e9),
                             Units{3.085678e21, 1.989e43, 1e5 / 3}}) {
    EXPECT_EQ(parse_units("--units", units_option(units)), units) << units_option(units);
  }
  EXPECT_EQ(units_option(galactic_units), "kpc,1e10Msun,km/s");
}

TEST(UnitsTest, ValuesAreShownInUnitsOfTheField) {
  constexpr double pc = 1e-3 * kpc_cm, au = 1.495978707e13, year = 3.15576e7, km_s = 1e5;
  const struct {
    double speed;
    const char* text;
  } speeds[]{{3500 * km_s, "3500 km/s"}, {29.7847 * km_s, "29.78 km/s"}, {1e5 * km_s, "100000 km/s"},
             {0.4 * km_s, "0.4 km/s"},   {50 * km_s / 1e3, "50 m/s"},    {0.97781 * km_s, "0.9778 km/s"},
             {1000 * km_s, "1000 km/s"}};
  for (const auto& [speed, text] : speeds) EXPECT_EQ(velocity_value(speed), text);
  EXPECT_EQ(length_value(5.2 * au), "5.2 AU");
  EXPECT_EQ(length_value(1200 * au), "1200 AU");
  EXPECT_EQ(length_value(384400 * km_s), "384400 km");
  EXPECT_EQ(length_value(0.5 * pc), "0.5 pc");
  EXPECT_EQ(length_value(8.2 * kpc_cm), "8.2 kpc");
  EXPECT_EQ(length_value(2.5e3 * kpc_cm), "2.5 Mpc");
  EXPECT_EQ(length_value(4e6 * kpc_cm), "4000 Mpc");
  EXPECT_EQ(mass_value(1e12 * solar_mass_g), "1e12 Msun");
  EXPECT_EQ(mass_value(5.97217e27), "1 Mearth");
  EXPECT_EQ(mass_value(1.89812e30), "1 Mjup");
  EXPECT_EQ(mass_value(1e6), "1000 kg");
  EXPECT_EQ(time_value(248 * year), "248 yr");
  EXPECT_EQ(time_value(13.8e9 * year), "13.8 Gyr");
  EXPECT_EQ(time_value(2e6 * year), "2 Myr");
  EXPECT_EQ(time_value(10 * 86400), "10 d");
  EXPECT_EQ(four_digits(-0.00012345), "-0.0001234");
  EXPECT_EQ(four_digits(1.234e-7), "1.234e-7");
  EXPECT_EQ(four_digits(4.3e8), "4.3e8");
}

TEST(UnitsTest, HaveTheNameThatSuitsAValue) {
  EXPECT_EQ(unit_for(dimension::length, 0.2 * kpc_cm).name, "kpc");
  EXPECT_EQ(unit_for(dimension::length, 0.02 * kpc_cm).name, "pc");
  EXPECT_EQ(unit_for(dimension::length, 1e-6 * kpc_cm).name, "AU");
  EXPECT_EQ(unit_for(dimension::length, 3e3 * kpc_cm).name, "Mpc");
  EXPECT_EQ(unit_for(dimension::velocity, 2.2e7).name, "km/s");
  EXPECT_EQ(unit_for(dimension::mass, 1e11 * solar_mass_g).name, "Msun");
  EXPECT_EQ(unit_for(dimension::acceleration, 981).name, "m/s\u00b2");
  EXPECT_EQ(unit_for(dimension::length, 0).name, "kpc");
  EXPECT_EQ(unit_for(dimension::time, 3e5).name, "d");
  EXPECT_EQ(unit_for(dimension::density, 0.1 * solar_mass_g / std::pow(1e-3 * kpc_cm, 3)).name, "Msun/pc\u00b3");
  EXPECT_EQ(unit_for(dimension::density, 1).name, "g/cm\u00b3");
  EXPECT_EQ(unit_for(dimension::mass_per_area, 50 * solar_mass_g / std::pow(1e-3 * kpc_cm, 2)).name, "Msun/pc\u00b2");
}

TEST(UnitsTest, ADimensionWithoutNamesHasUnitsOfCgs) {
  EXPECT_EQ(unit_for({.length = 2, .time = -1}, 1e30).name, "cm\u00b2/s");
  EXPECT_EQ(unit_for({.length = 2, .time = -1}, 1e30).size, 1);
  EXPECT_EQ(unit_for({.length = 2, .mass = 1, .time = -3}, 1).name, "cm\u00b2 g/s\u00b3");
  EXPECT_EQ(unit_for({.length = -4}, 1).name, "1/cm^4");
  EXPECT_DOUBLE_EQ(own_unit(galactic_units, {.length = 2, .time = -1}), 1e5 * kpc_cm);
}

using Attributes = std::map<std::pair<std::string, std::string>, std::optional<double>>;

HeaderLookup lookup_in(const Attributes& attributes) {
  return [&](const std::string& object, const char* name) -> HeaderAttribute {
    const auto found = attributes.find({object, name});
    return found == attributes.end() ? HeaderAttribute{} : HeaderAttribute{true, found->second};
  };
}

/// Reads a header of these attributes, with the powers of its datasets, where the file has such.
struct Read {
  Snapshot snapshot;
  std::string fault;

  explicit Read(const Attributes& attributes, const SnapshotHints& hints = {}) {
    const HeaderLookup lookup = lookup_in(attributes);
    FileMeaning meaning = meaning_of_header(lookup, snapshot.notes);
    take_powers(lookup, "PartType1/Coordinates", "PartType1/Masses", "PartType1/Velocities", meaning);
    fault = take_meaning(meaning, hints, snapshot);
  }
  bool notes(const std::string& words) const { return test::has_note(snapshot, words); }
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

/// Attributes of one object of a file.
Attributes in(const std::string& object, std::initializer_list<std::pair<const char*, std::optional<double>>> values) {
  Attributes attributes;
  for (const auto& [name, value] : values) attributes[{object, name}] = value;
  return attributes;
}

template <class... Others>
Attributes merged(Attributes one, const Others&... others) {
  (one.insert(others.begin(), others.end()), ...);
  return one;
}

Attributes with_units(const std::string& group, Attributes attributes, double over_h = 1, bool gizmo = false) {
  attributes[{group, gizmo ? "UnitLength_In_CGS" : "UnitLength_in_cm"}] = length / over_h;
  attributes[{group, gizmo ? "UnitMass_In_CGS" : "UnitMass_in_g"}] = mass / over_h;
  attributes[{group, gizmo ? "UnitVelocity_In_CGS" : "UnitVelocity_in_cm_per_s"}] = speed;
  return attributes;
}

Attributes swift_units(double length_cm, double mass_g, double time_s, const char* group = "Units") {
  return in(group, {{"Unit length in cgs (U_L)", length_cm},
                    {"Unit mass in cgs (U_M)", mass_g},
                    {"Unit time in cgs (U_t)", time_s}});
}

/// How a dataset's numbers scale, as attributes of these names say.
Attributes powers(const std::string& dataset, const char* of_a, double a, const char* of_h, double h) {
  return in("PartType1/" + dataset, {{of_a, a}, {of_h, h}});
}

/// A cosmological snapshot of each code at the scale factor a.
std::map<std::string, Attributes> cosmological_headers(double a, double h) {
  const Attributes times = in("Header", {{"Time", a}, {"Redshift", 1 / a - 1}, {"BoxSize", 100.0}});
  const Attributes gadget = merged(times, in("Header", {{"Omega0", 0.3}, {"HubbleParam", h}}));
  const auto gadget4 = [](const char* dataset, double of_a, double of_h) {
    return powers(dataset, "a_scaling", of_a, "h_scaling", of_h);
  };
  const auto eagle = [](const char* dataset, double of_a, double of_h) {
    return powers(dataset, "aexp-scale-exponent", of_a, "h-scale-exponent", of_h);
  };
  std::map<std::string, Attributes> headers;
  headers["GADGET-3"] = with_units("Units", gadget);
  headers["AREPO"] = with_units("Header", merged(gadget, in("Parameters", {{"ComovingIntegrationOn", 1.0}})));
  headers["GADGET-4"] = with_units(
      "Parameters",
      merged(
          times,
          in("Parameters",
             {{"ComovingIntegrationOn", 1.0}, {"Omega0", 0.3}, {"HubbleParam", h}, {"GravityConstantInternal", 0.0}}),
          gadget4("Coordinates", 1, -1), gadget4("Velocities", 0.5, 0), gadget4("Masses", 0, -1)));
  headers["GIZMO"] = with_units(
      "Header",
      merged(times, in("Header", {{"ComovingIntegrationOn", 1.0}, {"Omega_Matter", 0.3}, {"HubbleParam", h}})), h,
      true);
  headers["EAGLE"] = with_units("Units", merged(in("Header", {{"Time", 0.012}, {"ExpansionFactor", a}}), gadget,
                                                eagle("Coordinates", 1, -1), eagle("Velocities", 0.5, 0)));
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
      const Attributes swift = merged(swift_units(length, mass, length / speed),
                                      in("Cosmology", {{"Cosmological run", 1.0}, {"Scale-factor", a}, {"h", h}}),
                                      in("Header", {{"Time", 1e-3}, {"Redshift", 1 / a - 1}}));
      expect_units(Read{swift}, length * a, mass, speed, "SWIFT");
    }
  }
}

TEST(Meaning, OfAHeaderWithoutUnitsIsGadgets) {
  const Attributes header = in("Header", {{"Time", 0.5}, {"Redshift", 1.0}, {"Omega0", 0.3}, {"HubbleParam", 0.7}});
  const Read read{header};
  expect_units(read, galactic_units.length_cm * 0.5 / 0.7, galactic_units.mass_g / 0.7, 1e5 * std::sqrt(0.5), "");
  EXPECT_TRUE(read.snapshot.units_assumed);
  EXPECT_FALSE(read.notes("no h in the file"));
}

TEST(Meaning, OfACosmologicalHeaderWithoutHSaysSo) {
  const Attributes header = in("Header", {{"Time", 0.5}, {"Redshift", 1.0}, {"Omega0", 0.3}});
  EXPECT_TRUE(Read{header}.notes("no h in the file: read with h = 1; --hubble names another"));
}

TEST(Meaning, OfRunsWithoutExpansionIsTheirUnits) {
  const Attributes isolated = in("Header", {{"Time", 1.5}, {"Redshift", 0.0}});
  const Attributes no_expansion = in("Parameters", {{"ComovingIntegrationOn", 0.0}});
  const std::map<std::string, Attributes> headers{
      {"GADGET-3", with_units("Units", isolated)},
      {"AREPO", with_units("Header", merged(isolated, no_expansion))},
      {"GADGET-4",
       with_units("Parameters", merged(isolated, no_expansion, powers("Coordinates", "a_scaling", 0, "h_scaling", 0)))},
      {"GIZMO", with_units("Header",
                           merged(isolated, in("Header", {{"ComovingIntegrationOn", 0.0},
                                                          {"HubbleParam", 1.0},
                                                          {"Gravitational_Constant_In_Code_Inits", 43.0091}})),
                           1, true)},
      {"SWIFT", merged(isolated, swift_units(length, mass, length / speed),
                       in("Cosmology", {{"Cosmological run", 0.0}, {"Scale-factor", 1.0}}),
                       in("PhysicalConstants/InternalUnits", {{"newton_G", 43.0091}}))}};
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
    const Attributes header = with_units(
        "Units",
        in("Header", {{"Time", time}, {"Redshift", 0.0}, {"BoxSize", 0.0}, {"Omega0", 0.26}, {"HubbleParam", 0.72}}));
    const Read read{header};
    expect_units(read, length, mass, speed, std::to_string(time));
    EXPECT_EQ(read.snapshot.time, time);
    EXPECT_TRUE(read.notes("not cosmological")) << read.all_notes();
    EXPECT_TRUE(read.notes("--hubble 0.72")) << read.all_notes();
  }
}

TEST(Meaning, IsOverruledByHints) {
  const Attributes isolated =
      with_units("Units", in("Header", {{"Time", 1.0}, {"Redshift", 0.0}, {"Omega0", 0.26}, {"HubbleParam", 0.72}}));
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
  const Read lost{with_units("Units", in("Header", {{"Time", -5.0}})), {.cosmological = true}};
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
      {"GADGET-4", in("Parameters", {{"UnitLength_in_cm", 1.0},
                                     {"UnitMass_in_g", 1.0},
                                     {"UnitVelocity_in_cm_per_s", 1.0},
                                     {"GravityConstantInternal", 1.0}})},
      {"GIZMO", in("Header", {{"UnitLength_In_CGS", 1.0},
                              {"UnitMass_In_CGS", 1.0},
                              {"UnitVelocity_In_CGS", 1.0},
                              {"Gravitational_Constant_In_Code_Inits", 1.0}})},
      {"SWIFT", merged(swift_units(1, 1, 1), in("PhysicalConstants/InternalUnits", {{"newton_G", 1.0}}))},
      // newton_G is in the units of the code, whatever those of the snapshot are.
      {"SWIFT, other units of output", merged(swift_units(1, 1, 1), swift_units(10, 1, 1, "InternalCodeUnits"),
                                              in("PhysicalConstants/InternalUnits", {{"newton_G", 1e-3}}))}};
  for (const auto& [code, header] : headers) {
    const Read read{header};
    expect_units(read, 1, 1, g_1, code);
    EXPECT_TRUE(read.notes("constant of gravity")) << code << read.all_notes();
  }
}

/// SWIFT may store proper coordinates in a cosmological file.
TEST(Meaning, OfNumbersThatAreStoredAsPhysical) {
  const Attributes swift = merged(swift_units(length, mass, length / speed),
                                  in("Cosmology", {{"Cosmological run", 1.0}, {"Scale-factor", 0.4}}),
                                  in("Header", {{"Redshift", 1.5}, {"BoxSize", 100.0}}));
  const Attributes zeros = merged(powers("Coordinates", "a-scale exponent", 0, "h-scale exponent", 0),
                                  powers("Velocities", "a-scale exponent", 0, "h-scale exponent", 0));
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
  const Attributes gadget = with_units(
      "Header", merged(in("Header", {{"Time", 0.5}, {"Redshift", 1.0}, {"Omega0", 0.3}, {"HubbleParam", 0.7}}),
                       powers("Coordinates", "a_scaling", 0, "h_scaling", 0)));
  expect_units(Read{gadget}, length, mass, speed, "scalings of 0");
  expect_units(Read{gadget, {.cosmological = true}}, length * 0.5 / 0.7, mass / 0.7, speed * std::sqrt(0.5),
               "--cosmological yes");
}

TEST(Meaning, OfUnitsThatCannotBeUsedIsNoted) {
  Attributes header = with_units("Header", in("Header", {{"Time", 0.0}}));
  header[{"Header", "UnitMass_in_g"}] = std::nullopt;
  const Read text{header};
  EXPECT_TRUE(text.notes("units are not read: Header/UnitMass_in_g is not a number")) << text.all_notes();
  EXPECT_TRUE(text.snapshot.units_assumed);
  header = with_units("Header", in("Header", {{"Time", 0.0}}));
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
  const Attributes header =
      with_units("Units", in("Header", {{"Time", 0.02}, {"Redshift", 49.0}, {"Omega0", 0.0}, {"HubbleParam", 0.7}}));
  const Read read{header};
  expect_units(read, length, mass, speed, "");
  EXPECT_TRUE(read.notes("not cosmological (Omega0 = 0, although Time = 0.02 and Redshift = 49 match)"))
      << read.all_notes();
}

/// The softening of a type, as its coordinates are in the file.
double softening_in(const Attributes& attributes, std::size_t type) {
  std::vector<std::string> notes;
  return softening_of_type(meaning_of_header(lookup_in(attributes), notes), {}, type);
}

TEST(Meaning, OfSofteningInTheParametersOfACode) {
  for (const std::string word : {"Class", "Type"}) {
    const Attributes softening{{{"Parameters", "Softening" + word + "OfPartType1"}, 2.0},
                               {{"Parameters", "SofteningComoving" + word + "2"}, 0.5},
                               {{"Parameters", "SofteningMaxPhys" + word + "2"}, 0.1}};
    const auto run = [&](double time, double expands) {
      return merged(softening, in("Header", {{"Time", time}}), in("Parameters", {{"ComovingIntegrationOn", expands}}));
    };
    const Attributes isolated = run(3, 0);
    EXPECT_EQ(softening_in(isolated, 1), 0.5) << word;
    EXPECT_EQ(softening_in(isolated, 0), 0) << word;
    const auto at = [&](double a) { return softening_in(run(a, 1), 1); };
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
  const Attributes header = in("Header", {{"Time", std::nullopt}, {"Omega0", NAN}});
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
