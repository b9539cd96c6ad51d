// One body in one step: kicks, drifts and Hermite corrections.
#include "compute/integrators/update.h"

#include "compute/integrators/hermite.h"
#include "tests/test.h"

namespace orrery {
namespace {

int kick_drift(std::vector<Vec4>& positions, std::vector<Vec4>& velocities, const std::vector<Vec4>& accelerations,
               double kick_dt, float drag, double drift_dt) {
  const StateArrays arrays{
      .positions = positions.data(), .velocities = velocities.data(), .accelerations = accelerations.data()};
  return orrery::kick_drift(arrays, static_cast<int>(positions.size()), kick_dt, drag, drift_dt);
}

TEST(KickDrift, KicksThenDrifts) {
  std::vector<Vec4> positions{{1, 2, 3, 4}, {0, 0, 0, 2}};
  std::vector<Vec4> velocities{{1, 0, -1, 0}, {0, 8, 0, 0}};
  const std::vector<Vec4> accelerations{{2, 4, 6, 0}, {0, 0, 1, 0}};
  kick_drift(positions, velocities, accelerations, /*kick_dt=*/0.5, /*drag=*/0, /*drift_dt=*/2);
  EXPECT_EQ(velocities, (std::vector<Vec4>{{2, 2, 2, 0}, {0, 8, 0.5f, 0}}));
  EXPECT_EQ(positions, (std::vector<Vec4>{{5, 6, 7, 4}, {0, 16, 1, 2}})) << "with the velocities after the kick";
}

TEST(KickDrift, DragActsOnTheVelocityByMass) {
  std::vector<Vec4> positions{{0, 0, 0, 4}};
  std::vector<Vec4> velocities{{8, -8, 0, 0}};
  kick_drift(positions, velocities, std::vector<Vec4>(1), /*kick_dt=*/0.5, /*drag=*/1, /*drift_dt=*/0);
  EXPECT_EQ(velocities.front(), (Vec4{7, -7, 0, 0})) << "v - (1 / 4) v / 2";
  EXPECT_EQ(positions.front(), (Vec4{0, 0, 0, 4}));
}

TEST(KickDrift, WithoutAKickReadsNoAccelerationsAndDragsNothing) {
  std::vector<Vec4> positions{{1, 1, 1, 1}};
  std::vector<Vec4> velocities{{1, 2, 3, 0}};
  kick_drift(positions, velocities, {}, /*kick_dt=*/0, /*drag=*/5, /*drift_dt=*/2);
  EXPECT_EQ(velocities.front(), (Vec4{1, 2, 3, 0}));
  EXPECT_EQ(positions.front(), (Vec4{3, 5, 7, 1}));
}

TEST(KickDrift, TakesNoBodies) {
  EXPECT_EQ(orrery::kick_drift({}, 0, 1, 0, 1), -1);
}

TEST(KickDrift, NamesTheFirstBodyThatIsNotFiniteAfterwards) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), huge = std::numeric_limits<float>::max();
  const std::vector<Vec4> at_rest(4, Vec4{0, 0, 0, 1}), still(4), none(4);
  const auto first = [&](auto change) {
    std::vector<Vec4> positions = at_rest, velocities = still, accelerations = none;
    change(positions, velocities, accelerations);
    const int body = kick_drift(positions, velocities, accelerations, 2, 0, 2);
    EXPECT_EQ(body, first_not_finite(positions, velocities));
    return body;
  };
  EXPECT_EQ(first([](auto&, auto&, auto&) {}), -1);
  EXPECT_EQ(first([](auto& x, auto&, auto&) { x[3].y = nan; }), 3);
  EXPECT_EQ(first([](auto& x, auto&, auto&) { x[2].w = nan; }), 2) << "a mass";
  EXPECT_EQ(first([](auto& x, auto& v, auto&) { x[3].y = nan, v[1].z = -nan; }), 1);
  EXPECT_EQ(first([](auto&, auto& v, auto&) { v[2].x = huge; }), 2) << "the drift overflows";
  EXPECT_EQ(first([](auto&, auto&, auto& a) { a[1].x = huge; }), 1) << "the kick overflows";
}

/// A body around a mass of 1 at rest in the origin.
Pull pull_at(const PreciseBody& body) {
  const Vec3d &x = body.position, &v = body.velocity;
  const double r = length_of(x), along = x.x * v.x + x.y * v.y + x.z * v.z;
  const double s = -1 / (r * r * r);
  return {plus({}, s, x), plus(plus({}, s, v), -3 * s * along / (r * r), x)};
}

HermiteBody orbit() {
  HermiteBody at{.body = {{1, 0, 0}, 1, {0, 0.8, 0.1}}, .pull = {}};
  at.pull = pull_at(at.body);
  return at;
}

/// P(EC)^n: each iteration corrects the same begin of the step.
void step(HermiteBody& at, double dt, int iterations) {
  PreciseBody guess = predicted(at, dt);
  HermiteBody end = at;
  for (int n = 0; n < iterations; ++n) {
    end = at;
    correct(end, pull_at(guess), dt);
    guess = end.body;
  }
  at = end;
  if (iterations > 1) at.pull = pull_at(at.body);
}

