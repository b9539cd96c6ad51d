// What cuda-tree-lock promises beyond what every kernel does: large and degenerate systems, far bodies counted by
// cells, and a report of the tree. A kernel that waits for itself runs into the time limit of ctest.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "compute/cuda/device_array.h"
#include "compute/cuda/stream.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

using test::attract_repel;

class CudaTreeLock : public testing::Test {
 protected:
  void SetUp() override { ORRERY_SKIP_WITHOUT_BACKEND(); }

  static const KernelInfo& info() { return find_kernel("cuda-tree-lock"); }
  static Settings settings(const char* name, const char* value) {
    Settings settings{info()};
    settings.set(name, value);
    return settings;
  }

  /// With theta 0.5.
  static void expect_agreement(const Bodies& bodies, const Law& law = {}, const Settings& settings = Settings{info()},
                               const Tolerance& tolerance = {.median = 1.5e-3, .max = 0.1}) {
    SCOPED_TRACE(settings.to_string() + ", " + law_info(law.id).id + ", n = " + std::to_string(bodies.count()));
    const ForceError error = test::sampled_error(info(), settings, bodies, law);
    EXPECT_LE(error.median, tolerance.median);
    EXPECT_LE(error.max, tolerance.max);
  }
};

/// A kernel with bodies on the device, and what it counts.
class Evaluations {
 public:
  Evaluations(int count, const Settings& settings)
      : kernel_{find_kernel("cuda-tree-lock").create(settings)},
        d_bodies_{static_cast<std::size_t>(count)},
        d_accelerations_{static_cast<std::size_t>(count)},
        d_evaluated_{1} {
    ORRERY_CUDA_CHECK(cudaMemsetAsync(d_evaluated_.data(), 0, sizeof(std::uint64_t), stream_.get()));
  }

  /// Evaluates the accelerations of as many bodies as it has room for.
  void run(const Bodies& bodies, bool times_phases = false) {
    cuda::upload<Vec4>(bodies.positions, d_bodies_.data(), stream_.get());
    kernel_->evaluate({.bodies = d_bodies_.data(),
                       .count = bodies.count(),
                       .masses = mass_range(bodies.positions),
                       .law = {},
                       .epilogue = {.accelerations = d_accelerations_.data()},
                       .stream = stream_.get(),
                       .evaluated = d_evaluated_.data(),
                       .times_phases = times_phases});
    stream_.synchronize();
  }
  std::vector<Vec4> accelerations() const {
    std::vector<Vec4> result(d_accelerations_.size());
    cuda::download<Vec4>(d_accelerations_.data(), result, stream_.get());
    stream_.synchronize();
    return result;
  }
  std::uint64_t evaluated() const {
    std::uint64_t value = 0;
    cuda::download(d_evaluated_.data(), std::span{&value, 1}, stream_.get());
    stream_.synchronize();
    return value;
  }
  const ForceKernel& kernel() const { return *kernel_; }

 private:
  std::unique_ptr<ForceKernel> kernel_;
  cuda::DeviceArray<Vec4> d_bodies_, d_accelerations_;
  cuda::DeviceArray<std::uint64_t> d_evaluated_;
  cuda::Stream stream_;
};

bool contains(const TreeCell& cell, const Vec4& body) {
  // Centers of small cells far from zero are rounded.
  const auto within = [&](float center, float x) {
    return std::abs(x - center) <= cell.half_size + 1e-6f * std::abs(center);
  };
  return within(cell.center.x, body.x) && within(cell.center.y, body.y) && within(cell.center.z, body.z);
}

