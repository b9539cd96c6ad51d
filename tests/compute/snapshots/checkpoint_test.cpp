#include "compute/snapshots/checkpoint.h"

#include "compute/core/temporary_folder.h"
#include "compute/scenes/scene.h"
#include "tests/compute/snapshots/tipsy_file.h"
#include "tests/test.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr int bodies = 200;

Checkpoint full_checkpoint() {
  Checkpoint full{
      .snapshot = {.bodies = find_scene("plummer").generate(bodies, 1).bodies, .time = 2.5, .softening = 0.125f},
      .step = 1'234'567'890'123,
      .setup = "{\"any\": \"words\"}"};
  BodyProperties& has = full.snapshot.properties;
  for (int i = 0; i < bodies; ++i) {
    has.ids.push_back(~static_cast<std::uint64_t>(i));
    has.species.push_back(static_cast<Species>(i % static_cast<int>(species_count)));
    for (auto* values : {&has.softening, &has.temperature, &has.metals, &has.formation_time}) {
      values->push_back(0.1f * static_cast<float>(i));
    }
  }
  full.snapshot.units = galactic_units;
  return full;
}

class CheckpointFile : public testing::Test {
 protected:
  void SetUp() override {
    write_checkpoint(file(), full_checkpoint(), Existing::keep);
    bytes_ = test::read_bytes(file());
  }
  fs::path file() const { return folder_ / "a.checkpoint"; }
  void expect_refused(const std::string& bytes, const char* cause) {
    test::write_bytes(file(), bytes);
    EXPECT_RUNTIME_ERROR(read_checkpoint(file()), "a.checkpoint", cause);
  }

  TemporaryFolder folder_;
  std::string bytes_;
};

TEST_F(CheckpointFile, GivesBackEveryBit) {
  const Checkpoint before = full_checkpoint(), after = read_checkpoint(file());
  EXPECT_EQ(after.snapshot.bodies, before.snapshot.bodies);
  EXPECT_EQ(after.snapshot.properties, before.snapshot.properties);
  EXPECT_EQ(after.snapshot.units, before.snapshot.units);
  EXPECT_EQ(after.snapshot.time, before.snapshot.time);
  EXPECT_EQ(after.snapshot.softening, before.snapshot.softening);
  EXPECT_EQ(after.step, before.step);
  EXPECT_EQ(after.setup, before.setup);
}

TEST_F(CheckpointFile, HoldsWhatThereIsAlone) {
  Checkpoint plain{.snapshot = {find_scene("plummer").generate(bodies, 1).bodies}};
  write_checkpoint(folder_ / "plain.checkpoint", plain, Existing::keep);
  const Checkpoint after = read_checkpoint(folder_ / "plain.checkpoint");
  EXPECT_EQ(after.snapshot.properties, BodyProperties{});
  EXPECT_EQ(after.setup, "");
  EXPECT_EQ(fs::file_size(folder_ / "plain.checkpoint"), 64u + bodies * 28u + 4u);
}

/// A run may reach numbers that no file of bodies may have.
TEST_F(CheckpointFile, HoldsEveryStateThatIsFinite) {
  Checkpoint wild = full_checkpoint();
  wild.snapshot.bodies.positions[3].x = -3e30f;
  wild.snapshot.bodies.velocities[4].z = 2e20f;
  wild.snapshot.bodies.positions[5].w = 1e-35f;
  write_checkpoint(folder_ / "wild.checkpoint", wild, Existing::keep);
  EXPECT_EQ(read_checkpoint(folder_ / "wild.checkpoint").snapshot.bodies, wild.snapshot.bodies);
}

TEST_F(CheckpointFile, HoldsLowWordsBitForBit) {
  Checkpoint before = full_checkpoint();
  Bodies& state = before.snapshot.bodies;
  state = with_digits(std::move(state), Digits::compensated);
  for (std::size_t i = 0; i < state.positions.size(); ++i) {
    const auto low = 1e-9f * static_cast<float>(i + 1);
    state.positions_low[i] = {low, -2 * low, 3 * low, 0};
    state.velocities_low[i] = {-low, 5 * low, 7 * low, 0};
  }
  write_checkpoint(folder_ / "low.checkpoint", before, Existing::keep);
  const Checkpoint after = read_checkpoint(folder_ / "low.checkpoint");
  EXPECT_EQ(after.snapshot.bodies, before.snapshot.bodies);
  EXPECT_EQ(after.snapshot.properties, before.snapshot.properties);
  EXPECT_EQ(fs::file_size(folder_ / "low.checkpoint"), bytes_.size() + bodies * 24u);
  EXPECT_EQ(read_checkpoint(file()).snapshot.bodies.digits(), Digits::single) << "a file without them";

  state.velocities_low[4].y = std::numeric_limits<float>::infinity();
  write_checkpoint(folder_ / "bad.checkpoint", before, Existing::keep);
  EXPECT_RUNTIME_ERROR(read_checkpoint(folder_ / "bad.checkpoint"), "body 4", "low word");
}