/// The distance to the start after `steps` there and back.
double return_error(int steps, double time, int iterations) {
  HermiteBody at = orbit();
  for (int i = 0; i < steps; ++i) step(at, time / steps, iterations);
  EXPECT_GT(length_of(plus(at.body.position, -1, orbit().body.position)), 0.1);
  at.body.velocity = plus({}, -1, at.body.velocity);
  at.pull = pull_at(at.body);
  for (int i = 0; i < steps; ++i) step(at, time / steps, iterations);
  return length_of(plus(at.body.position, -1, orbit().body.position));
}

TEST(HermiteUpdate, IteratedStepsAreReversible) {
  const double once = return_error(100, 3, 1), coarse = return_error(50, 3, 1);
  EXPECT_GT(once, 1e-9) << "one correction is not";
  EXPECT_GT(coarse / once, 12) << "but its error is of fourth order at least";
  EXPECT_LT(return_error(100, 3, 3), 1e-2 * once);
  EXPECT_LT(return_error(100, 3, 12), 1e-12);
}

TEST(HermiteUpdate, PredictsAndCorrectsPolynomialsExactly) {
  // x = t^3: the prediction is exact; x = t^4, v = 4 t^3: so is the corrected velocity.
  const HermiteBody cubic{.body = {{1, 0, 0}, 1, {3, 0, 0}}, .pull = {{6, 0, 0}, {6, 0, 0}}};
  EXPECT_DOUBLE_EQ(predicted(cubic, 0.5).position.x, 1.5 * 1.5 * 1.5);
  EXPECT_DOUBLE_EQ(predicted(cubic, 0.5).velocity.x, 3 * 1.5 * 1.5);
  HermiteBody quartic{.body = {{1, 0, 0}, 1, {4, 0, 0}}, .pull = {{12, 0, 0}, {24, 0, 0}}};
  correct(quartic, {{12 * 1.5 * 1.5, 0, 0}, {24 * 1.5, 0, 0}}, 0.5);
  EXPECT_DOUBLE_EQ(quartic.body.velocity.x, 4 * 1.5 * 1.5 * 1.5);
  EXPECT_DOUBLE_EQ(quartic.body.position.x, 1.5 * 1.5 * 1.5 * 1.5);
}

TEST(HermiteUpdate, AarsethsCriterionTakesTheDerivativesAtTheEnd) {
  // a = t^3 from 1 to 1.5: a'' = 6 t, a''' = 6.
  const Pull begin{{1, 0, 0}, {3, 0, 0}}, end{{3.375, 0, 0}, {6.75, 0, 0}};
  const double expected = std::sqrt(0.02 * (3.375 * 9 + 6.75 * 6.75) / (6.75 * 6 + 81));
  EXPECT_NEAR(longest_step_after(begin, end, 0.5, 0.02), expected, 1e-12);
  EXPECT_TRUE(std::isnan(longest_step_after({}, {}, 0.5, 0.02)));
}

TEST(HermiteUpdate, TheFirstStepIsTheShorterOfTwoCriteria) {
  const StepCriterion criterion{.softening = 0.2f, .eta = 0.025f};
  EXPECT_NEAR(first_longest_step({{1, 0, 0}, {2, 0, 0}}, criterion), 0.0125, 1e-9);
  EXPECT_NEAR(first_longest_step({{1, 0, 0}, {}}, criterion), 0.1, 1e-8) << "at rest";
}

TEST(HermiteUpdate, ALevelRisesWheneverItMustAndFallsByOneWhereALongerStepMayBegin) {
  const auto next = [](int number, int level, double longest) {
    return next_level({.time_step = 1, .deepest = 8, .number = number}, level, longest);
  };
  EXPECT_EQ(next(32, 3, 0.125), 3);
  EXPECT_EQ(next(32, 3, 0.1), 4);
  EXPECT_EQ(next(32, 3, 1e-9), most_level);
  EXPECT_EQ(next(32, 3, 0.5), 3) << "steps of 1/4 begin at multiples of 64";
  EXPECT_EQ(next(64, 3, 0.5), 2);
  EXPECT_EQ(next(64, 3, 0.2), 3);
  EXPECT_EQ(next(256, 0, 4), 0);
  EXPECT_EQ(next(64, 3, std::numeric_limits<double>::quiet_NaN()), 2) << "nothing bounds it";
}

TEST(HermiteUpdate, OwnTimeCountsFromTheBeginOfTheBodysStep) {
  const auto time = [](int number, int level) {
    return own_time({.time_step = 2, .deepest = 8, .number = number}, level);
  };
  EXPECT_DOUBLE_EQ(time(256, 0), 2);
  EXPECT_DOUBLE_EQ(time(1, 0), 2.0 / 256);
  EXPECT_DOUBLE_EQ(time(65, 2), 2.0 / 256);
  EXPECT_DOUBLE_EQ(time(128, 2), 0.5);
  EXPECT_DOUBLE_EQ(own_time({.time_step = 2, .deepest = 0, .number = 1}, 0), 2);
}

TEST(HermiteUpdate, DragAndItsRateActAtTheVelocity) {
  Pull pull{{1, 0, 0}, {0, 1, 0}};
  const PreciseBody body{{}, 2, {0, 4, 0}};
  add_drag(pull, body, 0.5);
  EXPECT_EQ(pull.acceleration, (Vec3d{1, -1, 0}));
  EXPECT_EQ(pull.jerk, (Vec3d{-0.25, 1.25, 0}));
}

}  // namespace
}  // namespace orrery