TEST_F(CudaTreeLock, AgreesForManySizes) {
  for (const int count : {1, 2, 33, 4097, 65'537}) {
    for (const Law& law : {Law{}, attract_repel}) expect_agreement(test::random_ball(count), law);
  }
}

TEST_F(CudaTreeLock, AMillionBodiesAgreeForEveryThrottleAndBlock) {
  const Bodies bodies = test::random_ball(1'000'001);
  const std::vector<int> targets = sample_targets(bodies.count(), 200);
  const std::vector<Vec3d> reference = reference_accelerations(bodies.positions, targets, {});
  for (const Tunable& tunable : info().tunables) {
    if (std::string{tunable.name} == "theta") continue;
    for (const char* value : tunable.values) {
      SCOPED_TRACE(std::string{tunable.name} + '=' + value);
      Evaluations evaluations{bodies.count(), settings(tunable.name, value)};
      evaluations.run(bodies);
      const ForceError error = force_error(evaluations.accelerations(), targets, reference);
      EXPECT_LE(error.median, 1e-3);
      EXPECT_LE(error.max, 0.1);
    }
  }
}

TEST_F(CudaTreeLock, ALesserThetaIsMoreExactAndEvaluatesMore) {
  const Bodies bodies = test::random_ball(20'000);
  double last_median = 0;
  std::uint64_t last_evaluated = std::numeric_limits<std::uint64_t>::max();
  for (const char* theta : info().tunable("theta")->values) {
    SCOPED_TRACE(theta);
    Evaluations evaluations{bodies.count(), settings("theta", theta)};
    evaluations.run(bodies);
    const double median = test::sampled_error(info(), settings("theta", theta), bodies, {}).median;
    EXPECT_GT(median, last_median);
    EXPECT_LT(evaluations.evaluated(), last_evaluated);
    last_median = median;
    last_evaluated = evaluations.evaluated();
  }
}

TEST_F(CudaTreeLock, BodiesInOnePointDoNotPullEachOther) {
  for (const int count : {2, 33, 4097, 65'537}) {
    Bodies bodies = test::random_ball(count);
    for (Vec4& position : bodies.positions) position = {0.1f, -0.7f, 3.3f, position.w};
    for (const Vec4& a : test::accelerations(info(), Settings{info()}, bodies, {.softening = Law::min_softening})) {
      ASSERT_EQ(a, Vec4{});
    }
  }
}

TEST_F(CudaTreeLock, PointsWithManyBodiesEachAgree) {
  Bodies bodies = test::random_ball(10'000);
  for (std::size_t i = 0; i < bodies.positions.size(); ++i) {
    const Vec4& point = bodies.positions[i % 7];
    bodies.positions[i] = {point.x, point.y, point.z, bodies.positions[i].w};
  }
  expect_agreement(bodies, {.softening = Law::min_softening});
}

TEST_F(CudaTreeLock, ALineOfBodiesAgrees) {
  for (const int count : {33, 4097, 65'537}) {
    Bodies bodies = test::random_ball(count);
    for (Vec4& position : bodies.positions) position = {position.x, 0, 0, position.w};
    // The pulls of the two sides nearly cancel, and on each there are few cells whose errors could.
    expect_agreement(bodies, {}, Settings{info()}, {.median = 5e-2, .max = std::numeric_limits<double>::infinity()});
  }
}

TEST_F(CudaTreeLock, TwoClustersAgree) {
  Bodies bodies = test::random_ball(65'537);
  for (std::size_t i = 0; i < bodies.positions.size(); i += 2) bodies.positions[i].y += 1000;
  expect_agreement(bodies);
}

TEST_F(CudaTreeLock, AFarBodyFeelsTheWholeMassAndTheOthersAgree) {
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

TEST_F(CudaTreeLock, PairsThatTakeMoreCellsThanThereAreAgree) {
  Bodies bodies = test::random_ball(20'000);
  for (std::size_t i = 0; i + 1 < bodies.positions.size(); i += 2) {
    const Vec4& first = bodies.positions[i];
    bodies.positions[i + 1] = {first.x, std::nextafter(first.y, 100.0f), first.z, bodies.positions[i + 1].w};
  }
  expect_agreement(bodies);
  Evaluations evaluations{bodies.count(), Settings{info()}};
  evaluations.run(bodies);
  EXPECT_GT(evaluations.kernel().tree_report()->cells, 20'000) << "there were enough";
}

TEST_F(CudaTreeLock, BodiesThatAreNotFiniteEndAndLeaveNothingBehind) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  const Bodies healthy = test::random_ball(4097);
  Evaluations evaluations{healthy.count(), Settings{info()}};
  for (const float value : {nan, infinity, -infinity, 1e30f}) {
    for (const int ill_bodies : {1, 4097}) {
      Bodies ill = healthy;
      for (int i = 0; i < ill_bodies; ++i) ill.positions[static_cast<std::size_t>(i)].y = value;
      evaluations.run(ill);
      evaluations.run(healthy);
      test::expect_agreement(evaluations.accelerations(), healthy, {}, info().tolerance);
    }
  }
}

TEST_F(CudaTreeLock, ReportsWhatItEvaluated) {
  const int count = 10'000;
  const Bodies bodies = test::random_ball(count);
  Evaluations evaluations{count, Settings{info()}};
  EXPECT_FALSE(evaluations.kernel().tree_report());
  EXPECT_TRUE(evaluations.kernel().tree_cells(10).empty());
  evaluations.run(bodies);
  const auto report = evaluations.kernel().tree_report();
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->phases.empty()) << "they were not timed";
  EXPECT_EQ(static_cast<std::uint64_t>(report->interactions), evaluations.evaluated());
  EXPECT_GT(report->interactions, 100 * count);
  EXPECT_LT(report->interactions, static_cast<std::int64_t>(count) * count / 2);
  EXPECT_GT(report->cells, count / 4);
  EXPECT_LT(report->cells, count);
  EXPECT_GT(report->depth, 5);
  EXPECT_LT(report->depth, 31);

  for (int run = 0; run < 9; ++run) evaluations.run(bodies, true);
  const auto timed = evaluations.kernel().tree_report();
  ASSERT_TRUE(timed);
  EXPECT_EQ(timed->phases.size(), 6u);
  for (const TreePhase& phase : timed->phases) EXPECT_GT(phase.ms, 0) << phase.name;
  EXPECT_EQ(timed->depth, report->depth);
  EXPECT_EQ(timed->cells, report->cells);
  EXPECT_GT(evaluations.evaluated(), 9u * static_cast<std::uint64_t>(report->interactions));
}

TEST_F(CudaTreeLock, CellsAreNestedCubesAroundBodies) {
  const Bodies bodies = test::random_ball(2000);
  Evaluations evaluations{bodies.count(), Settings{info()}};
  evaluations.run(bodies);
  const auto report = evaluations.kernel().tree_report();
  const auto cells = evaluations.kernel().tree_cells(1'000'000);
  ASSERT_TRUE(report);
  ASSERT_EQ(static_cast<std::int64_t>(cells.size()), report->cells);
  EXPECT_EQ(cells.front().level, 0);
  EXPECT_EQ(cells.back().level, report->depth);
  EXPECT_TRUE(std::ranges::is_sorted(cells, {}, &TreeCell::level));
  for (const TreeCell& cell : cells) {
    const auto inside = std::ranges::count_if(bodies.positions, [&](const Vec4& body) { return contains(cell, body); });
    if (cell.level == 0) {
      EXPECT_EQ(inside, bodies.count());
    } else {
      EXPECT_GE(inside, 2) << "a cell divides bodies";
    }
    EXPECT_EQ(std::ldexp(cell.half_size, cell.level), cells.front().half_size);
  }
  const auto few = evaluations.kernel().tree_cells(9);
  ASSERT_EQ(few.size(), 9u);
  EXPECT_LE(few.back().level, cells[8].level);
}

}  // namespace
}  // namespace orrery
