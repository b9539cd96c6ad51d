// GADGET binary files of both types, put together byte by byte apart from the program's own writer.
#include "compute/core/temporary_folder.h"
#include "compute/scenes/scene.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/compute/snapshots/tipsy_file.h"
#include "tests/test.h"

namespace orrery {
namespace {

/// One gas, two halo and one star particle; halo particles have the mass 2 of the header.
struct GadgetFile {
  ByteOrder order = ByteOrder::little;
  bool labelled = false, wide = false;  // wide: doubles and ids of 64 bits
  std::array<std::uint32_t, 6> counts{1, 2, 0, 0, 1, 0};
  std::array<double, 6> masses{0, 2, 0, 0, 0, 0};
  double time = 0.5, redshift = 0, box = 0, omega = 0, hubble = 1;
  std::int32_t files = 1;
  std::vector<double> positions{1, 2, 3, -1, 0, 0, 0, -1, 0, 4, 5, 6},
      velocities{10, 0, 0, 0, 20, 0, 0, 0, 30, 1, 1, 1};
  std::vector<std::uint64_t> ids{7, 8, 9, 10};
  std::vector<double> own_masses{0.25, 0.75};
  std::vector<double> of_gas{};  // one record each, of these labels
  std::uint32_t high_word = 0;   // of all counts of the snapshot
  std::array<const char*, 4> gas_labels{"U   ", "RHO ", "HSML", "POT "};

