// Levels of time steps, and leapfrog with block steps over a direct sum of its own.
#include "compute/core/bodies.h"
#include "compute/core/law.h"
#include "compute/integrators/integrator.h"
#include "compute/integrators/time_step_levels.h"
#include "compute/integrators/update.h"
#include "tests/test.h"

namespace orrery {
namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();

TEST(StepCriterion, IsThatOfTheLiterature) {
  const StepCriterion criterion{.softening = 0.2f};
  EXPECT_NEAR(criterion.longest_step(1), 0.1, 1e-8) << "sqrt(0.05 * 0.2 / 1)";
  EXPECT_NEAR(criterion.longest_step(4), 0.05, 1e-8);
  EXPECT_EQ(criterion.longest_step(0), infinite);
}

TEST(StepCriterion, WithoutSofteningAClosePairGetsAFixedPartOfItsPeriod) {
  const StepCriterion criterion{.softening = 1e-6f, .mean_mass = 0.5f};
  for (const double distance : {1e-3, 1e-2, 1.0}) {
    const double period = 2 * std::acos(-1.0) * std::sqrt(std::pow(distance, 3) / 1.0);
    EXPECT_NEAR(criterion.longest_step(0.5 / (distance * distance)) / period, 0.0503, 1e-4) << distance;
  }
}

TEST(StepCriterion, ALevelsStepIsTheFirstThatIsNotLonger) {
  const StepCriterion criterion{.softening = 0.2f};
  const auto level = [&](float acceleration) { return criterion.level(0.4f, {0, acceleration, 0, 7}); };
  EXPECT_EQ(level(0), 0);
  EXPECT_EQ(level(0.0624f), 0) << "0.4";
  EXPECT_EQ(level(0.0626f), 1);
  EXPECT_EQ(level(-0.99f), 2);
  EXPECT_EQ(level(1.01f), 3);
  EXPECT_EQ(level(1e30f), most_leapfrog_level);
  EXPECT_EQ(level(infinite), most_leapfrog_level);
  EXPECT_EQ(level(nan_value), 0);
  EXPECT_EQ(level(std::numeric_limits<float>::max()), most_leapfrog_level);
  EXPECT_EQ(StepCriterion{}.level(0.4f, {}), 0) << "massless bodies without softening";
}

/// Follows the substeps and checks that each body's kicks and drifts are those of its own leapfrog.
TEST(Substep, EachLevelIsALeapfrogOfItsOwn) {
  for (int deepest = 0; deepest <= most_leapfrog_level; ++deepest) {
    for (int level = 0; level <= deepest; ++level) {
      const float own = 1.0f / static_cast<float>(1 << level);
      float kicked = 0, at_step_begin = 0, position = 0;
      int kicks = 0;
      Substep now{.time_step = 1, .deepest = deepest};
      for (; now.number <= now.last(); ++now.number) {
        EXPECT_LE(now.lowest_active(), deepest);
        if (level >= now.lowest_active()) {
          EXPECT_EQ(position, own * static_cast<float>(kicks)) << "of " << deepest << ": " << now.number;
          EXPECT_EQ(now.kick_dt(level), kicks == 0 || position == 1 ? own / 2 : own);
          kicked += now.kick_dt(level);
          ++kicks;
          at_step_begin = position;
        }
        if (now.number < now.last()) position = at_step_begin + now.drift_dt(level);
        EXPECT_EQ(position, std::min(1.0f, static_cast<float>(now.number + 1) / static_cast<float>(now.last())));
      }
      EXPECT_EQ(kicks, (1 << level) + 1);
      EXPECT_EQ(kicked, 1);
    }
  }
}

TEST(BodyLevels, ListTheDeepestFirst) {
  BodyLevels levels;
  const StepCriterion criterion{.softening = 0.2f};
  std::vector<Vec4> accelerations{{0.05f}, {1.01f}, {}, {0.0626f}, {1.01f}, {-0.05f}};
  EXPECT_EQ(levels.assign(criterion, 0.4f, accelerations), 3);
  EXPECT_EQ(levels.counts(), (LevelCounts{3, 0, 0, 3})) << "one of level 1 is too few beside two below";
  accelerations.push_back({-0.0626f});
  accelerations.push_back({});
  EXPECT_EQ(levels.assign(criterion, 0.4f, accelerations), 3);
  EXPECT_EQ(levels.counts(), (LevelCounts{4, 2, 0, 2}));
  const auto active = [&](int number) {
    const auto bodies = levels.active({.time_step = 0.4f, .deepest = 3, .number = number});
    return std::vector<int>{bodies.begin(), bodies.end()};
  };
  EXPECT_EQ(active(0), (std::vector<int>{1, 4, 3, 6, 0, 2, 5, 7}));
  EXPECT_EQ(active(8), active(0));
  EXPECT_EQ(active(4), (std::vector<int>{1, 4, 3, 6}));
  EXPECT_EQ(active(2), (std::vector<int>{1, 4}));
  EXPECT_EQ(active(7), (std::vector<int>{1, 4}));
}

TEST(BodyLevels, FewBodiesJoinADeeperLevel) {
  const auto counts = [](const LevelCounts& asked) {
    LevelCounts joined{};
    const LevelSet kept = kept_levels(asked);
    for (int level = 0; level < level_count; ++level) {
      joined[static_cast<std::size_t>(joined_level(level, kept))] += asked[static_cast<std::size_t>(level)];
    }
    return joined;
  };
  EXPECT_EQ(counts({50, 50}), (LevelCounts{50, 50}));
  EXPECT_EQ(counts({49, 51}), (LevelCounts{0, 100}));
  EXPECT_EQ(counts({20, 30, 0, 50}), (LevelCounts{0, 50, 0, 50}));
  EXPECT_EQ(counts({80, 15, 5}), (LevelCounts{80, 15, 5}));
  EXPECT_EQ(counts({80, 5, 15}), (LevelCounts{80, 0, 20}));
  EXPECT_EQ(counts({32, 40, 32, 16, 8, 4, 2, 1, 1}), (LevelCounts{0, 72, 32, 16, 8, 4, 2, 1, 1}));
  EXPECT_EQ(counts({0, 0, 7}), (LevelCounts{0, 0, 7}));
  EXPECT_EQ(counts({}), LevelCounts{});
}

/// Gravity in double precision for whichever integrator asks. Accelerations that nobody may read are not numbers.
class DirectSum final : public StepOps {
 public:
  DirectSum(Bodies bodies, const StepCriterion& criterion) : bodies_{std::move(bodies)}, criterion_{criterion} {}

