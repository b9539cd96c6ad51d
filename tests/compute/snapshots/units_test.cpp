#include "compute/snapshots/units.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "compute/core/temporary_folder.h"
#include "compute/scenes/scene.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/compute/snapshots/tipsy_file.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

using test::expect_failure;
using test::Failure;

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
    expect_failure(
        Failure::usage, [&] { parse_units("--units", text); }, "--units", parts...);
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
  expect_failure(
      Failure::runtime, [&] { write_snapshot(folder / "a.gadget", snapshot); }, "a.gadget", "body 0", "mass");
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
  expect_failure(
      Failure::runtime, [&] { write_snapshot(folder / "a.tipsy", other); }, "a.param", "other units");
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
  EXPECT_STREQ(length_unit_for(0.2 * kpc_cm).name, "kpc");
  EXPECT_STREQ(length_unit_for(0.02 * kpc_cm).name, "pc");
  EXPECT_STREQ(length_unit_for(1e-6 * kpc_cm).name, "AU");
  EXPECT_STREQ(length_unit_for(3e3 * kpc_cm).name, "Mpc");
  EXPECT_STREQ(velocity_unit_for(2.2e7).name, "km/s");
  EXPECT_STREQ(mass_unit_for(1e11 * solar_mass_g).name, "Msun");
  EXPECT_STREQ(acceleration_unit_for(981).name, "m/s\u00b2");
  EXPECT_STREQ(length_unit_for(0).name, "kpc");
  EXPECT_STREQ(time_unit_for(3e5).name, "d");
  EXPECT_STREQ(density_unit_for(0.1 * solar_mass_g / std::pow(1e-3 * kpc_cm, 3)).name, "Msun/pc\u00b3");
  EXPECT_STREQ(density_unit_for(1).name, "g/cm\u00b3");
  EXPECT_STREQ(mass_per_area_unit_for(50 * solar_mass_g / std::pow(1e-3 * kpc_cm, 2)).name, "Msun/pc\u00b2");
}

}  // namespace
}  // namespace orrery