  template <class Value>
  void append(std::string& to, Value value) const {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    if ((order == ByteOrder::little) != (std::endian::native == std::endian::little)) std::ranges::reverse(raw);
    to.append(raw, sizeof value);
  }
  void record(std::string& to, const char* label, const std::string& payload) const {
    const auto length = static_cast<std::uint32_t>(payload.size());
    if (labelled) {
      append(to, 8u);
      to += label;
      append(to, length + 8);
      append(to, 8u);
    }
    append(to, length);
    to += payload;
    append(to, length);
  }
  std::string numbers(const std::vector<double>& values) const {
    std::string payload;
    for (const double value : values) wide ? append(payload, value) : append(payload, static_cast<float>(value));
    return payload;
  }
  std::string bytes() const {
    std::string head;
    for (const std::uint32_t count : counts) append(head, count);
    for (const double mass : masses) append(head, mass);
    append(head, time);
    append(head, redshift);
    append(head, std::int32_t{0});
    append(head, std::int32_t{0});
    for (const std::uint32_t count : counts) append(head, count * static_cast<std::uint32_t>(std::max(files, 1)));
    head.resize(124);
    append(head, files);
    for (const double value : {box, omega, 0.7, hubble}) append(head, value);
    head.resize(168);
    for (int type = 0; type < 6; ++type) append(head, high_word);
    head.resize(256);
    std::string all, names;
    record(all, "HEAD", head);
    record(all, "POS ", numbers(positions));
    record(all, "VEL ", numbers(velocities));
    for (const std::uint64_t id : ids) wide ? append(names, id) : append(names, static_cast<std::uint32_t>(id));
    record(all, "ID  ", names);
    if (!own_masses.empty()) record(all, "MASS", numbers(own_masses));
    for (std::size_t i = 0; i < of_gas.size(); ++i) record(all, gas_labels[i], numbers({of_gas[i]}));
    return all;
  }
};

class Gadget : public test::SnapshotFileTest {
 protected:
  Gadget() : SnapshotFileTest{"snap"} {}
  Snapshot read(const GadgetFile& file) { return SnapshotFileTest::read(file.bytes()); }
};

TEST_F(Gadget, ReadsBothTypesOrdersAndPrecisions) {
  for (const bool labelled : {false, true}) {
    for (const bool wide : {false, true}) {
      for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        const Snapshot snapshot = read({.order = order, .labelled = labelled, .wide = wide});
        ASSERT_EQ(snapshot.bodies.count(), 4);
        EXPECT_EQ(snapshot.bodies.positions,
                  (std::vector<Vec4>{{1, 2, 3, 0.25f}, {-1, 0, 0, 2}, {0, -1, 0, 2}, {4, 5, 6, 0.75f}}));
        EXPECT_EQ(snapshot.bodies.velocities,
                  (std::vector<Vec4>{{10, 0, 0, 0}, {0, 20, 0, 0}, {0, 0, 30, 0}, {1, 1, 1, 0}}));
        EXPECT_EQ(snapshot.properties.ids, (std::vector<std::uint64_t>{7, 8, 9, 10}));
        EXPECT_EQ(snapshot.properties.species,
                  (std::vector{Species::gas, Species::dark, Species::dark, Species::star}));
        EXPECT_EQ(snapshot.time, 0.5);
        EXPECT_EQ(snapshot.units, galactic_units);
        EXPECT_TRUE(snapshot.units_assumed);
        EXPECT_EQ(snapshot.notes.size(), wide ? 1u : 0u);
      }
    }
  }
}

TEST_F(Gadget, NamesWhatItDoesNotKeep) {
  const Snapshot snapshot = read({.labelled = true, .box = 20, .of_gas = {3}});
  EXPECT_EQ(snapshot.unread, (std::vector<std::string>{"record U"}));
  ASSERT_EQ(snapshot.notes.size(), 1u);
  EXPECT_NE(snapshot.notes[0].find("periodic"), std::string::npos);
  EXPECT_EQ(read({.of_gas = {3}}).unread, (std::vector<std::string>{"internal energy of gas (U)"}));
  EXPECT_EQ(read({.of_gas = {0, 3, 1}}).unread,
            (std::vector<std::string>{"density of gas (RHO)", "smoothing length of gas (HSML)"}));
}

TEST_F(Gadget, LeavesOutWhatOrreryWritesForOtherReadersAlone) {
  EXPECT_EQ(read({.of_gas = {0, 0, 1}}).unread, std::vector<std::string>{});
  EXPECT_EQ(read({.labelled = true, .of_gas = {0, 0, 1}}).unread, std::vector<std::string>{});
  const std::string fourth = std::to_string(264 + 2 * 56 + 24 + 16 + 3 * 12 + 4);
  EXPECT_EQ(read({.of_gas = {0, 0, 1, 5}}).unread, (std::vector<std::string>{"a record of 4 bytes at byte " + fourth}));
  EXPECT_EQ(read({.labelled = true, .of_gas = {0, 0, 1, 5}}).unread, (std::vector<std::string>{"record POT"}));
  EXPECT_EQ(read({.labelled = true, .of_gas = {0, 0, 1}, .gas_labels = {"U   ", "RHO ", "POT "}}).unread,
            (std::vector<std::string>{"record POT"}));
  EXPECT_EQ(read({.labelled = true, .of_gas = {0, 0, 0}, .gas_labels = {"POT ", "ACCE", "TSTP"}}).unread,
            (std::vector<std::string>{"record POT", "record ACCE", "record TSTP"}));
}

TEST_F(Gadget, ReadsAllFilesOfASnapshot) {
  GadgetFile file{.files = 2};
  test::write_bytes(folder_ / "snap.0", file.bytes());
  const auto alone = [&](const char* name, const char* cause) {
    const Snapshot part = read_snapshot(folder_ / name);
    EXPECT_EQ(part.bodies.count(), 4);
    ASSERT_FALSE(part.notes.empty());
    EXPECT_NE(part.notes[0].find("one of 2 files of its snapshot, read alone (4 body records of 8)"), std::string::npos)
        << part.notes[0];
    EXPECT_NE(part.notes[0].find(cause), std::string::npos) << part.notes[0];
  };
  alone("snap.0", "snap.1' is missing");
  test::write_bytes(folder_ / "snap", file.bytes());
  alone("snap", "no number from 0 to 1");
  file.ids = {17, 18, 19, 20};
  file.order = ByteOrder::big;
  test::write_bytes(folder_ / "snap.1", file.bytes());
  for (const char* name : {"snap.0", "snap.1"}) {
    const Snapshot snapshot = read_snapshot(folder_ / name);
    EXPECT_EQ(snapshot.properties.ids, (std::vector<std::uint64_t>{7, 8, 9, 10, 17, 18, 19, 20})) << name;
    ASSERT_EQ(snapshot.bodies.count(), 8);
    EXPECT_EQ(snapshot.bodies.positions[4], snapshot.bodies.positions[0]);
    EXPECT_EQ(snapshot.properties.species[5], Species::dark);
  }
  file.time = 3;
  test::write_bytes(folder_ / "snap.010", file.bytes());
  test::write_bytes(folder_ / "snap.000", file.bytes());
  test::write_bytes(folder_ / "snap.001", file.bytes());
  for (const char* name : {"snap.000", "snap.001"}) EXPECT_EQ(read_snapshot(folder_ / name).bodies.count(), 8) << name;
  test::write_bytes(folder_ / "snap.1", file.bytes());
  EXPECT_RUNTIME_ERROR(read_snapshot(folder_ / "snap.0"), "snap.1", "another snapshot than", "times");
}

TEST_F(Gadget, CosmologicalUnitsAreProperOnes) {
  const Snapshot snapshot = read({.time = 0.25, .redshift = 3, .omega = 0.3, .hubble = 0.5});
  EXPECT_NEAR(snapshot.units->length_cm / kpc_cm, 0.25 / 0.5, 1e-12);
  EXPECT_NEAR(snapshot.units->mass_g / galactic_units.mass_g, 2, 1e-12);
  EXPECT_NEAR(snapshot.units->velocity_cm_s, 0.5e5, 1e-6);
  EXPECT_EQ(snapshot.time, 0);
  EXPECT_NE(snapshot.notes.at(0).find("cosmological"), std::string::npos);
}

/// GADGET-1 and L-Gadget have other things where the high words of the counts are.
TEST_F(Gadget, BelievesHighWordsOnlyIfTheFilesDo) {
  for (const std::uint32_t word : {1u, 0x00200000u, 0xffffffffu}) {
    const GadgetFile file{.files = 2, .high_word = word};
    test::write_bytes(folder_ / "old.0", file.bytes());
    test::write_bytes(folder_ / "old.1", file.bytes());
    EXPECT_EQ(read_snapshot(folder_ / "old.0").bodies.count(), 8) << word;
  }
  EXPECT_EQ(read({.high_word = 77}).notes.size(), 0u);
  for (const std::int32_t files : {1'000'000'000, -3}) {
    EXPECT_NE(read({.files = files}).notes.back().find("number of files"), std::string::npos) << files;
  }
  EXPECT_EQ(read({.files = 0}).notes.size(), 0u) << "of old writers";
}

TEST_F(Gadget, NamesTheHeaderOfGadget4) {
  for (const std::uint32_t types : {1u, 2u, 6u, 8u}) {
    const GadgetFile file;
    std::string bytes;
    file.record(bytes, "HEAD", std::string(24 * types + 48, '\0'));
    file.record(bytes, "POS ", std::string(24, '\0'));
    expect_refused(bytes, std::to_string(24 * types + 48) + " bytes instead of 256", "GADGET-4", "HDF5");
  }
}

TEST_F(Gadget, BodiesWithoutMassAreTestParticles) {
  const Snapshot snapshot = read({.own_masses = {0, 0.75}});
  EXPECT_EQ(snapshot.bodies.positions[0].w, 0);
  ASSERT_EQ(snapshot.notes.size(), 1u);
  EXPECT_EQ(snapshot.notes[0], "1 body without mass: test particles feel gravity and exert none");
  expect_refused(GadgetFile{.counts = {1, 0, 0, 0, 1, 0},
                            .positions = {1, 2, 3, 4, 5, 6},
                            .velocities = {1, 1, 1, 1, 1, 1},
                            .ids = {1, 2},
                            .own_masses = {0, 0}}
                     .bytes(),
                 "all masses are 0");
}

TEST_F(Gadget, MassesOfTheHeaderNeedNoRecord) {
  const Snapshot snapshot = read({.masses = {3, 2, 0, 0, 5, 0}, .own_masses = {}});
  EXPECT_EQ(snapshot.bodies.positions[0].w, 3);
  EXPECT_EQ(snapshot.bodies.positions[3].w, 5);
}

TEST_F(Gadget, RefusesDamageWithByteAndField) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string whole = GadgetFile{}.bytes();
  expect_refused(whole.substr(0, whole.size() - 1), "length", "truncated");
  expect_refused(whole.substr(0, 316), "byte 264, record length", "48 bytes", "the file ends");
  expect_refused(whole.substr(0, 264), "truncated", "4 body records do not fit");
  std::string marks = whole;
  marks[264 + 4 + 48] = 47;
  expect_refused(marks, "byte 316", "lengths before and behind");
  const auto refused = [&](const std::function<void(GadgetFile&)>& spoil, const auto&... parts) {
    GadgetFile file;
    spoil(file);
    expect_refused(file.bytes(), parts...);
  };
  using File = GadgetFile;
  refused([](File& file) { file.counts[1] = 1'000'000'000; }, "counts in its header", "1,000,000,002 body records");
  refused([](File& file) { file.counts.fill(0xffffffffu); }, "25,769,803,770 body records do not fit");
  refused([](File& file) { file.counts.fill(0); }, "no bodies");
  refused([](File& file) { file.positions.pop_back(); }, "byte 264, POS", "44 bytes", "48 or 96");
  refused([](File& file) { file.positions[4] = nan; }, "byte 280, POS  of body 1", "position that is not finite");
  refused([](File& file) { file.wide = true, file.positions[4] = -1e300; }, "body 1 (counted from 0)",
          "coordinate beyond 1e15");
  refused([](File& file) { file.masses[1] = 1e300; }, "body 1 (counted from 0)", "a mass above 1e15");
  refused([](File& file) { file.velocities[11] = 1e30; }, "body 3 (counted from 0)", "velocity beyond 1e15");
  refused([](File& file) { file.own_masses[1] = -1; }, "MASS of body 3", "a mass below 0");
  refused([](File& file) { file.own_masses = {}; }, "MASS: truncated", "2 body records");
  refused([](File& file) { file.masses[1] = nan; }, "type 1 has a mass that is not finite");
  refused([](File& file) { file.time = nan; }, "header, Time");
  std::string label = GadgetFile{.labelled = true}.bytes();
  label[20 + 256 + 4 + 12] = 9;
  expect_refused(label, "byte 280, label", "not 8");
}

TEST_F(Gadget, WritesTypesInOrderWithEqualMassesInTheHeader) {
  Snapshot snapshot{.bodies = find_scene("plummer").generate(4, 1).bodies, .units = galactic_units};
  snapshot.properties.species = {Species::star, Species::gas, Species::dark, Species::star};
  snapshot.bodies.positions[0].w = 0.125f;
  snapshot.properties.softening = {1, 0.5f, 2, 3};
  for (const char* name : {"a.gadget", "a.g2"}) {
    write_snapshot(folder_ / name, snapshot);
    const Snapshot back = read_snapshot(folder_ / name);
    EXPECT_EQ(back.properties.ids, (std::vector<std::uint64_t>{2, 3, 1, 4})) << "their places before, from 1";
    EXPECT_EQ(back.bodies.positions[2], snapshot.bodies.positions[0]);
    EXPECT_EQ(back.bodies.positions[0], snapshot.bodies.positions[1]);
    EXPECT_EQ(back.properties.species, (std::vector{Species::gas, Species::dark, Species::star, Species::star}));
    EXPECT_EQ(back.unread, std::vector<std::string>{}) << "of gas";
  }
  EXPECT_EQ(test::read_bytes(folder_ / "a.gadget").size(), 264u + 2 * 56 + 24 + 16 + 3 * 12)
      << "only the stars have masses";
  EXPECT_EQ(test::read_bytes(folder_ / "a.g2").size(), 264u + 2 * 56 + 24 + 16 + 3 * 12 + 8 * 16);
  std::array<float, 3> of_gas{};  // U, RHO, HSML: the last three records
  const std::string bytes = test::read_bytes(folder_ / "a.gadget");
  for (std::size_t i = 0; i < 3; ++i) std::memcpy(&of_gas[i], &bytes[bytes.size() - 36 + 12 * i + 4], sizeof(float));
  EXPECT_EQ(of_gas, (std::array{0.0f, 0.0f, 0.5f}));
  write_snapshot(folder_ / "big.gadget", snapshot, {.order = ByteOrder::big});
  EXPECT_EQ(test::read_bytes(folder_ / "big.gadget").substr(0, 4), (std::string{"\0\0\1\0", 4}));
  EXPECT_EQ(read_snapshot(folder_ / "big.gadget").bodies, read_snapshot(folder_ / "a.gadget").bodies);
}

}  // namespace
}  // namespace orrery
