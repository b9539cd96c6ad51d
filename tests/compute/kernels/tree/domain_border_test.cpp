#include "compute/kernels/tree/domain_border.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compute/kernels/tree/body_keys.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

using Keys = std::vector<std::uint64_t>;

/// The cell that has the body of this rank.
DomainBorder border_at(const Keys& keys, int rank) {
  DomainBorder border = DomainBorder::of_all(rank, static_cast<int>(keys.size()));
  while (!border.found()) {
    std::vector<int> counts(DomainBorder::digits);
    for (const std::uint64_t key : keys) {
      if (border.has(key)) ++counts[static_cast<std::size_t>(border.digit(key))];
    }
    int smaller = 0, digit = 0;
    const auto count = [&] { return counts[static_cast<std::size_t>(digit)]; };
    for (; smaller + count() <= rank - border.before; ++digit) smaller += count();
    border = border.at_digit(digit, smaller, count());
  }
  return border;
}

std::vector<std::pair<const char*, Keys>> systems() {
  std::mt19937_64 random{3};
  Keys uniform(5000), coincident(400, 77), pairs, steps;
  std::ranges::generate(uniform, [&] { return random() >> 1; });
  for (int i = 0; i < 500; ++i) pairs.push_back(i % 2 == 0 ? 0 : (std::uint64_t{1} << 63) - 1);
  for (int i = 0; i < 3 * key_levels; ++i) steps.insert(steps.end(), 40, std::uint64_t{1} << i);
  Keys ball;
  const TreeCube cube{{-500, -500, -500}, 1000};
  for (const Vec4& body : test::random_ball(5000).positions) ball.push_back(hilbert_key(cube, body.x, body.y, body.z));
  return {{"uniform", uniform}, {"coincident", coincident}, {"two points", pairs}, {"powers", steps}, {"ball", ball}};
}

TEST(DomainBorder, IsACellWithTheBodyOfItsRank) {
  for (const auto& [name, keys] : systems()) {
    Keys sorted = keys;
    std::ranges::sort(sorted);
    const auto count = static_cast<int>(keys.size());
    for (const int rank : {0, 1, count / 3, count / 2, count - 1}) {
      SCOPED_TRACE(std::string{name} + ", rank " + std::to_string(rank));
      const DomainBorder border = border_at(keys, rank);
      const std::uint64_t key = sorted[static_cast<std::size_t>(rank)];
      EXPECT_TRUE(border.has(key));
      EXPECT_LE(border.begin, key);
      EXPECT_LT(key, border.end());
      EXPECT_EQ(border.begin, first_key_in_cell(key, static_cast<int>(border.level)));
      EXPECT_EQ(border.before, std::ranges::lower_bound(sorted, border.begin) - sorted.begin());
      EXPECT_EQ(border.inside, std::ranges::lower_bound(sorted, border.end()) - sorted.begin() - border.before);
      EXPECT_TRUE(border.inside <= DomainBorder::few || border.level == key_levels);
    }
  }
}

TEST(DomainBorder, OfAllBodiesLiesBehindTheLastKey) {
  const DomainBorder border = DomainBorder::of_all(10, 10);
  EXPECT_TRUE(border.found());
  EXPECT_FALSE(border.has((std::uint64_t{1} << 63) - 1));
  EXPECT_EQ(stretch_of((std::uint64_t{1} << 63) - 1, &border, 1), 0);
}

TEST(DomainBorder, StretchesAreInTheOrderOfTheKeysAndMeetAtTheRanks) {
  for (const auto& [name, keys] : systems()) {
    const auto count = static_cast<int>(keys.size());
    for (const std::vector<int>& ranks : {std::vector{count / 2},
                                          {1, 2, 3},
                                          {count / 4, count / 2, count - 1},
                                          {count / 2, count / 2 + 1, count / 2 + 2, count / 2 + 60}}) {
      SCOPED_TRACE(std::string{name} + ", ranks " + testing::PrintToString(ranks));
      std::vector<DomainBorder> borders;
      for (const int rank : ranks) borders.push_back(border_at(keys, rank));
      const auto stretch = [&](std::uint64_t key) {
        return stretch_of(key, borders.data(), static_cast<int>(borders.size()));
      };
      Keys sorted = keys;
      std::ranges::sort(sorted);
      EXPECT_TRUE(std::ranges::is_sorted(sorted, {}, stretch));
      // Sorted by stretch, all bodies before a rank have smaller keys than those behind it, but within the border.
      Keys by_stretch = keys;
      std::ranges::stable_sort(by_stretch, {}, stretch);
      for (std::size_t i = 0; i < ranks.size(); ++i) {
        const auto middle = by_stretch.begin() + ranks[i];
        for (auto key = by_stretch.begin(); key < middle; ++key) ASSERT_LT(*key, borders[i].end());
        for (auto key = middle; key < by_stretch.end(); ++key) ASSERT_GE(*key, borders[i].begin);
      }
    }
  }
}

}  // namespace
}  // namespace orrery
