// `orrery convert` and `orrery inspect` as a person runs them.
#include "tests/app/report/page_check.h"
#include "tests/app/support/program.h"

namespace orrery::test {
namespace {

struct FileCommands : ProgramTest {
  void SetUp() override {
    write("a.txt",
          "# time = 2\n# m x y z vx vy vz id species\n"
          "1 1 0 0 0 0.5 0 7 4\n1 -1 0 0 0 -0.5 0 8 1\n");
  }
};

TEST_F(FileCommands, ConvertSaysWhatItWroteAndWhatIsLost) {
  const Outcome outcome = succeed({"convert", "a.txt", "a.tipsy"});
  EXPECT_EQ(outcome.out, "wrote a.tipsy, a.tipsy.iord: TIPSY, 2 bodies\n");
  EXPECT_EQ(outcome.err,
            "note: the order of the bodies changes, because TIPSY groups them by species: their ids are kept\n");
  EXPECT_EQ(run({"convert", "a.tipsy", "b.txt"}).status, 0);
  EXPECT_TRUE(holds(read("b.txt"), "# time = 2\n# m x y z vx vy vz id species\n")) << read("b.txt");
  EXPECT_EQ(run("convert a.txt c.csv --units kpc,1e10Msun"_words).status, 0);
  EXPECT_TRUE(holds(read("c.csv"), "# length_cm = 3.0856775814913673e+21\n"));
  const std::string gadget = run({"convert", "c.csv", "c.gadget"}).out;
  EXPECT_TRUE(holds(gadget, "converted to kpc, 1e10 Msun, km/s")) << gadget;
  EXPECT_TRUE(holds(run({"convert", "c.gadget", "d.txt"}).out, "taken as kpc, 1e10 Msun, km/s"));
}

TEST_F(FileCommands, ConvertNamesEveryFieldThatIsNotKept) {
  write("g.csv",
        "m,x,y,z,vx,vy,vz,species,temperature,rho,phi\n"
        "1,1,0,0,0,0.5,0,1,5,3,4\n1,-1,0,0,0,-0.5,0,0,9,3,4\n");
  const Outcome outcome = succeed({"convert", "g.csv", "g.gadget"});
  EXPECT_EQ(
      outcome.err,
      "note: not kept: column rho, column phi (which Orrery does not read); temperature (which GADGET cannot "
      "hold)\nnote: the order of the bodies changes, because GADGET groups them by species: ids are written, which "
      "are their places before\n");
  EXPECT_TRUE(
      run({"convert", "g.csv", "g.tipsy"})
          .err.starts_with("note: not kept: column rho, column phi (which Orrery does not read); temperature of "
                           "bodies other than gas (which TIPSY"));
  EXPECT_EQ(run({"convert", "g.csv", "g.ply"}).err,
            "note: not kept: column rho, column phi (which Orrery does not read)\n");
  EXPECT_TRUE(holds(run({"inspect", "g.csv"}).out, "column rho, column phi"));
}

TEST_F(FileCommands, UnitsAreSaidWithTheirFile) {
  EXPECT_EQ(run("convert a.txt u.tipsy --units kpc,1e10Msun"_words).status, 0);
  EXPECT_TRUE(holds(run({"inspect", "u.tipsy"}).out, "kpc, 1e10 Msun, 207.4 km/s, from u.param"));
  EXPECT_TRUE(holds(run({"convert", "u.tipsy", "u.txt"}).out, "units are those of u.param: kpc, 1e10 Msun"));
  std::filesystem::copy_file(folder / "u.tipsy", folder / "other.tipsy");
  EXPECT_TRUE(holds(run({"inspect", "other.tipsy"}).out, "not known, so that G = 1"));
}

TEST_F(FileCommands, InspectGivesNoVerdictOnOnePartOfASnapshot) {
  EXPECT_EQ(run({"convert", "a.txt", "a.gadget"}).status, 0);
  EXPECT_FALSE(holds(run({"inspect", "a.gadget"}).out, "no verdict"));
  {
    std::fstream part{folder / "a.gadget", std::ios::in | std::ios::out | std::ios::binary};
    constexpr std::streamoff number_of_files = 4 + 124;  // behind the length of the header's record
    part.seekp(number_of_files);
    part.put(2);
  }
  const std::string out = run({"inspect", "a.gadget"}).out;
  EXPECT_TRUE(holds(out, "a part of its snapshot, 2 bodies, no verdict: other files of its snapshot are not read"))
      << out;
}

TEST_F(FileCommands, ConvertKeepsExistingFilesUnlessForced) {
  EXPECT_TRUE(holds(run({"convert", "a.txt", "a.ply"}).out, "wrote a.ply:"));
  const std::string first = read("a.ply");
  EXPECT_TRUE(holds(run("convert a.txt a.ply --byte-order big"_words).out, "wrote a-1.ply:"));
  EXPECT_EQ(read("a.ply"), first);
  EXPECT_TRUE(holds(run("convert a.txt a.ply --byte-order big --force"_words).out, "wrote a.ply:"));
  EXPECT_NE(read("a.ply"), first);
}

TEST_F(FileCommands, ConvertRefusesWhatItCannotDo) {
  expect_refused(run({"convert", "a.txt"}), 2, {"two files", "IN OUT"});
  expect_refused(run({"convert", "a.txt", "b.txt", "c.txt"}), 2, {"unexpected argument 'c.txt'"});
  expect_refused(run({"convert", "a.txt", "b.xyz"}), 2, {"b.xyz", "ending", "tipsy (.tipsy)", "--to"});
  expect_refused(run("convert a.txt b.txt --to netcdf"_words), 2, {"netcdf", "gadget2", "hdf5"});
  expect_refused(run({"convert", "a.txt", "a.txt"}), 2, {"OUT names 'a.txt', which IN reads"});
  expect_refused(run({"convert", "a.txt", "none/b.txt"}), 1, {"OUT", "none/b.txt"});
  expect_refused(run({"convert", "none.txt", "b.txt"}), 1, {"none.txt", "no such file"});
  expect_refused(run("convert a.txt b.txt --units kpc"_words), 2, {"--units", "kpc,1e10Msun"});
  expect_refused(run("convert a.txt b.txt --columns x"_words), 2, {"--columns", "no column y"});
  expect_refused(run("convert a.txt b.txt --columns x,y"_words), 1, {"9 values, but the table has 2 columns"});
  expect_refused(run({"view", "--units", "kpc,Msun"}), 2, {"--units", "FILE"});
  EXPECT_FALSE(std::filesystem::exists(path("b.txt")));
  EXPECT_TRUE(holds(run("convert a.txt b.xyz --to text"_words).out, "wrote b.xyz: text tables"));
}

TEST_F(FileCommands, RunsSayWhatTheyAssumeAboutAFile) {
  write("bare.txt", "# x y z\n1 0 0\n-1 0 0\n0 1 0\n");
  std::vector<Words> runs{"run bare.txt --steps 1 --kernel cpu-serial"_words};
  if (!holds(run({"info", "--json"}).out, "the viewer was not built")) {
    for (const char* panel : {"on", "off"}) {
      runs.push_back({"view", "bare.txt", "--offscreen", "--frames", "1", "--kernel", "cpu-serial", "--panel", panel});
    }
  }
  for (Words& command : runs) {
    const Outcome outcome = succeed(command);
    EXPECT_TRUE(
        outcome.err.starts_with("note: bare.txt: no velocities in the file: all bodies are at rest\n"
                                "note: bare.txt: no masses in the file: each body has the same, 1 in total\n"
                                "note: bare.txt: softening "))
        << outcome.err;
    command[1] = "a.txt";
    const std::string chosen = run(command).err;
    EXPECT_TRUE(chosen.starts_with("note: a.txt: softening 0.00667 (a 300th of ")) << chosen;
  }
}

TEST_F(FileCommands, NotesOfARunNameOnlyWhatItUses) {
  const Words plain = "run a.txt --steps 1 --kernel cpu-serial"_words;
  const auto notes_with = [&](const Words& more) { return run((plain + more)).err; };
  const std::string all = notes_with({"--units", "AU,Msun"});
  EXPECT_TRUE(holds(all, "orbit), ") && holds(all, " km; --softening chooses another")) << all;
  EXPECT_TRUE(holds(all, "note: a.txt: dt ") && holds(all, "the unit of time is 58.13 d; --dt chooses another")) << all;
  const std::string softened = notes_with({"--softening", "0.01"});
  EXPECT_FALSE(holds(softened, "note: a.txt: softening")) << softened;
  EXPECT_TRUE(holds(softened, "note: a.txt: dt ")) << softened;
  const std::string both = notes_with("--softening 0.01 --dt 0.001"_words);
  EXPECT_FALSE(holds(both, "note: a.txt: softening") || holds(both, "note: a.txt: dt ")) << both;
}

TEST_F(FileCommands, TheTimeOfAFileCountsForTheEndOfARun) {
  write("late.txt", "# time = 5\n1 0 0 0 0.5 0 1\n-1 0 0 0 -0.5 0 1\n");
  const Words to = "run late.txt --columns x,y,z,vx,vy,vz,m --dt 0.125 --softening 0.01 --kernel cpu-serial"_words;
  expect_holds(run(to + Words{"--until", "5.5"}).out, {"t = 5.5"});
  expect_refused(run(to + Words{"--until", "0.5"}), 2, {"t = 5"});
  write("late.txt", "# time = -1\n1 0 0 0 0.5 0 1\n-1 0 0 0 -0.5 0 1\n");
  expect_holds(run(to + Words{"--until", "-0.5"}).out, {"t = -0.5"});
}

TEST_F(FileCommands, InspectComputesTheVirialRatioFromDoubles) {
  std::ofstream table{folder / "wide.txt"};
  table.precision(17);  // pairs on circular orbits of 0.02, too far apart to attract each other
  table << "# x y z vx vy vz m\n";
  for (int i = 0; i < 20; ++i) {
    const double x = 1e6 * (i - 10) + 0.123, speed = std::sqrt(1 / 0.02 / 2);
    table << x << " 0 0 0 " << speed << " 0 1\n" << x + 0.02 << " 0 0 0 " << -speed << " 0 1\n";
  }
  table.close();
  const Outcome outcome = run({"inspect", "wide.txt"});
  EXPECT_TRUE(holds(outcome.out, "near virial equilibrium") && holds(outcome.out, "1 (2 K / |W|")) << outcome.out;
  EXPECT_TRUE(holds(outcome.out, "19 close pairs") && holds(outcome.out, "--digits compensated")) << outcome.out;
}

TEST_F(FileCommands, InspectNamesTheSofteningOfACheckpoint) {
  ASSERT_EQ(run("run a.txt --softening 0.03125 --steps 1 --kernel cpu-serial --checkpoint a.checkpoint"_words).status,
            0);
  const std::string out = run({"inspect", "a.checkpoint"}).out;
  EXPECT_TRUE(holds(out, "0.03125")) << out;
  EXPECT_FALSE(holds(out, "not in the file")) << out;
}

TEST_F(FileCommands, InspectGivesAVerdictAndTheFacts) {
  const Outcome outcome = succeed("inspect a.txt --units AU,Msun"_words);
  EXPECT_EQ(outcome.out.substr(0, outcome.out.find('\n')),
            "a.txt: text tables, complete, 2 bodies, near virial equilibrium");
  for (const char* fact : {"2: 1 dark, 1 star", "AU, Msun, 29.78 km/s", "(2 Msun)", "-1 to 1", "0.5",
                           "7 to 8, all different", "(2 K / |W|, of all pairs)", "Time"}) {
    EXPECT_TRUE(holds(outcome.out, fact)) << fact << " is not in:\n" << outcome.out;
  }
}

TEST_F(FileCommands, InspectRefusesDamageInOneLine) {
  write("bad.txt", "1 2 3 4 5 6 7\n1 2 3 nan 5 6 7\n");
  expect_refused(run({"inspect", "bad.txt"}), 1, {"bad.txt", "line 2", "not finite"});
  expect_refused(run({"inspect"}), 2, {"needs a file"});
}

TEST_F(FileCommands, InspectDrawsAPicture) {
  const Outcome outcome = run("inspect a.txt --picture a.png"_words);
  if (outcome.status != 0 && holds(outcome.err, "no picture")) GTEST_SKIP() << outcome.err;
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.out, "wrote a.png"));
  EXPECT_EQ(read("a.png").substr(1, 3), "PNG");
}

TEST_F(FileCommands, LyingFilesAreRefusedAtOnceAndInLittleMemory) {
  write("lie.ply",
        "ply\nformat binary_little_endian 1.0\nelement vertex 1000000000\nproperty float x\nproperty float y\n"
        "property float z\nend_header\n" +
            std::string(900, '\0'));
  expect_refused(run({"inspect", "lie.ply"}), 1, {"lie.ply", "truncated", "1,000,000,000"});
}

}  // namespace
}  // namespace orrery::test
