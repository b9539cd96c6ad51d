#include "compute/kernels/tree/domain_layout.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compute/kernels/tree/octree.h"

namespace orrery {
namespace {

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

}  // namespace
}  // namespace orrery
