// What the CUDA trees promise beyond what every kernel does: large and degenerate systems, far bodies counted by cells,
// and a report of the tree. A kernel that waits for itself runs into the time limit of ctest.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>

#include "compute/kernels/tree/lock_tree.h"
#include "compute/kernels/tree/octree.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/evaluations.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

using test::attract_repel;

/// Of either tree at its initial settings.
constexpr Tolerance held{.median = 1.5e-3, .max = 0.1};

class EveryCudaTree : public testing::TestWithParam<KernelPtr> {
 protected:
  void SetUp() override { ORRERY_SKIP_WITHOUT_BACKEND(); }

  static const KernelInfo& info() { return *GetParam(); }
  static bool is_lock() { return std::string{info().id} == "cuda-tree-lock"; }
  static Settings settings(const char* name, const char* value) { return Settings{info(), {{name, value}}}; }
  static test::Evaluations evaluations(int room, const Settings& settings = Settings{info()}) {
    return {info(), settings, room};
  }

  static void expect_agreement(const Bodies& bodies, const Law& law = {}, const Tolerance& tolerance = held) {
    SCOPED_TRACE(std::string{law_info(law.id).id} + ", n = " + std::to_string(bodies.count()));
    const ForceError error = test::sampled_error(info(), Settings{info()}, bodies, law);
    EXPECT_LE(error.median, tolerance.median);
    EXPECT_LE(error.max, tolerance.max);
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryCudaTree);

/// Of the tunables that trade exactness for time: the values that are numbers, the least first.
std::vector<std::string> rising_values(const Tunable& tunable) {
  std::vector<std::string> values{tunable.values.begin(), tunable.values.end()};
  std::erase(values, "off");
  std::ranges::sort(values, {}, [](const std::string& value) { return std::stod(value); });
  return values;
}

/// Whether a value makes a tree less exact than the initial one.
bool is_coarser(const Tunable& tunable, const std::string& value) {
  const std::string name = tunable.name;
  if (name == "order") return value == "monopole";
  if (name != "theta" && name != "tolerance") return false;
  return value == "off" || std::stod(value) > std::stod(tunable.initial);
}

/// It keeps its mass.
void move_to(Vec4& body, const Vec4& place) {
  body = {place.x, place.y, place.z, body.w};
}

bool contains(const TreeCell& cell, const TreeCell& root, const Vec4& body) {
  // Centers are rounded, and so are distances from the root's corner.
  const auto within = [&](float center, float origin, float x) {
    return std::abs(x - center) <= cell.half_size + 1e-6f * (std::abs(origin) + root.half_size);
  };
  return within(cell.center.x, root.center.x, body.x) && within(cell.center.y, root.center.y, body.y) &&
         within(cell.center.z, root.center.z, body.z);
}

/// The sum of the sizes of the pulls on a body.
double size_of_pulls(const Bodies& bodies, int on) {
  const Vec4& body = bodies.positions[static_cast<std::size_t>(on)];
  double sum = 0;
  visit_pair_law<double>({}, [&](const auto& law) {
    for (const Vec4& other : bodies.positions) {
      const double dx = double{other.x} - body.x, dy = double{other.y} - body.y, dz = double{other.z} - body.z;
      sum += law.factor(dx, dy, dz, double{other.w}) * std::hypot(dx, dy, dz);
    }
  });
  return sum;
}

TEST_P(EveryCudaTree, AgreesForManySizes) {
  for (const int count : {1, 2, 33, 4097, 65'537}) {
    for (const Law& law : {Law{}, attract_repel}) expect_agreement(test::random_ball(count), law);
  }
}

TEST_P(EveryCudaTree, ManyBodiesAgreeForEveryValueOfEveryTunable) {
  for (const int count : {100'003, 1'000'001}) {
    const Bodies bodies = test::random_ball(count);
    const std::vector<int> targets = sample_targets(count, 200);
    const std::vector<Vec3d> reference = reference_accelerations(bodies.positions, targets, {});
    for (const Tunable& tunable : info().tunables) {
      for (const char* value : tunable.values) {
        SCOPED_TRACE(std::string{tunable.name} + '=' + value + ", n = " + std::to_string(count));
        const Settings settings = EveryCudaTree::settings(tunable.name, value);
        const Tolerance tolerance = is_coarser(tunable, value) ? test::tolerance_at(info(), settings) : held;
        const ForceError error = force_error(evaluations(count, settings).run(bodies), targets, reference);
        EXPECT_LE(error.median, tolerance.median);
        EXPECT_LE(error.max, tolerance.max);
      }
    }
  }
}

TEST_P(EveryCudaTree, ALesserThetaOrToleranceIsMoreExactAndEvaluatesMore) {
  const Bodies bodies = test::random_ball(20'000);
  for (const char* name : {"theta", "tolerance"}) {
    const Tunable* tunable = info().tunable(name);
    if (!tunable) continue;
    Settings settings{info()};
    // Each by itself: the other one decides nothing.
    if (settings.has("tolerance")) {
      settings.set("theta", "1.2");
      settings.set("tolerance", "off");
    }
    double last_median = 0;
    std::uint64_t last_evaluated = std::numeric_limits<std::uint64_t>::max();
    for (const std::string& value : rising_values(*tunable)) {
      SCOPED_TRACE(std::string{name} + '=' + value);
      settings.set(name, value);
      test::Evaluations evaluations = EveryCudaTree::evaluations(bodies.count(), settings);
      evaluations.run(bodies);
      const double median = test::sampled_error(info(), settings, bodies, {}).median;
      EXPECT_GT(median, last_median);
      EXPECT_LT(evaluations.evaluated(), last_evaluated);
      last_median = median;
      last_evaluated = evaluations.evaluated();
    }
  }
}

TEST_P(EveryCudaTree, BodiesInOnePointDoNotPullEachOther) {
  for (const int count : {2, 33, 4097, 65'537}) {
    Bodies bodies = test::random_ball(count);
    for (Vec4& position : bodies.positions) move_to(position, {0.1f, -0.7f, 3.3f, 0});
    for (const Vec4& a : test::accelerations(info(), Settings{info()}, bodies, {.softening = Law::min_softening})) {
      ASSERT_EQ(a, Vec4{});
    }
  }
}

TEST_P(EveryCudaTree, AllBodiesButOneInOnePointAgree) {
  for (const int count : {2, 33, 4097, 20'000}) {
    Bodies bodies = test::random_ball(count);
    for (Vec4& position : bodies.positions) move_to(position, {0.1f, -0.7f, 3.3f, 0});
    bodies.positions[static_cast<std::size_t>(count / 2)].x = 1.1f;
    SCOPED_TRACE(count);
    test::expect_agreement(test::accelerations(info(), Settings{info()}, bodies, {}), bodies, {},
                           {.median = 1e-5, .max = 1e-4});
  }
}

TEST_P(EveryCudaTree, PointsWithManyBodiesEachAgree) {
  Bodies bodies = test::random_ball(10'000);
  for (std::size_t i = 0; i < bodies.positions.size(); ++i) move_to(bodies.positions[i], bodies.positions[i % 7]);
  expect_agreement(bodies, {.softening = Law::min_softening});
}

TEST_P(EveryCudaTree, CoincidentBodiesInABallAgree) {
  Bodies bodies = test::random_ball(25'000);
  for (std::size_t i = 0; i < bodies.positions.size(); i += 5) move_to(bodies.positions[i], {0.5f, 0.3f, -0.2f, 0});
  expect_agreement(bodies);
}

TEST_P(EveryCudaTree, MasslessBodiesAgreeAndLeaveItATree) {
  Bodies bodies = test::random_ball(25'000);
  const auto interactions = [&] {
    test::Evaluations evaluations = EveryCudaTree::evaluations(bodies.count());
    evaluations.run(bodies);
    return evaluations.evaluated();
  };
  const std::uint64_t usual = interactions();
  for (Vec4& body : bodies.positions) body.w = body.x > 0.6f ? 0 : body.w;
  expect_agreement(bodies);
  EXPECT_LT(interactions(), 2 * usual);
  for (Vec4& body : bodies.positions) body.w = 0;
  EXPECT_LT(interactions(), 2 * usual);
}

TEST_P(EveryCudaTree, ALineOfBodiesAgrees) {
  for (const int count : {33, 4097, 65'537}) {
    Bodies bodies = test::random_ball(count);
    for (Vec4& position : bodies.positions) position = {position.x, 0, 0, position.w};
    // The pulls of the two sides nearly cancel, so errors are held against the sum of their sizes.
    const std::vector<int> targets = sample_targets(count, 500);
    const std::vector<Vec3d> reference = reference_accelerations(bodies.positions, targets, {});
    const std::vector<Vec4> found = test::accelerations(info(), Settings{info()}, bodies, {});
    std::vector<double> errors;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const Vec4& a = found[static_cast<std::size_t>(targets[i])];
      const double error = std::hypot(a.x - reference[i].x, a.y - reference[i].y, a.z - reference[i].z);
      errors.push_back(error / size_of_pulls(bodies, targets[i]));
      ASSERT_LE(errors.back(), 3e-2) << "body " << targets[i] << " of " << count;
    }
    std::ranges::sort(errors);
    EXPECT_LE(errors[errors.size() / 2], is_lock() ? 4e-3 : held.median);  // a line is least like a point
  }
}

TEST_P(EveryCudaTree, TwoClustersAgree) {
  Bodies bodies = test::random_ball(65'537);
  for (std::size_t i = 0; i < bodies.positions.size(); i += 2) bodies.positions[i].y += 1000;
  expect_agreement(bodies);
}

TEST_P(EveryCudaTree, AFarBodyFeelsTheWholeMassAndTheOthersAgree) {
  for (const int count : {33, 4097, 65'537}) {
    Bodies bodies = test::random_ball(count);
    bodies.positions.push_back({1e6f, 0, 0, 1e-3f});
    bodies.velocities.push_back({});
    expect_agreement(bodies);
    const double mass = std::accumulate(bodies.positions.begin(), bodies.positions.end() - 1, 0.0,
                                        [](double sum, const Vec4& body) { return sum + body.w; });
    const auto accelerations = test::accelerations(info(), Settings{info()}, bodies, {});
    EXPECT_NEAR(accelerations.back().x, -mass / 1e12, 1e-5 * mass / 1e12);
  }
}

TEST_P(EveryCudaTree, ClustersThatTakeMoreCellsThanThereAreAgree) {
  constexpr int cluster = 5;
  constexpr float apart = 1e-4f;
  Bodies bodies = test::random_ball(20'000);
  for (int i = 0; i < bodies.count(); ++i) {
    const int corner = i % cluster;
    const Vec4& first = bodies.positions[static_cast<std::size_t>(i - corner)];
    Vec4& body = bodies.positions[static_cast<std::size_t>(i)];
    move_to(body, first);
    if (corner & 1) body.x += apart;
    if (corner & 2) body.y += apart;
    if (corner & 4) body.z += apart;
  }
  Settings settings{info()};
  if (settings.has("leaf")) settings.set("leaf", "4");
  test::Evaluations evaluations = EveryCudaTree::evaluations(bodies.count(), settings);
  const std::vector<int> targets = sample_targets(bodies.count(), 500);
  const ForceError error =
      force_error(evaluations.run(bodies), targets, reference_accelerations(bodies.positions, targets, {}));
  EXPECT_LE(error.median, 2e-3);  // clusters are less like a sphere than a ball's cells
  EXPECT_LE(error.max, held.max);
  const int room = is_lock() ? LockTree::room_for_cells(bodies.count()) : Octree::capacity_for(bodies.count());
  // The last places stay empty where not all children of a cell have one.
  EXPECT_LE(evaluations.kernel().tree()->report()->cells, room);
  EXPECT_GT(evaluations.kernel().tree()->report()->cells, room - 8) << "there were enough";
}

TEST_P(EveryCudaTree, BodiesThatAreNotFiniteEndAndLeaveNothingBehind) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  const Bodies regular = test::random_ball(4097);
  test::Evaluations evaluations = EveryCudaTree::evaluations(regular.count());
  for (const float value : {nan, infinity, -infinity, 1e30f}) {
    for (const int bad_bodies : {1, 4097}) {
      SCOPED_TRACE(std::to_string(bad_bodies) + " with " + std::to_string(value));
      Bodies degenerate = regular;
      for (int i = 0; i < bad_bodies; ++i) degenerate.positions[static_cast<std::size_t>(i)].y = value;
      evaluations.run(degenerate);
      test::expect_agreement(evaluations.run(regular), regular, {}, info().tolerance);
    }
  }
}

TEST_P(EveryCudaTree, ReportsWhatItEvaluated) {
  const int count = 10'000;
  const Bodies bodies = test::random_ball(count);
  test::Evaluations evaluations = EveryCudaTree::evaluations(count);
  EXPECT_FALSE(evaluations.kernel().tree()->report());
  EXPECT_TRUE(evaluations.cells(10).empty());
  evaluations.run(bodies);
  const auto report = evaluations.kernel().tree()->report();
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->phases.empty()) << "they were not timed";
  EXPECT_EQ(static_cast<std::uint64_t>(report->interactions), evaluations.evaluated());
  EXPECT_GT(report->interactions, 100 * count);
  EXPECT_LT(report->interactions, static_cast<std::int64_t>(count) * count / 2);
  EXPECT_GT(report->cells, count / 16);
  EXPECT_LT(report->cells, count);
  EXPECT_GT(report->depth, 5);
  EXPECT_LT(report->depth, 31);

  for (int run = 0; run < 9; ++run) evaluations.run(bodies, true);
  const auto timed = evaluations.kernel().tree()->report();
  ASSERT_TRUE(timed);
  std::vector<std::string> phases;
  for (const TreePhase& phase : timed->phases) {
    EXPECT_GT(phase.ms, 0) << phase.name;
    phases.emplace_back(phase.name);
  }
  const std::map<std::string, std::vector<std::string>> all_phases{
      {"cuda-tree", {"keys", "sort", "build", "walk", "update"}},
      {"cuda-tree-lock", {"bounding box", "build", "summary", "sort", "force", "update"}}};
  EXPECT_EQ(phases, all_phases.at(info().id));
  EXPECT_EQ(timed->depth, report->depth);
  EXPECT_EQ(timed->cells, report->cells);
  EXPECT_GT(evaluations.evaluated(), 9u * static_cast<std::uint64_t>(report->interactions));
}

TEST_P(EveryCudaTree, CellsAreNestedCubesAroundBodies) {
  Bodies bodies = test::random_ball(2000);
  // Far from each other, so that the root has two children many levels deeper.
  for (std::size_t i = 0; i < 1000; ++i) bodies.positions[i].y += 300;
  test::Evaluations evaluations = EveryCudaTree::evaluations(bodies.count());
  evaluations.run(bodies);
  const auto report = evaluations.kernel().tree()->report();
  const auto cells = evaluations.cells(1'000'000);
  ASSERT_TRUE(report);
  ASSERT_EQ(static_cast<std::int64_t>(cells.size()), report->cells);
  const TreeCell& root = cells.front();
  EXPECT_EQ(root.level, 0);
  EXPECT_EQ(cells.back().level, report->depth);
  EXPECT_TRUE(std::ranges::is_sorted(cells, {}, &TreeCell::level));
  const int least = is_lock() ? 2 : 1;  // its cells divide bodies; elsewhere a leaf is a cell
  for (const TreeCell& cell : cells) {
    const auto inside =
        std::ranges::count_if(bodies.positions, [&](const Vec4& body) { return contains(cell, root, body); });
    EXPECT_GE(inside, cell.level == 0 ? bodies.count() : least);
    EXPECT_NEAR(cell.half_size, std::ldexp(root.half_size, -cell.level), 2e-6f * root.half_size);
  }
  const auto few = evaluations.cells(9);
  ASSERT_EQ(few.size(), 9u);
  for (std::size_t i = 0; i < few.size(); ++i) EXPECT_EQ(few[i].level, cells[i].level);
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryCudaTree, testing::ValuesIn(test::trees_under_test()), test::test_name);

}  // namespace
}  // namespace orrery
