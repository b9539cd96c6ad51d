#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <limits>

#include "compute/core/host_memory.h"
#include "compute/core/temporary_folder.h"
#include "compute/scenes/scene.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/compute/snapshots/tipsy_file.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

using test::expect_failure;
using test::Failure;
using test::TipsyFile;

class TipsyErrors : public testing::Test {
 protected:
  /// Expects that a file of these bytes is refused in one line with its name and all of `parts`.
  template <class... Parts>
  void expect_refused(const std::string& bytes, const Parts&... parts) {
    test::write_bytes(folder_ / "bad.tipsy", bytes);
    expect_failure(
        Failure::runtime, [&] { read_snapshot(folder_ / "bad.tipsy"); }, "bad.tipsy", parts...);
  }

  TemporaryFolder folder_;
};

TEST_F(TipsyErrors, AMissingFileAFolderAndAnEmptyFile) {
  expect_failure(
      Failure::runtime, [&] { read_snapshot(folder_ / "nowhere"); }, "nowhere", "no such file");
  expect_failure(
      Failure::runtime, [&] { read_snapshot(folder_.path()); }, "a folder");
  expect_failure(
      Failure::runtime, [&] { read_snapshot("/dev/null"); }, "/dev/null", "not a regular file");
  expect_refused("", "empty");
}

TEST_F(TipsyErrors, AFileThatMayNotBeRead) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  test::write_bytes(folder_ / "secret", TipsyFile::valid(0, 1, 0).bytes());
  std::filesystem::permissions(folder_ / "secret", std::filesystem::perms::none);
  expect_failure(
      Failure::runtime, [&] { read_snapshot(folder_ / "secret"); }, "secret", "Permission denied");
}

TEST_F(TipsyErrors, AFileOfAnotherKind) {
  expect_refused(std::string(31, 'x'), "31 bytes", "32");
  expect_refused(std::string(500, 'x'), "not a TIPSY file", "dimensions");
  TipsyFile file = TipsyFile::valid(0, 2, 0);
  file.dimensions = 4;
  expect_refused(file.bytes(), "not a TIPSY file", "dimensions");
}

TEST_F(TipsyErrors, CountsThatContradictEachOther) {
  TipsyFile file = TipsyFile::valid(1, 2, 3);
  file.bodies = 7;
  expect_refused(file.bytes(), "7 body records", "1 gas + 2 dark + 3 star");
}

TEST_F(TipsyErrors, CountsWithoutTheGarbageThatAPadMayHold) {
  for (const std::uint32_t pad : {32550u, 2u, 0xffffffffu, 0xdeadbeefu}) {
    TipsyFile file = TipsyFile::valid(1, 2, 3);
    file.pad = pad;
    test::write_bytes(folder_ / "good.tipsy", file.bytes());
    EXPECT_EQ(read_snapshot(folder_ / "good.tipsy").bodies.count(), 6) << "pad " << pad;
    file.bodies = 7;
    expect_refused(file.bytes(), "7 body records", "1 gas + 2 dark + 3 star");
  }
}

TEST_F(TipsyErrors, ATimeThatIsNotFinite) {
  TipsyFile file = TipsyFile::valid(0, 1, 0);
  file.time = std::numeric_limits<double>::quiet_NaN();
  expect_refused(file.bytes(), "time", "not finite");
}

TEST_F(TipsyErrors, NoBodies) {
  expect_refused(TipsyFile{}.bytes(), "without bodies");
}

TEST_F(TipsyErrors, AFileLongerOrShorterThanItsHeaderSays) {
  for (const ByteOrder order : {ByteOrder::big, ByteOrder::little}) {
    TipsyFile file = TipsyFile::valid(1, 2, 3);
    file.order = order;
    const std::string whole = file.bytes();
    ASSERT_EQ(whole.size(), 32u + 48 + 2 * 36 + 3 * 44);
    expect_refused(whole.substr(0, whole.size() - 1), "truncated", "1 byte missing", "284 bytes", "has 283");
    expect_refused(whole.substr(0, 32), "truncated", "252 bytes missing");
    expect_refused(whole + "abc", "oversized", "3 bytes too many");
  }
}

TEST_F(TipsyErrors, MoreBodiesThanCanBeHeld) {
  // A file with holes: its header asks for the whole length, no disk is used.
  const auto expect_refused_of_length = [&](const TipsyFile& file, std::uint64_t length, const auto&... parts) {
    test::write_bytes(folder_ / "huge", file.bytes());
    std::error_code error;
    std::filesystem::resize_file(folder_ / "huge", length, error);
    if (error) GTEST_SKIP() << "this file system has no file of " << length << " bytes";
    expect_failure(
        Failure::runtime, [&] { read_snapshot(folder_ / "huge"); }, "huge", parts...);
  };
  TipsyFile many{.bodies = 3000000000u, .dark = 3000000000u};
  expect_refused_of_length(many, 32 + 3000000000u * 36ull, "3,000,000,000", "2,147,483,647");
  // The pad's lowest byte holds bits 32 to 39 of the number of bodies: 1 + 4 + (2^32 - 1) = 4 + 2^32.
  const TipsyFile more{.bodies = 4, .gas = 1, .dark = 4, .star = 0xffffffffu, .pad = 1};
  expect_refused_of_length(more, 32 + 48 + 4 * 36 + 0xffffffffu * 44ull, "4,294,967,300", "2,147,483,647");

  constexpr std::uint32_t most = std::numeric_limits<std::int32_t>::max();
  if (bodies_that_fit(file_bytes_per_body) >= most) GTEST_SKIP() << "this machine's memory holds any number of bodies";
  const TipsyFile large{.bodies = most, .dark = most};
  expect_refused_of_length(large, 32 + most * 36ull, "2,147,483,647", "memory");
}