TEST_F(CheckpointFile, HoldsTheStateOfAHermiteIntegratorBitForBit) {
  Checkpoint before = full_checkpoint();
  HermiteState& state = before.hermite;
  state.pulls_current = true;
  for (const Vec4& at : before.snapshot.bodies.positions) {
    const double third = at.x + 1.0 / 3, none = std::numeric_limits<double>::quiet_NaN();
    state.bodies.push_back({.body = {{third, 2 * third, 3 * third}, at.w, {4 * third, 5 * third, 6 * third}},
                            .pull = {{7 * third, 8 * third, 9 * third}, {10 * third, 11 * third, 12 * third}},
                            .longest_step = at.x > 0 ? none : 13 * third});
  }
  const auto bits = [](const HermiteState& of) {
    std::vector<std::uint64_t> all;
    for (const HermiteBody& body : of.bodies) {
      const auto& [p, mass, v] = body.body;
      const auto& [a, j] = body.pull;
      for (const double value : {p.x, p.y, p.z, mass, v.x, v.y, v.z, a.x, a.y, a.z, j.x, j.y, j.z, body.longest_step}) {
        all.push_back(std::bit_cast<std::uint64_t>(value));
      }
    }
    return all;
  };
  write_checkpoint(folder_ / "hermite.checkpoint", before, Existing::keep);
  const Checkpoint after = read_checkpoint(folder_ / "hermite.checkpoint");
  EXPECT_TRUE(after.hermite.pulls_current);
  EXPECT_EQ(bits(after.hermite), bits(state));
  EXPECT_EQ(after.snapshot.properties, before.snapshot.properties);
  EXPECT_EQ(fs::file_size(folder_ / "hermite.checkpoint"), bytes_.size() + bodies * (6 + 7) * 8u);
  EXPECT_TRUE(read_checkpoint(file()).hermite.bodies.empty()) << "a file without it";

  state.pulls_current = false;
  write_checkpoint(folder_ / "moved.checkpoint", before, Existing::keep);
  EXPECT_FALSE(read_checkpoint(folder_ / "moved.checkpoint").hermite.pulls_current);
  EXPECT_EQ(fs::file_size(folder_ / "moved.checkpoint"), bytes_.size() + bodies * 6 * 8u);

  state.bodies[4].body.velocity.y = std::numeric_limits<double>::infinity();
  write_checkpoint(folder_ / "bad.checkpoint", before, Existing::keep);
  EXPECT_RUNTIME_ERROR(read_checkpoint(folder_ / "bad.checkpoint"), "body 4", "not finite");
}

TEST_F(CheckpointFile, AnyDamagedByteIsFound) {
  for (std::size_t at = 0; at < bytes_.size(); at += 37) {
    std::string damaged = bytes_;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    test::write_bytes(file(), damaged);
    EXPECT_EQ(test::failure_of([&] { read_checkpoint(file()); }).kind, test::Failure::runtime) << "byte " << at;
  }
  std::string damaged = bytes_;
  damaged[bytes_.size() - 100] ^= 1;
  expect_refused(damaged, "checksum");
}

TEST_F(CheckpointFile, HasTheLengthThatItsHeaderSays) {
  for (const std::size_t length :
       {std::size_t{1}, std::size_t{20}, std::size_t{63}, std::size_t{64}, std::size_t{1000}, bytes_.size() - 1}) {
    test::write_bytes(file(), bytes_.substr(0, length));
    EXPECT_EQ(test::failure_of([&] { read_checkpoint(file()); }).kind, test::Failure::runtime) << length;
  }
  expect_refused(bytes_.substr(0, bytes_.size() - 1), "truncated");
  expect_refused(bytes_ + "x", "oversized");
}

TEST_F(CheckpointFile, SaysWhyItIsOfNoUse) {
  std::string other = bytes_;
  other[16] = 2;
  expect_refused(other, "version 2");
  other = bytes_;
  other[21] = 16;  // an array that this program does not know
  expect_refused(other, "out of range");
  other[21] = 2;  // pulls without the bodies that they belong to
  expect_refused(other, "out of range");
  expect_refused(std::string(500, 'x'), "not a checkpoint");
}

TEST_F(CheckpointFile, ManyBodiesPromisedByFewBytesAreRefusedAtOnce) {
  std::string lying = bytes_.substr(0, 1000);
  lying.replace(24, 8, std::string{"\x00\xca\x9a\x3b\0\0\0\0", 8});  // 10^9
  const auto begin = std::chrono::steady_clock::now();
  test::write_bytes(file(), lying);
  EXPECT_EQ(test::failure_of([&] { read_checkpoint(file()); }).kind, test::Failure::runtime);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{1});
}

TEST_F(CheckpointFile, NamesTheBodyAndItsPlace) {
  Checkpoint bad = full_checkpoint();
  bad.snapshot.bodies.positions[3].y = std::numeric_limits<float>::quiet_NaN();
  write_checkpoint(folder_ / "bad.checkpoint", bad, Existing::keep);
  const std::string at = std::to_string(64 + bad.setup.size() + 24 + 3 * 28);
  EXPECT_RUNTIME_ERROR(read_checkpoint(folder_ / "bad.checkpoint"), "body 3", "byte " + at, "not finite");
}

TEST(Checksum, DependsOnEveryBit) {
  const Bodies bodies = find_scene("plummer").generate(100, 1).bodies;
  Bodies other = bodies;
  EXPECT_EQ(checksum(other), checksum(bodies));
  other.velocities[99].z = std::nextafter(other.velocities[99].z, 1.0f);
  EXPECT_NE(checksum(other), checksum(bodies));
  other = with_digits(bodies, Digits::compensated);
  const std::uint32_t zeros = checksum(other);
  other.positions_low[7].x = 1e-12f;
  EXPECT_NE(checksum(other), zeros) << "low words count";
}

}  // namespace
}  // namespace orrery
