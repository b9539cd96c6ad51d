#include "render/image.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/render/picture.h"

namespace orrery::render::test {
namespace {

namespace fs = std::filesystem;

class Png : public testing::Test {
 protected:
  Png() { fs::create_directories(folder_); }
  ~Png() override { fs::remove_all(folder_); }

  static std::string message_of_writing_to(const fs::path& path) {
    try {
      write_png(path, ramp());
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "nothing thrown";
  }
  static Image ramp() {
    Image image{7, 5, {}};
    for (int i = 0; i < 7 * 5 * 3; ++i) image.rgb.push_back(static_cast<std::uint8_t>(2 * i));
    return image;
  }

  const fs::path folder_ = fs::temp_directory_path() / ("orrery_png_test_" + std::to_string(::getpid()));
};

TEST_F(Png, ComesBackAsItWent) {
  write_png(folder_ / "a.png", ramp());
  const Image read = read_png(folder_ / "a.png");
  EXPECT_EQ(read.width, 7);
  EXPECT_EQ(read.height, 5);
  EXPECT_EQ(read.rgb, ramp().rgb);
  EXPECT_EQ(std::distance(fs::directory_iterator{folder_}, {}), 1) << "something was left beside the picture";
}

TEST_F(Png, ReplacesAnOlderOne) {
  std::ofstream{folder_ / "a.png"} << "not a picture";
  write_png(folder_ / "a.png", ramp());
  EXPECT_EQ(read_png(folder_ / "a.png").rgb, ramp().rgb);
}

TEST_F(Png, NamesPathAndCauseWhereTheFolderIsMissing) {
  const fs::path path = folder_ / "missing" / "a.png";
  const std::string message = message_of_writing_to(path);
  EXPECT_NE(message.find(path.string() + ": No such file or directory"), std::string::npos) << message;
}

TEST_F(Png, NamesPathAndCauseWhereAFolderStandsInTheWay) {
  fs::create_directories(folder_ / "a.png" / "b");
  const std::string message = message_of_writing_to(folder_ / "a.png");
  EXPECT_NE(message.find((folder_ / "a.png").string() + ": "), std::string::npos) << message;
  EXPECT_EQ(std::distance(fs::directory_iterator{folder_}, {}), 1) << "something was left beside it";
}

TEST_F(Png, SaysWhenTheDiskIsFull) {
  fs::create_symlink("/dev/full", folder_ / "a.png");
  const std::string message = message_of_writing_to(folder_ / "a.png");
  EXPECT_NE(message.find((folder_ / "a.png").string() + ": "), std::string::npos) << message;
}

TEST_F(Png, WritesToADeviceAndDoesNotReplaceIt) {
  fs::create_symlink("/dev/null", folder_ / "a.png");
  write_png(folder_ / "a.png", ramp());
  EXPECT_TRUE(fs::is_symlink(folder_ / "a.png"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Png, ALinkStaysALink) {
  fs::create_directories(folder_ / "b");
  write_png(folder_ / "b" / "old.png", Image{1, 1, {0, 0, 0}});
  fs::create_symlink("b/old.png", folder_ / "a.png");
  write_png(folder_ / "a.png", ramp());
  EXPECT_TRUE(fs::is_symlink(folder_ / "a.png"));
  EXPECT_EQ(read_png(folder_ / "b" / "old.png").rgb, ramp().rgb);
}

TEST_F(Png, LeavesOtherFilesAlone) {
  std::ofstream{folder_ / "a.png.part"} << "mine";
  std::ofstream{folder_ / "a.png.part-0"} << "mine";
  write_png(folder_ / "a.png", ramp());
  EXPECT_EQ(fs::file_size(folder_ / "a.png.part"), 4u);
  EXPECT_EQ(fs::file_size(folder_ / "a.png.part-0"), 4u);
  EXPECT_EQ(std::distance(fs::directory_iterator{folder_}, {}), 3);
}

TEST(Difference, IsNoneOfAPictureToItselfAndAllToOneOfAnotherSize) {
  const Image a{2, 1, {0, 0, 0, 9, 9, 9}}, b{2, 1, {0, 0, 0, 9, 39, 9}}, taller{1, 2, {0, 0, 0, 9, 9, 9}};
  EXPECT_TRUE(difference(a, a).small());
  EXPECT_EQ(difference(a, b).mean, 5.0);
  EXPECT_EQ(difference(a, b).share_off, 0.5);
  EXPECT_FALSE(difference(a, taller).small());
}

}  // namespace
}  // namespace orrery::render::test