// As many fit as the use leaves room for: a conversion takes less than a simulation.
TEST_F(TipsyErrors, MoreBodiesThanFitAtTheBytesThatTheirUseTakes) {
  write_snapshot(folder_ / "some.tipsy", {{{{0, 0, 0, 1}, {1, 0, 0, 1}}, {{}, {}}}});
  EXPECT_EQ(read_snapshot(folder_ / "some.tipsy").bodies.count(), 2);
  constexpr std::int64_t too_many_bytes = std::int64_t{1} << 60;
  expect_failure(
      Failure::runtime, [&] { read_snapshot(folder_ / "some.tipsy", {}, too_many_bytes); }, "2 body records",
      "the free memory holds 0");
  EXPECT_GT(bodies_that_fit(file_bytes_per_body), bodies_that_fit(simulation_bytes_per_body));
}

TEST_F(TipsyErrors, BodiesThatCannotBeSimulated) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr std::size_t gas_floats = 12, dark_floats = 9, star_floats = 11;
  const struct {
    std::size_t offset;  // of the record's first float in the file of one gas, two dark and two star records
    const char* name;
  } records[] = {{0, "gas record 0"},
                 {gas_floats + dark_floats, "dark record 1"},
                 {gas_floats + 2 * dark_floats + star_floats, "star record 1"}};
  const struct {
    std::size_t index;
    float value;
    const char* cause;
  } faults[] = {{0, -1, "mass below 0"},
                {0, nan, "mass that is not finite"},
                {0, infinity, "mass that is not finite"},
                {1, nan, "position that is not"},
                {2, infinity, "position that is not"},
                {3, -infinity, "position that is not"},
                {4, nan, "velocity that is not"},
                {5, infinity, "velocity that is not"},
                {6, nan, "velocity that is not"},
                {0, 2e15f, "mass above 1e15"},
                {0, 5e-31f, "mass below 1e-30"},
                {1, 3e21f, "coordinate beyond 1e15"},
                {3, -2e15f, "coordinate beyond 1e15"},
                {5, -3e38f, "velocity beyond 1e15"}};
  for (const auto& record : records) {
    for (const auto& fault : faults) {
      TipsyFile file = TipsyFile::valid(1, 2, 2);
      file.values[record.offset + fault.index] = fault.value;
      expect_refused(file.bytes(), record.name, fault.cause);
    }
  }
  const struct {
    std::size_t index;  // of the float among all of a gas and of a star record
    const char* cause;
  } properties[] = {{8, "gas record 0 (counted from 0): a temperature that is not finite"},
                    {9, "gas record 0 (counted from 0): a softening that is not finite"},
                    {gas_floats + 2 * dark_floats + 7, "star record 0 (counted from 0): metals that is not finite"},
                    {gas_floats + 2 * dark_floats + 8, "star record 0 (counted from 0): a formation time that is not"}};
  for (const auto& [index, cause] : properties) {
    TipsyFile file = TipsyFile::valid(1, 2, 2);
    file.values[index] = nan;
    expect_refused(file.bytes(), "byte ", cause);
  }
  TipsyFile in_centimetres = TipsyFile::valid(0, 1, 0);
  in_centimetres.values[1] = 3e21f;
  expect_refused(in_centimetres.bytes(), "dark record 0", "single precision", "rescale the units");
}

TEST_F(TipsyErrors, WritingBodiesThatAreNotFinite) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  test::write_bytes(folder_ / "kept", "precious");
  const Bodies good = find_scene("plummer").generate(9, 1).bodies;
  const auto refused = [&](const Bodies& bodies, const char* body, const char* file) {
    expect_failure(
        Failure::runtime, [&] { write_snapshot(folder_ / file, {bodies}); }, file, body, "not finite");
  };
  for (float Vec4::*member : {&Vec4::x, &Vec4::z, &Vec4::w}) {
    Bodies bad = good;
    bad.positions[4].*member = nan;
    refused(bad, "body 4", "new");
  }
  Bodies bad = good;
  bad.velocities[8].y = -std::numeric_limits<float>::infinity();
  refused(bad, "velocity of body 8", "kept");
  EXPECT_EQ(test::read_bytes(folder_ / "kept"), "precious");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{folder_.path()}, {}), 1);
}

TEST_F(TipsyErrors, WritingWhereNothingCanBeWritten) {
  const Snapshot snapshot{find_scene("plummer").generate(2, 1).bodies};
  expect_failure(
      Failure::runtime, [&] { write_snapshot(folder_.path(), snapshot); }, "folder");
  const auto nowhere = folder_ / "none/at/all";
  expect_failure(
      Failure::runtime, [&] { write_snapshot(nowhere, snapshot); }, "none/at/all'", "No such file");
  if (std::filesystem::exists("/dev/full")) {
    expect_failure(
        Failure::runtime, [&] { write_snapshot("/dev/full", snapshot); }, "/dev/full", "No space left");
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
  }
}

TEST_F(TipsyErrors, AFailedWriteKeepsTheOldFileAndLeavesNothingBehind) {
  test::write_bytes(folder_ / "kept", "precious");
  const Snapshot snapshot{find_scene("plummer").generate(5000, 1).bodies};
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit tight{65536, before.rlim_max};  // like a disk that fills up while the file is written
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const Failure failure =
      test::failure_of([&] { write_snapshot(folder_ / "kept", snapshot, {.existing = Existing::replace}); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(failure.kind, Failure::runtime);
  EXPECT_NE(failure.message.find("kept': File too large"), std::string::npos) << failure.message;
  EXPECT_EQ(test::read_bytes(folder_ / "kept"), "precious");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{folder_.path()}, {}), 1);
}

}  // namespace
}  // namespace orrery
