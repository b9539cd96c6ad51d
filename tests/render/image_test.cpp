#include "render/image.h"

#include <unistd.h>

#include "tests/render/picture.h"
#include "tests/test.h"

namespace orrery::render::test {
namespace {

TEST(Png, ComesBackAsItWent) {
  Image ramp{7, 5, {}};
  for (int i = 0; i < 7 * 5 * 3; ++i) ramp.rgb.push_back(static_cast<std::uint8_t>(2 * i));
  const auto file = std::filesystem::temp_directory_path() / ("orrery_png_test_" + std::to_string(::getpid()));
  for (const Compression compression : {Compression::strong, Compression::fast}) {
    std::ofstream{file} << encode_png(ramp, {}, compression);
    const Image read = read_png(file);
    std::filesystem::remove(file);
    EXPECT_EQ(read.width, 7);
    EXPECT_EQ(read.height, 5);
    EXPECT_EQ(read.rgb, ramp.rgb);
  }
}

TEST(UprightImage, TurnsRowsAndDropsTheFourthByte) {
  const std::vector<std::uint8_t> rgba{1, 2, 3, 99, 4, 5, 6, 99, 7, 8, 9, 99, 10, 11, 12, 99};
  EXPECT_EQ(upright_image(rgba, 2, 2).rgb, (std::vector<std::uint8_t>{7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(upright_image(rgba, 1, 4).rgb, (std::vector<std::uint8_t>{10, 11, 12, 7, 8, 9, 4, 5, 6, 1, 2, 3}));
  EXPECT_THROW(upright_image(rgba, 2, 1), std::logic_error);
}

TEST(Png, HoldsADescription) {
  const Image black{3, 2, std::vector<std::uint8_t>(18)};
  const auto file = std::filesystem::temp_directory_path() / ("orrery_png_test_" + std::to_string(::getpid()));
  const std::string png = encode_png(black, R"({"n":16384})");
  std::ofstream{file} << png;
  const Image read = read_png(file);  // which checks the chunk's checksum
  std::filesystem::remove(file);
  EXPECT_EQ(read.rgb, black.rgb);
  EXPECT_NE(png.find(std::string{"tEXtorrery\0{\"n\":16384}", 22}), std::string::npos);
  EXPECT_EQ(encode_png(black).find("tEXt"), std::string::npos);
}

TEST(Png, RefusesAPictureWithoutPixels) {
  EXPECT_THROW(encode_png({0, 0, {}}), std::runtime_error);
}

TEST(Icon, IsAPictureInEachSizeWithClearCorners) {
  const std::vector<Icon> all = icons();
  ASSERT_EQ(all.size(), 3u);
  for (const Icon& icon : all) {
    EXPECT_EQ(icon.width, icon.height);
    ASSERT_EQ(icon.rgba.size(), 4u * static_cast<std::size_t>(icon.width * icon.height));
    EXPECT_EQ(icon.rgba[3], 0) << "the corner is clear";
    const std::size_t middle = 4u * static_cast<std::size_t>(icon.width * icon.height / 2 + icon.width / 2);
    EXPECT_GT(icon.rgba[middle], 200) << "the sun";
    EXPECT_EQ(icon.rgba[middle + 3], 255);
  }
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
