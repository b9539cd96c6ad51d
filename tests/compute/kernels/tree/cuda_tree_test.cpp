// cuda-tree's own promise: it need not sort the bodies for every evaluation.
#include "compute/kernels/tree/cuda_tree_lock.h"
#include "compute/kernels/tree/octree.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/evaluations.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

namespace orrery {
namespace {

// The CUDA trees' promises beyond what every kernel does: large and degenerate systems, far bodies counted by cells,
// and a report of the tree. A kernel that waits for itself runs into the time limit of ctest.

using test::attract_repel;

/// Tolerance of either tree at its initial settings.
constexpr Tolerance held{.median = 1.5e-3, .max = 0.1};

class EveryCudaTree : public test::KernelTest {
 protected:
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

/// Returns the numeric values of a setting that trades exactness for time, in ascending order.
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
  for (const int count : {1, 2, 33, 4097, 65'537}) {
    Bodies bodies = test::random_ball(count);
    for (const Vec4& point : {Vec4{}, Vec4{0.1f, -0.7f, 3.3f, 0}}) {
      for (Vec4& position : bodies.positions) move_to(position, point);
      for (const Law& law : {Law{.softening = Law::min_softening}, test::attract_repel}) {
        SCOPED_TRACE(std::to_string(count) + ' ' + law_info(law.id).id);
        for (const Vec4& a : test::accelerations(info(), Settings{info()}, bodies, law)) ASSERT_EQ(a, Vec4{});
      }
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

class CudaTree : public test::BackendTest {
 protected:
  static const KernelInfo& info() { return *test::find_kernel("cuda-tree"); }
  static Settings rebuild(const char* evaluations) {
    Settings settings{info()};
    settings.set("rebuild", evaluations);
    return settings;
  }
  /// Returns the interactions of one more evaluation.
  static std::uint64_t interactions(test::Evaluations& evaluations, const Bodies& bodies) {
    const std::uint64_t before = evaluations.evaluated();
    evaluations.run(bodies);
    return evaluations.evaluated() - before;
  }
};

/// By their velocities.
void drift(Bodies& bodies, float time) {
  for (std::size_t i = 0; i < bodies.positions.size(); ++i) {
    Vec4& position = bodies.positions[i];
    const Vec4& velocity = bodies.velocities[i];
    position = {position.x + velocity.x * time, position.y + velocity.y * time, position.z + velocity.z * time,
                position.w};
  }
}

TEST_F(CudaTree, AgreesWhileBodiesLeaveTheCellsThatTheyWereSortedInto) {
  for (const char* period : {"2", "4", "8", "16"}) {
    Bodies bodies = test::random_ball(4097);
    test::Evaluations evaluations{info(), rebuild(period), bodies.count()};
    for (int step = 0; step < 18; ++step) {
      SCOPED_TRACE("rebuild=" + std::string{period} + ", evaluation " + std::to_string(step));
      test::expect_agreement(evaluations.run(bodies), bodies, {}, info().tolerance);
      drift(bodies, 0.2f);
    }
  }
}

TEST_F(CudaTree, WarpsThatShareGroupsMeetTheSameBodiesAndCells) {
  for (const int count : {1, 2, 33, 4097, 65'537}) {
    SCOPED_TRACE(std::to_string(count) + " bodies");
    const Bodies bodies = test::random_ball(count);
    std::vector<Vec4> whole;
    std::uint64_t interactions = 0;
    for (const char* split : {"1", "2", "4"}) {
      SCOPED_TRACE("split=" + std::string{split});
      test::Evaluations evaluations{info(), Settings{info(), {{"split", split}}}, count};
      const std::vector<Vec4> shared = evaluations.run(bodies);
      if (whole.empty()) {
        whole = shared;
        interactions = evaluations.evaluated();
      }
      EXPECT_EQ(evaluations.evaluated(), interactions);
      double mean = 0;  // the pulls on bodies near the center cancel
      for (const Vec4& a : whole) mean += std::hypot(a.x, a.y, a.z);
      mean /= count;
      for (std::size_t i = 0; i < shared.size(); ++i) {
        const double size = std::hypot(whole[i].x, whole[i].y, whole[i].z);
        const double apart = std::hypot(shared[i].x - whole[i].x, shared[i].y - whole[i].y, shared[i].z - whole[i].z);
        EXPECT_LE(apart, 1e-5 * (size + mean)) << "body " << i;
      }
    }
  }
}

/// An order's promise: errors and interactions as multiples of those of the order before it.
struct OrderStep {
  const char *order, *before;
  Settings::Values others;  // settings of both
  std::vector<const char*> tolerances;
  double median, p99;   // of the errors, upper limits
  double interactions;  // upper limit
};

void PrintTo(const OrderStep& step, std::ostream* out) {
  *out << step.order;
}

class CudaTreeOrders : public CudaTree, public testing::WithParamInterface<OrderStep> {};

INSTANTIATE_TEST_SUITE_P(
    Steps, CudaTreeOrders,
    testing::Values(OrderStep{"local", "quadrupole", {}, {"off", "1e-3", "1e-4", "1e-5"}, 1.5, 2.5, 0.9},
                    OrderStep{"high", "local", {{"group", "64"}}, {"1e-5", "1e-6", "1e-7"}, 2, 10, 1}),
    [](const auto& step) { return std::string{step.param.order}; });

TEST_P(CudaTreeOrders, AddLittleErrorForFewerInteractions) {
  const OrderStep& step = GetParam();
  const Bodies bodies = test::random_ball(65'537);
  for (const char* tolerance : step.tolerances) {
    SCOPED_TRACE(tolerance);
    ForceError error[2];
    std::uint64_t interactions[2];
    for (const bool own : {false, true}) {
      Settings settings{info(), step.others};
      settings.set("order", own ? step.order : step.before);
      settings.set("tolerance", tolerance);
      error[own] = test::sampled_error(info(), settings, bodies, {});
      test::Evaluations evaluations{info(), settings, bodies.count()};
      evaluations.run(bodies);
      interactions[own] = evaluations.evaluated();
    }
    EXPECT_LT(error[true].median, step.median * error[false].median);
    EXPECT_LT(error[true].p99, step.p99 * error[false].p99);
    EXPECT_LT(static_cast<double>(interactions[true]), step.interactions * static_cast<double>(interactions[false]));
  }
}

TEST_F(CudaTree, SumsOfLocalExpansionsKeepTheDigitsOfSmallTolerances) {
  const Bodies bodies = test::random_ball(65'537);
  const Settings settings{info(), {{"order", "local"}, {"tolerance", "1e-7"}, {"group", "32"}}};
  EXPECT_LT(test::sampled_error(info(), settings, bodies, {}).median, 2e-6);
}

TEST_F(CudaTree, HighMomentsReachSmallErrors) {
  const Bodies bodies = test::random_ball(65'537);
  for (const char* rebuild : {"1", "4"}) {
    const Settings settings{info(), {{"order", "high"}, {"tolerance", "1e-7"}, {"rebuild", rebuild}}};
    const ForceError error = test::sampled_error(info(), settings, bodies, {});
    EXPECT_LT(error.median, 2e-6);
    EXPECT_LT(error.p99, 6e-5);
  }
}

class CudaTreeExpansions : public CudaTree, public testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(Orders, CudaTreeExpansions, testing::Values("local", "high"),
                         [](const auto& order) { return std::string{order.param}; });

TEST_P(CudaTreeExpansions, AgreeWhereTheOpeningAngleAloneDecides) {
  const Bodies bodies = test::random_ball(65'537);
  const Settings settings{info(), {{"order", GetParam()}, {"tolerance", "off"}, {"theta", "0.5"}}};
  EXPECT_LT(test::sampled_error(info(), settings, bodies, {}).median, 3e-4);
}

TEST_P(CudaTreeExpansions, AgreeForDegenerateBodies) {
  const Settings settings{info(), {{"order", GetParam()}}};
  const auto expect_agreement = [&](const char* what, Bodies bodies, const auto& change) {
    SCOPED_TRACE(what);
    for (std::size_t i = 0; i < bodies.positions.size(); ++i) change(i, bodies.positions[i]);
    const ForceError error = test::sampled_error(info(), settings, bodies, {});
    EXPECT_LE(error.median, 1.5e-3);
    EXPECT_LE(error.max, 0.1);
  };
  const Bodies ball = test::random_ball(20'000);
  const auto move = [](Vec4& body, float x, float y, float z) { body = {x, y, z, body.w}; };
  expect_agreement("two clusters", ball, [](std::size_t i, Vec4& body) { body.y += i % 2 == 0 ? 1000.0f : 0.0f; });
  expect_agreement("few points", ball, [&](std::size_t i, Vec4& body) {
    const Vec4& place = ball.positions[i % 7];
    move(body, place.x, place.y, place.z);
  });
  expect_agreement("a point in a ball", ball, [&](std::size_t i, Vec4& body) {
    if (i % 5 == 0) move(body, 0.5f, 0.3f, -0.2f);
  });
  expect_agreement("a body far away", ball, [&](std::size_t i, Vec4& body) {
    if (i == 17) move(body, 1e6f, 0, 0);
  });
  expect_agreement("nearly all in one point", test::random_ball(4097),
                   [&](std::size_t i, Vec4& body) { move(body, i == 2000 ? 1.1f : 0.1f, -0.7f, 3.3f); });
  expect_agreement("a large system", ball, [](std::size_t, Vec4& body) {
    body = {1e7f * body.x, 1e7f * body.y, 1e7f * body.z, body.w};
  });
}

TEST_P(CudaTreeExpansions, GiveTargetsWhatTheyGiveAll) {
  const Bodies bodies = test::random_ball(9001);
  const Settings settings{info(), {{"order", GetParam()}}};
  const std::vector<int> targets = sample_targets(bodies.count(), 100);
  const auto kernel = test::backends().make_kernel(info(), settings);
  const auto all = test::evaluate(*kernel, bodies, {.law = {}}),
             some = test::evaluate(*kernel, bodies, {.law = {}, .targets = targets});
  for (const int i : targets) {
    const Vec4 &a = all.accelerations[static_cast<std::size_t>(i)],
               &b = some.accelerations[static_cast<std::size_t>(i)];
    EXPECT_LT(std::hypot(a.x - b.x, a.y - b.y, a.z - b.z), 1e-5 * std::hypot(a.x, a.y, a.z)) << i;
  }
}

TEST_F(CudaTree, SortsAgainAfterAsManyEvaluationsAsItIsTold) {
  const int count = 20'000, period = 4;
  const Bodies first = test::random_ball(count, 1), other = test::random_ball(count, 2);
  test::Evaluations evaluations{info(), rebuild("4"), count};
  const auto interactions_of = [&](const Bodies& bodies) { return interactions(evaluations, bodies); };
  const std::uint64_t sorted = interactions_of(first);
  for (int step = 1; step < period; ++step) {
    EXPECT_GT(interactions_of(other), 3 * sorted) << "its cells are all over the system";
  }
  EXPECT_LT(interactions_of(other), 2 * sorted);
}

TEST_F(CudaTree, SortsSoonerWhereKeptCellsCostMore) {
  const int count = 20'000;
  const Bodies first = test::random_ball(count, 1), other = test::random_ball(count, 2);
  test::Evaluations evaluations{info(), rebuild("3"), count};
  const auto interactions_of = [&](const Bodies& bodies) { return interactions(evaluations, bodies); };
  const std::uint64_t sorted = interactions_of(first);
  EXPECT_GT(interactions_of(other), 3 * sorted) << "its cells are all over the system";
  EXPECT_GT(interactions_of(first), 0u);
  for (int period = 0; period < 20; ++period) {
    EXPECT_LT(interactions_of(first), 2 * sorted) << period;
    EXPECT_LT(interactions_of(other), 2 * sorted) << period << ": it has seen what kept cells cost";
  }
  std::uint64_t most = 0;
  for (int i = 0; i < 2000; ++i) most = std::max(most, interactions_of(i % 2 == 0 ? first : other));
  EXPECT_GT(most, 3 * sorted) << "kept cells are tried again";
}

TEST_F(CudaTree, KeepsCellsOfBodiesAtRest) {
  const int count = 20'000;
  const Bodies first = test::random_ball(count, 1), other = test::random_ball(count, 2);
  test::Evaluations evaluations{info(), rebuild("1000"), count};
  evaluations.run(first);
  const std::uint64_t sorted = evaluations.evaluated();
  for (int i = 1; i < 100; ++i) evaluations.run(first);
  const std::uint64_t before = evaluations.evaluated();
  EXPECT_LE(before, 101 * sorted);
  evaluations.run(other);
  EXPECT_GT(evaluations.evaluated() - before, 3 * sorted) << "its cells are still those of the first bodies";
}

TEST_F(CudaTree, SortsAgainForOtherBodies) {
  const int count = 20'000;
  test::Evaluations evaluations{info(), rebuild("16"), count};
  evaluations.run(test::random_ball(count, 1));
  const std::uint64_t sorted = evaluations.evaluated();
  evaluations.kernel().bodies_replaced();
  evaluations.run(test::random_ball(count, 2));
  EXPECT_LT(evaluations.evaluated(), 3 * sorted);
}

TEST_F(CudaTree, CubesHoldTheirBodiesThatAreFarAwayOrHaveLeft) {
  Bodies bodies = test::random_ball(3000);
  bodies.positions[7] = {1e5f, -1e5f, 0, 1e-6f};
  test::Evaluations evaluations{info(), rebuild("2"), bodies.count()};
  for (int evaluation = 0; evaluation < 2; ++evaluation) {
    evaluations.run(bodies);
    const std::vector<TreeCell> cells = evaluations.cells(1'000'000);
    for (const Vec4& body : bodies.positions) {
      const auto holds = [&](const TreeCell& cell) {
        const auto within = [&](float center, float x) { return std::abs(x - center) <= 1.000001f * cell.half_size; };
        return within(cell.center.x, body.x) && within(cell.center.y, body.y) && within(cell.center.z, body.z);
      };
      ASSERT_TRUE(holds(cells.front()));
      ASSERT_TRUE(std::ranges::any_of(cells, [&](const TreeCell& cell) { return cell.level > 0 && holds(cell); }));
    }
    drift(bodies, 50);
  }
}

TEST_F(CudaTree, SortsAgainWhereTheNumberOfBodiesChanges) {
  const int most = 8000;
  test::Evaluations evaluations{info(), rebuild("16"), most};
  unsigned seed = 0;
  for (const int count : {5000, 5000, 3000, 3000, 5000, 1, 2, most, 33, 33}) {
    SCOPED_TRACE(count);
    const Bodies bodies = test::random_ball(count, ++seed);
    test::expect_agreement(evaluations.run(bodies), bodies, {}, info().tolerance);
  }
}

}  // namespace
}  // namespace orrery