  void force(bool /*store*/, double kick_dt) override {
    evaluate(all());
    kick_drift(kick_dt, 0);
    current_ = true;
  }
  void kick_drift(double kick_dt, double drift_dt) override {
    orrery::kick_drift(arrays(), bodies_.count(), kick_dt, 0, drift_dt);
    current_ = false;
  }
  bool accelerations_current() const override { return current_; }
  int assign_levels(float time_step) override { return levels_.assign(criterion_, time_step, accelerations_); }
  void force_levels(const Substep& now) override {
    evaluate(levels_.active(now));
    current_ = now.lowest_active() == 0;
  }
  void kick_drift_levels(const Substep& now) override {
    EXPECT_EQ(levels_.kick_drift(now, arrays(), 0), -1);
    if (now.number < now.last()) current_ = false;
  }
  HermiteOps& hermite() override { throw std::logic_error("leapfrogs need no jerks"); }

  const Bodies& bodies() const { return bodies_; }
  const LevelCounts& counts() const { return levels_.counts(); }
  int evaluated = 0;  // bodies

 private:
  std::vector<int> all() const {
    std::vector<int> all(bodies_.positions.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  StateArrays arrays() {
    return {.positions = bodies_.positions.data(),
            .velocities = bodies_.velocities.data(),
            .accelerations = accelerations_.data()};
  }
  void evaluate(std::span<const int> targets) {
    accelerations_.assign(bodies_.positions.size(), {nan_value, nan_value, nan_value, 0});
    const double softening = criterion_.softening;
    for (const int i : targets) {
      const Vec4 me = bodies_.positions[static_cast<std::size_t>(i)];
      Vec3d a;
      for (const Vec4& body : bodies_.positions) {
        add_pull<double>(a, Gravity<double>{softening * softening}, me.x, me.y, me.z, body);
      }
      accelerations_[static_cast<std::size_t>(i)] = {static_cast<float>(a.x), static_cast<float>(a.y),
                                                     static_cast<float>(a.z), 0};
      ++evaluated;
    }
  }

  Bodies bodies_;
  StepCriterion criterion_;
  std::vector<Vec4> accelerations_;
  BodyLevels levels_;
  bool current_ = false;
};

/// A close pair on a circle of period 0.2, far from six light bodies, which are on circles around it.
Bodies binary_and_far_bodies() {
  const float distance = 0.1f, speed = std::sqrt(1 / distance) / 2;
  Bodies bodies{{{distance / 2, 0, 0, 0.5f}, {-distance / 2, 0, 0, 0.5f}}, {{0, speed, 0, 0}, {0, -speed, 0, 0}}};
  for (int i = 0; i < 6; ++i) {
    const float far = 2 + 0.1f * static_cast<float>(i), angle = static_cast<float>(i), far_speed = std::sqrt(1 / far);
    bodies.positions.push_back({far * std::cos(angle), far * std::sin(angle), 0, 1e-4f});
    bodies.velocities.push_back({-far_speed * std::sin(angle), far_speed * std::cos(angle), 0, 0});
  }
  return bodies;
}

double distance(const Vec4& a, const Vec4& b) {
  return std::hypot(double{a.x} - b.x, double{a.y} - b.y, double{a.z} - b.z);
}

/// To time 0.25, with a criterion by which the pair has level 3, however long the steps are, and the far bodies level
/// 0.
DirectSum integrated(const char* integrator, int steps) {
  const float mean_mass = 2.7e-3f * std::pow(16.0f / static_cast<float>(steps), 4.0f);
  DirectSum sum{binary_and_far_bodies(), {.softening = 1e-4f, .mean_mass = mean_mass}};
  for (int step = 0; step < steps; ++step) find_integrator(integrator).step(sum, 0.25f / static_cast<float>(steps));
  return sum;
}

TEST(LeapfrogBlocks, ErrorsFallByFourWhenEveryStepHalves) {
  const Bodies exact = integrated("leapfrog", 16'384).bodies();
  const DirectSum coarse = integrated("leapfrog-blocks", 16), fine = integrated("leapfrog-blocks", 32);
  EXPECT_EQ(coarse.counts(), (LevelCounts{6, 0, 0, 2}));
  EXPECT_EQ(fine.counts(), coarse.counts());
  for (const std::size_t body : {0u, 1u}) {
    const double coarse_error = distance(coarse.bodies().positions[body], exact.positions[body]);
    const double fine_error = distance(fine.bodies().positions[body], exact.positions[body]);
    EXPECT_NEAR(coarse_error / fine_error, 4, 0.4) << coarse_error << ' ' << fine_error;
  }
  EXPECT_LT(distance(fine.bodies().positions[2], exact.positions[2]), 1e-4);
}

TEST(LeapfrogBlocks, EvaluatesABodyWhenItsOwnStepEnds) {
  EXPECT_EQ(integrated("leapfrog-blocks", 16).evaluated, 8 + 16 * (6 + 8 * 2));  // and reads no other acceleration
}

TEST(LeapfrogBlocks, WithLevelZeroAloneItIsLeapfrogToTheBit) {
  const StepCriterion lax{.softening = 1e-4f, .mean_mass = 1e6f};
  DirectSum blocks{binary_and_far_bodies(), lax}, plain{binary_and_far_bodies(), lax};
  for (int step = 0; step < 100; ++step) {
    find_integrator("leapfrog-blocks").step(blocks, 1e-3f);
    leapfrog.step(plain, 1e-3f);
  }
  EXPECT_EQ(blocks.counts(), (LevelCounts{8}));
  EXPECT_EQ(blocks.bodies(), plain.bodies());
  EXPECT_EQ(blocks.evaluated, plain.evaluated);
}

}  // namespace
}  // namespace orrery
