#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "app/features/film/film_files.h"
#include "compute/core/temporary_folder.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

class FrameFolderTest : public testing::Test {
 protected:
  static constexpr WindowSize size{4, 2};

  FrameFolder folder(WindowSize of = size) const {
    return FrameFolder{{.out = (folder_ / "frames").string(), .folder = true}, of, Existing::keep};
  }
  /// Renders the frames that are missing of three, and returns how many were kept.
  std::size_t render(const Json& run = {{"scene", "a"}}) const {
    FrameFolder frames = folder();
    frames.begin(run);
    const std::size_t kept = frames.kept().size();
    for (std::int64_t number = 0; number < 3; ++number) {
      if (!frames.kept().contains(number)) frames.add({.number = number, .rgba = std::vector<std::uint8_t>(32, 7)});
    }
    return kept;
  }
  fs::path file(const char* name) const { return folder_ / "frames" / name; }

  TemporaryFolder folder_;
};

TEST_F(FrameFolderTest, KeepsOnlyWholeFramesOfItsFilm) {
  EXPECT_EQ(render(), 0u);
  EXPECT_EQ(render(), 3u);
  std::ofstream{file("frame-000001.png")} << "garbage";
  EXPECT_EQ(render(), 2u);
  EXPECT_EQ(render(), 3u) << "it was rendered again";
  fs::resize_file(file("frame-000002.png"), fs::file_size(file("frame-000002.png")) - 5);
  EXPECT_EQ(render(), 2u) << "torn";
  std::fstream{file("frame-000000.png")}.seekp(60).write("?", 1);
  EXPECT_EQ(render(), 2u) << "a damaged byte";
  fs::copy_file(file("frame-000000.png"), file("frame-000001.png"), fs::copy_options::overwrite_existing);
  EXPECT_EQ(render(), 2u) << "another frame";
}

TEST_F(FrameFolderTest, RefusesFramesOfOtherBodies) {
  EXPECT_EQ(render({{"scene", "in.tipsy"}, {"bodies", "0011"}}), 0u);
  test::expect_failure(
      test::Failure::runtime,
      [&] {
        (void)render({{"scene", "in.tipsy"}, {"bodies", "0022"}});
      },
      "bodies was \"0011\"", "--force");
}

TEST_F(FrameFolderTest, FollowsNoLinks) {
  fs::create_directories(folder_ / "frames");
  std::ofstream{folder_ / "precious"} << "precious";
  for (const char* name : {"film.json", "frame-000001.png"}) fs::create_symlink(folder_ / "precious", file(name));
  EXPECT_EQ(render(), 0u);
  EXPECT_FALSE(fs::is_symlink(file("film.json")) || fs::is_symlink(file("frame-000001.png")));
  EXPECT_EQ(fs::file_size(folder_ / "precious"), 8u);
}

}  // namespace
}  // namespace orrery
