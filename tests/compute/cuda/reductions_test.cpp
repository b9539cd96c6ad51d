// Reductions and scans of warp.h and block.h.
#include "tests/compute/cuda/reductions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "tests/compute/support/backend.h"

namespace orrery {
namespace {

class Reductions : public testing::Test {
 protected:
  void SetUp() override { ORRERY_SKIP_WITHOUT_BACKEND(); }

  static const cuda::Device& gpu() { return *test::backends().device(); }

  /// 0, 1, 4, ...: sums of several of them differ from each other.
  template <class T>
  static std::vector<T> squares(int count) {
    std::vector<T> values;
    for (int i = 0; i < count; ++i) values.push_back(static_cast<T>(i * i));
    return values;
  }
};

TEST_F(Reductions, GiveEveryLaneTheSumOfItsTeam) {
  const std::vector<float> values = squares<float>(32);
  EXPECT_EQ(test::device_warp_sums(gpu(), values),
            std::vector<float>(32, std::accumulate(values.begin(), values.end(), 0.0f)));
  const std::vector<float> of_teams = test::device_team_sums(gpu(), values);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(lane / 8 * 8);
    EXPECT_EQ(of_teams[lane], std::accumulate(first, first + 8, 0.0f)) << "lane " << lane;
  }
}

TEST_F(Reductions, ScansAddTheLanesUpToTheOwn) {
  const std::vector<int> values = squares<int>(32);
  std::vector<int> expected(32);
  std::partial_sum(values.begin(), values.end(), expected.begin());
  EXPECT_EQ(test::device_sums_up_to(gpu(), values), expected);
}

TEST_F(Reductions, GiveTheSumOfABlock) {
  const std::vector<double> values = squares<double>(256);
  EXPECT_EQ(test::device_block_sum(gpu(), values), std::accumulate(values.begin(), values.end(), 0.0));
}

TEST_F(Reductions, GiveTheBoxOfABlockOfAnyNumberOfWarps) {
  for (const int count : {32, 96, 1024}) {
    SCOPED_TRACE(count);
    std::vector<Vec3> points(static_cast<std::size_t>(count), Vec3{1, 2, 3});
    points.back() = {-4, 5, 6};
    points[static_cast<std::size_t>(count) / 2] = {2, -7, 3.5f};
    const test::BoxOfPoints box = test::device_box(gpu(), points);
    EXPECT_EQ(box.low, (Vec3{-4, -7, 3}));
    EXPECT_EQ(box.high, (Vec3{2, 5, 6}));
  }
}

TEST_F(Reductions, OrderedBitsKeepTheOrderOfFloats) {
  constexpr float infinity = std::numeric_limits<float>::infinity(), tiny = std::numeric_limits<float>::denorm_min();
  const std::vector<float> rising{-infinity, -3e38f, -2, -1.5f, -tiny, 0, tiny, 1, 1e10f, infinity};
  const std::vector<int> bits = test::device_ordered_bits(gpu(), rising);
  EXPECT_EQ(std::ranges::adjacent_find(bits, std::greater_equal<>{}), bits.end());
  EXPECT_EQ(bits[5], 0) << "so that memory of zeros is a valid start";
  EXPECT_EQ(test::device_from_ordered_bits(gpu(), bits), rising);
}

}  // namespace
}  // namespace orrery
