// cpu-tree's promises beyond what every kernel does.
#include "compute/kernels/tree/host_octree.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

namespace orrery {
namespace {

const KernelInfo& info() {
  return *test::find_kernel("cpu-tree");
}

void expect_right(const Bodies& bodies) {
  test::expect_agreement(test::accelerations(info(), Settings{info()}, bodies, {}), bodies, {}, info().tolerance);
}

std::uint64_t evaluated(const Bodies& bodies, ForceKernel& kernel) {
  std::uint64_t interactions = 0;
  std::vector<Vec4> accelerations(bodies.positions.size());
  kernel.evaluate({.bodies = bodies.positions.data(),
                   .count = bodies.count(),
                   .masses = mass_range(bodies.positions),
                   .law = {},
                   .epilogue = {.accelerations = accelerations.data()},
                   .evaluated = &interactions});
  return interactions;
}

TEST(CpuTree, HasTheSameBitsForAnyNumberOfThreads) {
  const Bodies bodies = test::random_ball(9001);
  for (const char* order : {"local", "high"}) {
    Settings settings{info(), {{"order", order}, {"threads", "1"}}};
    const auto by_one = test::accelerations(info(), settings, bodies, {});
    for (const char* threads : {"2", "4", "16"}) {
      settings.set("threads", threads);
      EXPECT_EQ(test::accelerations(info(), settings, bodies, {}), by_one) << threads << " threads, " << order;
    }
  }
}

TEST(CpuTree, FewTargetsHaveTheBitsThatTheyHaveAmongAllBodies) {
  const Bodies bodies = test::random_ball(5000);
  const Settings settings{info(), {{"order", "high"}, {"tolerance", "1e-4"}}};
  const auto kernel = test::backends().make_kernel(info(), settings);
  const auto all = test::evaluate(*kernel, bodies, {}).accelerations;
  const std::vector<int> targets{4999, 17, 2500, 0};
  const auto some = test::evaluate(*kernel, bodies, {.law = {}, .targets = targets}).accelerations;
  for (const int body : targets) EXPECT_EQ(some[static_cast<std::size_t>(body)], all[static_cast<std::size_t>(body)]);
}

TEST(CpuTree, IsRightForBodiesOnALine) {
  std::vector<Vec4> line{{-5, 0, 0, 200}};  // heavy enough that no sum cancels
  for (int i = 0; i < 3000; ++i) line.push_back({0.01f * static_cast<float>(i), 0, 0, 1.0f / 3000});
  expect_right(test::at_rest(std::move(line)));
}

TEST(CpuTree, IsRightForCoincidentBodies) {
  Bodies bodies = test::random_ball(2000);
  for (std::size_t i = 0; i < 700; ++i) {
    const Vec4 place = bodies.positions[i % 2];
    bodies.positions[i] = {place.x, place.y, place.z, bodies.positions[i].w};
  }
  expect_right(bodies);
}

TEST(CpuTree, IsRightAndStillATreeWithABodyFarAway) {
  Bodies bodies = test::random_ball(8000);
  bodies.positions[17] = {1e6f, -3e5f, 2e5f, bodies.positions[17].w};
  expect_right(bodies);
  const auto kernel = test::backends().make_kernel(info(), Settings{info()});
  const std::uint64_t with_far_body = evaluated(bodies, *kernel);
  EXPECT_LT(with_far_body, 2 * evaluated(test::random_ball(8000), *kernel));
}

TEST(CpuTree, IsRightAndStillATreeWithMasslessBodies) {
  Bodies bodies = test::random_ball(8000);
  for (Vec4& body : bodies.positions) body.w = body.x > 0 ? 0 : body.w;
  expect_right(bodies);
  const auto kernel = test::backends().make_kernel(info(), Settings{info()});
  const std::uint64_t half_massless = evaluated(bodies, *kernel);
  EXPECT_LT(half_massless, 2 * evaluated(test::random_ball(8000), *kernel));
  for (Vec4& body : bodies.positions) body.w = 0;
  EXPECT_LT(evaluated(bodies, *kernel), 2 * half_massless);
}

TEST(CpuTree, CountsWhatItEvaluates) {
  const auto kernel = test::backends().make_kernel(info(), Settings{info()});
  for (const int count : {1, 10, 60}) {
    EXPECT_EQ(evaluated(test::random_ball(count), *kernel), static_cast<std::uint64_t>(count) * count)
        << "one group and near cells alone";
  }
  const std::uint64_t interactions = evaluated(test::random_ball(5000), *kernel);
  EXPECT_LT(interactions, 25'000'000u / 2);
  ASSERT_TRUE(kernel->tree()->report());
  EXPECT_EQ(kernel->tree()->report()->interactions, static_cast<std::int64_t>(interactions));
  EXPECT_EQ(kernel->tree()->report()->phases.size(), 5u);
}

TEST(CpuTree, LocalExpansionsAddLittleErrorToTheQuadrupoles) {
  const Bodies bodies = test::random_ball(20'000);
  for (const char* theta : {"0.7", "1.0"}) {
    SCOPED_TRACE(theta);
    ForceError error[2];
    std::uint64_t interactions[2];
    for (const bool local : {false, true}) {
      const Settings settings{info(),
                              {{"order", local ? "local" : "quadrupole"},
                               {"theta", theta},
                               {"tolerance", "off"},
                               {"group", "64"},
                               {"leaf", "32"}}};
      error[local] = test::sampled_error(info(), settings, bodies, {});
      interactions[local] = evaluated(bodies, *test::backends().make_kernel(info(), settings));
    }
    EXPECT_LT(error[true].median, 1.5 * error[false].median);
    EXPECT_LT(error[true].p99, 2 * error[false].p99);
    EXPECT_LT(10 * interactions[true], 9 * interactions[false]);
  }
}

TEST(CpuTree, TheErrorFollowsTheToleranceAtEveryOrder) {
  const Bodies bodies = test::random_ball(20'000);
  for (const char* order : {"monopole", "quadrupole", "local", "high"}) {
    for (const char* tolerance : {"1e-3", "1e-4", "1e-5"}) {
      const Settings settings{info(), {{"order", order}, {"tolerance", tolerance}}};
      const double median = test::sampled_error(info(), settings, bodies, {}).median;
      EXPECT_LT(median, 6 * std::stod(tolerance)) << order << ' ' << tolerance;
      EXPECT_GT(median, std::stod(tolerance) / 20) << order << ' ' << tolerance << ": not more exact than needed";
    }
  }
}

TEST(CpuTree, HighMomentsNeedFewerInteractionsForSmallErrors) {
  const Bodies bodies = test::random_ball(20'000);
  ForceError error[2];
  std::uint64_t interactions[2];
  for (const bool high : {false, true}) {
    const Settings settings{info(), {{"order", high ? "high" : "local"}, {"tolerance", "5e-6"}}};
    error[high] = test::sampled_error(info(), settings, bodies, {});
    interactions[high] = evaluated(bodies, *test::backends().make_kernel(info(), settings));
  }
  EXPECT_LT(error[true].median, 2 * error[false].median);
  EXPECT_LT(error[true].p99, 50 * error[true].median);
  EXPECT_LT(4 * interactions[true], 3 * interactions[false]);
}

/// Softening of the order of the distances makes the traces of all moments count.
TEST(CpuTree, ExpansionsAreExactAlsoWithLargeSoftening) {
  const Bodies bodies = test::random_ball(10'000);
  const Law soft{.softening = 3};
  for (const char* order : {"local", "high"}) {
    const Settings settings{info(), {{"order", order}, {"tolerance", "1e-4"}}};
    const ForceError error = test::sampled_error(info(), settings, bodies, soft);
    EXPECT_LT(error.median, 4e-4) << order;
    EXPECT_LT(error.p99, 1e-2) << order;
  }
}

TEST(CpuTree, RepulsionHasNoLocalExpansion) {
  const Bodies bodies = test::random_ball(3000);
  const auto by_order = [&](const char* order) {
    return test::accelerations(info(), Settings{info(), {{"order", order}}}, bodies, test::attract_repel);
  };
  EXPECT_EQ(by_order("local"), by_order("quadrupole"));
  EXPECT_EQ(by_order("high"), by_order("quadrupole"));
}

/// Cells and bodies that a group met cover all bodies once: a cell that counts for a cell around the group is not met
/// again.
TEST(CpuTree, TheWalkOfABodyMeetsEveryBodyOnce) {
  const Bodies bodies = test::random_ball(6000);
  for (const char* order : {"quadrupole", "local", "high"}) {
    const auto kernel = test::backends().make_kernel(info(), Settings{info(), {{"order", order}}});
    test::evaluate(*kernel, bodies, {});
    TreeFacet& tree = *kernel->tree();
    tree.pick_cells({.most = 1 << 20, .walk_of = 42}, nullptr);
    ASSERT_TRUE(tree.cells() && tree.cells()->walk);
    const BodyWalk walk = tree.cells()->walk.value();
    EXPECT_FALSE(walk.cells.empty());
    std::int64_t met = 0;
    const auto holds = [](const TreeCell& cube, const Vec4& p) {
      return std::max({std::abs(p.x - cube.center.x), std::abs(p.y - cube.center.y), std::abs(p.z - cube.center.z)}) <=
             cube.half_size;
    };
    for (const Vec4& body : bodies.positions) {
      std::int64_t times = 0;
      for (const auto* cubes : {&walk.cells, &walk.leaves}) {
        times += std::ranges::count_if(*cubes, [&](const TreeCell& cube) { return holds(cube, body); });
      }
      EXPECT_GE(times, 1) << order;
      met += times;
    }
    EXPECT_LT(met, bodies.count() + bodies.count() / 100) << order << ": some lie on the borders of two cubes";
  }
}

TEST(HostOctree, CellsAndTheirCubesHoldTheirBodies) {
  Bodies ball = test::random_ball(3000);
  ball.positions[5] = {1e5f, 1e5f, -1e5f, 1};
  constexpr HostOctree::Shape shape{.leaf = 8, .threads = 2, .theta = 0.7f};
  HostOctree tree;
  tree.make_keys(HostOctree::cube_of(ball.positions.data(), ball.count()), ball.positions.data(), ball.count(),
                 shape.threads, nullptr);
  tree.sort(shape.threads, nullptr);
  tree.build(ball.positions.data(), shape, nullptr);
  tree.find_moments(shape, nullptr);

  std::vector<bool> in_a_leaf(ball.positions.size());
  for (const OctreeCell& cell : tree.cells()) {
    if (!cell.is_leaf()) continue;
    EXPECT_LE(cell.bodies.count(), shape.leaf);
    for (int i = cell.bodies.begin; i < cell.bodies.end; ++i) {
      const auto body = static_cast<std::size_t>(tree.original(i));
      EXPECT_FALSE(in_a_leaf[body]);
      in_a_leaf[body] = true;
      EXPECT_EQ(tree.bodies()[static_cast<std::size_t>(i)], tree.units().of_body(ball.positions[body]));
    }
  }
  EXPECT_EQ(std::count(in_a_leaf.begin(), in_a_leaf.end(), true), ball.count());

  const auto cubes = tree.cubes({.most = 1 << 20}).cells;
  ASSERT_EQ(cubes.size(), tree.cells().size());
  std::vector<int> holding(ball.positions.size());
  for (const TreeCell& cube : cubes) {
    for (std::size_t i = 0; i < ball.positions.size(); ++i) {
      const Vec4& p = ball.positions[i];
      holding[i] += std::abs(p.x - cube.center.x) <= cube.half_size &&
                    std::abs(p.y - cube.center.y) <= cube.half_size && std::abs(p.z - cube.center.z) <= cube.half_size;
    }
  }
  std::vector<int> levels(ball.positions.size());
  for (const OctreeCell& cell : tree.cells()) {
    for (int i = cell.bodies.begin; i < cell.bodies.end; ++i) ++levels[static_cast<std::size_t>(tree.original(i))];
  }
  for (std::size_t i = 0; i < holding.size(); ++i) EXPECT_GE(holding[i], levels[i]) << "body " << i;

  int covered = 0;
  for (const BodyRange& group : tree.groups(32)) {
    EXPECT_EQ(group.begin, covered);
    EXPECT_LE(group.count(), 32);
    covered = group.end;
  }
  EXPECT_EQ(covered, ball.count());
}

}  // namespace
}  // namespace orrery
