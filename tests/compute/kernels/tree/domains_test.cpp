#include "compute/kernels/tree/domains.h"

#include "compute/kernels/tree/octree.h"
#include "compute/kernels/tree/tree_cube.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

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

/// Parts with these shares of the whole.
std::vector<Part> parts_of(const std::vector<double>& shares) {
  double sum = 0, begin = 0;
  for (const double share : shares) sum += share;
  std::vector<Part> parts;
  for (const double share : shares) {
    const double end = begin + share / sum;
    parts.push_back({.index = static_cast<int>(parts.size()), .begin = begin, .end = end});
    begin = end;
  }
  parts.back().end = 1;
  return parts;
}

constexpr int leaf = 16;
constexpr int many = 1 << 30;

/// Fails unless the domains have all bodies once, and room for the cells of their trees that is theirs alone.
void expect_sound(const DomainLayout& layout, int count, int domains) {
  int next_body = 0, next_cell = 0;
  for (int domain = 0; domain < domains; ++domain) {
    const int bodies = layout.bodies(domain), cells = layout.end_cell(domain) - layout.first_cell(domain);
    EXPECT_EQ(layout.first_body(domain), next_body);
    EXPECT_EQ(layout.first_cell(domain), next_cell);
    EXPECT_EQ(bodies > 0, domain < layout.trees());
    EXPECT_LE(bodies, DomainLayout::most_bodies(count, domains));
    EXPECT_GE(cells, count == many ? bodies / 4 : Octree::capacity_for(bodies) - 1);
    EXPECT_LE(cells, DomainLayout::most_cells(count, domains, leaf));
    next_body += bodies;
    next_cell += cells;
  }
  EXPECT_EQ(next_body, count);
  EXPECT_EQ(next_cell, DomainLayout::all_cells(count, domains, leaf));
  EXPECT_LE(next_cell, Octree::most_cells);
}

TEST(DomainLayout, HasAllBodiesOnceWhateverTheParts) {
  const std::vector<double> shares[] = {{1, 1},       {1, 3},           {1, 0},          {0, 1},
                                        {1, 1, 1},    {0, 0, 1},        {1, 0, 0},       {0, 1, 0},
                                        {5, 1, 1, 5}, {0, 0.5, 0.5, 0}, {1, 1, 1, 1, 1}, std::vector<double>(64, 1)};
  for (const auto& each : shares) {
    const auto domains = static_cast<int>(each.size());
    for (const int count : {1, 2, 3, 63, 2047, 2048, 2049, 3073, 4097, 65'537, 65'536 * 3 + 1, 1 << 28, many}) {
      SCOPED_TRACE(std::to_string(count) + " bodies, " + testing::PrintToString(each));
      expect_sound(DomainLayout{count, parts_of(each), leaf}, count, domains);
    }
  }
}

TEST(DomainLayout, FollowsThePartsThatAreNotTooLarge) {
  const int count = 1'000'003;
  const std::vector<Part> parts = parts_of({3, 2, 4, 3});
  const DomainLayout layout{count, parts, leaf};
  EXPECT_EQ(layout.trees(), 4);
  for (const Part& part : parts) EXPECT_EQ(layout.first_body(part.index), part.first(count));
  const DomainLayout lopsided{count, parts_of({97, 1, 1, 1}), leaf};
  EXPECT_EQ(lopsided.bodies(0), DomainLayout::most_bodies(count, 4));
  EXPECT_EQ(lopsided.bodies(3), count - parts_of({97, 1, 1, 1})[3].first(count)) << "the others stay as they are";
}

TEST(DomainLayout, LeavesFewBodiesToTheFirstDevice) {
  for (const int count : {1, 3, 100, 3071}) {
    const DomainLayout layout{count, parts_of({1, 1, 1}), leaf};
    EXPECT_EQ(layout.trees(), 1);
    EXPECT_EQ(layout.bodies(0), count);
    EXPECT_EQ(layout.bodies(2), 0);
  }
  EXPECT_EQ((DomainLayout{3072, parts_of({1, 1, 1}), leaf}.trees()), 3);
}

TEST(DomainLayout, GivesATreeALittleMoreRoomThanTheOneBeforeItNeeded) {
  constexpr int most = 1'000'000;
  EXPECT_EQ(DomainLayout::room_after(0, 0, most), most) << "nothing is known";
  EXPECT_EQ(DomainLayout::room_after(980'000, most, most), most);
  EXPECT_EQ(DomainLayout::room_after(Octree::most_cells - 8, Octree::most_cells, Octree::most_cells),
            Octree::most_cells);
  for (const int cells : {1, 800, 100'000}) {
    const int room = DomainLayout::room_after(cells, most, most);
    EXPECT_GT(room, 1.1 * cells);
    EXPECT_LT(room, 1.2 * cells + 1100);
    EXPECT_EQ(DomainLayout::room_after(cells, room, most), room) << "the same tree again";
    for (int places = 0; places < 8; ++places) {
      EXPECT_EQ(DomainLayout::room_after(room - places, room, most), most) << "it may not have had enough";
    }
  }
}

TEST(DomainLayout, TakesNoMoreMemoryThanAllBodiesNeed) {
  const int count = 1 << 24;
  for (const int domains : {2, 4, 8}) {
    EXPECT_LE(DomainLayout::all_cells(count, domains, leaf), Octree::capacity_for(count) + 1024 * domains);
    EXPECT_LE(domains * static_cast<double>(DomainLayout::most_bodies(count, domains)), 1.5001 * count);
  }
}

TEST(DomainLayout, ReservesLittleForManyBodies) {
  for (const int domains : {2, 4, 64}) {
    EXPECT_LE(domains * static_cast<double>(DomainLayout::most_bodies(many, domains)), 1.1251 * many);
    EXPECT_LE(DomainLayout::all_cells(many, domains, leaf), 0.29 * many);
    EXPECT_GT(DomainLayout::all_cells(many, domains, leaf), 0.24 * many) << "what a Plummer sphere needs";
    EXPECT_LE(DomainLayout::all_cells(many, domains, 2 * leaf), 0.15 * many);
  }
}

TEST(DomainLayout, CountsUpToTwoToThe30thBodies) {
  EXPECT_EQ(DomainLayout::most_of_all(4, leaf), many);
  const int most = DomainLayout::most_of_all(4, 4);  // there are more cells
  EXPECT_LT(most, many);
  EXPECT_GT(most, many - 10'000);
  EXPECT_LE(DomainLayout::all_cells(most, 4, 4), Octree::most_cells);
}

/// Numbers of bodies that go from each device to each; some devices get none of others.
std::vector<int> random_going(int devices, int most) {
  std::mt19937 random{static_cast<unsigned>(devices)};
  std::vector<int> going(static_cast<std::size_t>(devices * devices));
  for (int& count : going) count = std::max(static_cast<int>(random() % static_cast<unsigned>(2 * most)) - most / 2, 0);
  return going;
}

TEST(ShipmentPlan, BringsEveryBodyToOnePlace) {
  for (const int devices : {2, 3, 7, 64}) {
    for (const int room : {1, 10, 37, 700, 1'000'000}) {
      if (devices == 64 && room < 100) continue;  // far more shipments than there ever are
      SCOPED_TRACE(std::to_string(devices) + " devices, " + std::to_string(room));
      const std::vector<int> going = random_going(devices, 40);
      const ShipmentPlan plan{devices, room, going};
      std::vector<int> left(static_cast<std::size_t>(devices));
      std::vector<std::vector<int>> came(left.size());  // by device: how often something was put at each place
      for (int to = 0; to < devices; ++to) {
        int all = 0;
        for (int from = 0; from < devices; ++from) all += going[static_cast<std::size_t>(from * devices + to)];
        came[static_cast<std::size_t>(to)].resize(static_cast<std::size_t>(all));
      }
      for (int shipment = 0; shipment < plan.shipments(); ++shipment) {
        for (int from = 0; from < devices; ++from) {
          int packed = 0;
          for (int to = 0; to < devices; ++to) {
            if (to == from) continue;
            const auto leaving = plan.leaving(shipment, from, to), arriving = plan.arriving(shipment, from, to);
            ASSERT_EQ(leaving.count, arriving.count);
            if (leaving.count == 0) continue;
            ASSERT_EQ(leaving.first, packed) << "one behind the other";
            packed += leaving.count;
            for (int i = 0; i < arriving.count; ++i) {
              ++came[static_cast<std::size_t>(to)].at(static_cast<std::size_t>(arriving.first + i));
            }
          }
          ASSERT_LE(packed, room);
          left[static_cast<std::size_t>(from)] += packed;
        }
      }
      for (int device = 0; device < devices; ++device) {
        const auto row = going.begin() + device * devices;
        const int stay = row[device];
        ASSERT_EQ(left[static_cast<std::size_t>(device)], std::accumulate(row, row + devices, 0) - stay);
        const std::vector<int>& places = came[static_cast<std::size_t>(device)];
        ASSERT_TRUE(std::all_of(places.begin(), places.begin() + stay, [](int n) { return n == 0; }))
            << "for those that stay";
        ASSERT_TRUE(std::all_of(places.begin() + stay, places.end(), [](int n) { return n == 1; }));
      }
    }
  }
}

TEST(ShipmentPlan, HasOneShipmentEvenIfNothingLeaves) {
  const std::vector<int> going{5, 0, 0, 7};
  const ShipmentPlan plan{2, 3, going};
  EXPECT_EQ(plan.shipments(), 1);
  EXPECT_EQ(plan.leaving(0, 0, 1).count, 0);
}

}  // namespace
}  // namespace orrery
