// Every kernel of the backend under test computes the same physics as the fp64 direct sum, whatever its settings.
#include "tests/compute/support/backend.h"
#include "tests/compute/support/distances.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

namespace orrery {
namespace {

using test::attract_repel;

class EveryKernel : public test::KernelTest {
 protected:
  void expect_agreement(const Settings& settings, int count) const {
    const Bodies bodies = test::random_ball(count);
    for (const Law& law : {Law{}, attract_repel}) {
      SCOPED_TRACE(std::string{info().id} + ' ' + settings.to_string() + ", " + law_info(law.id).id +
                   ", n = " + std::to_string(count));
      test::expect_agreement(test::accelerations(info(), settings, bodies, law), bodies, law,
                             test::tolerance_at(info(), settings));
    }
  }

  /// The listed values, and of a range of numbers the least and one in between.
  static std::vector<std::string> values_to_try(const Tunable& tunable) {
    std::vector<std::string> values{tunable.values.begin(), tunable.values.end()};
    if (!tunable.numbers) return values;
    const double between = 1.05 * std::sqrt(tunable.numbers->least * tunable.numbers->most);
    for (const double number : {tunable.numbers->least, tunable.whole ? std::floor(between) : between}) {
      values.push_back(tunable.allowed(shortest_text(number)).value());
    }
    return values;
  }

  /// One tunable at a time; the others keep their initial values, but for small blocks, so that 2049 bodies fill every
  /// split.
  void expect_agreement_for_every_value(std::initializer_list<int> counts) const {
    for (const Tunable& tunable : info().tunables) {
      for (const std::string& value : values_to_try(tunable)) {
        Settings settings{info()};
        if (const Tunable* block = info().tunable("block")) settings.set("block", block->values.front());
        settings.set(tunable.name, value);
        for (const int count : counts) expect_agreement(settings, count);
      }
    }
  }
};

// The tests named Brief... are those that tests/gpu/evidence.sh gives to the slowest sanitizer.
TEST_P(EveryKernel, BriefAgreementOneBodyPastWholeBlocks) {
  for (const int count : {1, 33, 257, 4097}) expect_agreement(Settings{info()}, count);
}

TEST_P(EveryKernel, AgreesWithTheDirectSum) {
  for (const int count : {2, 31, 32, 255, 256, 1000}) expect_agreement(Settings{info()}, count);
}

TEST_P(EveryKernel, BriefAgreementForEveryValueOfEveryTunable) {
  expect_agreement_for_every_value({1, 130});
}

TEST_P(EveryKernel, AgreesForEveryValueOfEveryTunable) {
  expect_agreement_for_every_value({1000, 2049});
}

TEST_P(EveryKernel, AgreesWhereSeveralTunablesChangeAtOnce) {
  std::mt19937 random{1};
  for (int round = 0; round < 24; ++round) {
    Settings settings{info()};
    for (const Tunable& tunable : info().tunables) {
      settings.set(tunable.name, tunable.values[random() % tunable.values.size()]);
    }
    if (const Tunable* block = info().tunable("block")) {
      settings.set("block", block->values[static_cast<std::size_t>(round % 2)]);  // small, as above
    }
    for (const int count : {1, 65, 777}) expect_agreement(settings, count);
  }
}

TEST_P(EveryKernel, AgreesForOneObjectAndChangingCounts) {
  const auto kernel = test::backends().make_kernel(info(), Settings{info()});
  for (const int count : {1000, 7, 2049, 2048, 1}) {
    SCOPED_TRACE(count);
    const Bodies bodies = test::random_ball(count);
    test::expect_agreement(test::evaluate(*kernel, bodies, {.law = {}}).accelerations, bodies, {}, info().tolerance);
  }
}

TEST_P(EveryKernel, StaysFiniteWhereBodiesMeetAtTheLeastSoftening) {
  Bodies bodies = test::random_ball(100);
  for (int i = 0; i < 50; ++i) bodies.positions[static_cast<std::size_t>(2 * i)] = bodies.positions[1];
  for (Law law : {Law{}, attract_repel}) {
    law.softening = Law::min_softening;
    SCOPED_TRACE(law_info(law.id).id);
    test::expect_agreement(test::accelerations(info(), Settings{info()}, bodies, law), bodies, law, info().tolerance);
  }
}

TEST_P(EveryKernel, FusedKickEqualsStoringAndKicking) {
  const float dt = 0.25f;
  Law with_drag = attract_repel;
  with_drag.drag = 1e-3f;  // a quarter of the velocity in one kick of a body of mass 1/1000
  for (const Settings& settings : test::settings_with_each(info(), "epilogue")) {
    const auto kernel = test::backends().make_kernel(info(), settings);
    for (const Law& law : {Law{}, with_drag}) {
      for (const int count : {1, 257, 1000}) {
        SCOPED_TRACE(settings.to_string() + ", " + law_info(law.id).id + ", n = " + std::to_string(count));
        const Bodies bodies = test::random_ball(count);
        const auto stored = test::evaluate(*kernel, bodies, {.law = law});
        const auto fused = test::evaluate(*kernel, bodies, {.law = law, .store = false, .kick_dt = dt});
        const auto both = test::evaluate(*kernel, bodies, {.law = law, .store = true, .kick_dt = dt});
        EXPECT_EQ(stored.velocities, bodies.velocities) << "no kick was asked for";
        if (info().repeatable) {
          EXPECT_EQ(both.accelerations, stored.accelerations);
          EXPECT_EQ(both.velocities, fused.velocities);
        }
        for (std::size_t i = 0; i < bodies.positions.size(); ++i) {
          const Vec4& a = stored.accelerations[i];
          ASSERT_TRUE(fused.accelerations[i].x != fused.accelerations[i].x) << "nothing was to be stored";
          const Vec4 kicked =
              Epilogue::kicked(bodies.velocities[i], {a.x, a.y, a.z}, bodies.positions[i].w, law.effective_drag(), dt);
          // The compiler may fuse the multiplications and additions of one of the two, and where a kernel adds up in
          // another order each time, the sums differ, too.
          const double allowed = info().repeatable ? 1e-6 : 1e-5;
          for (const test::ForceResult* kick : {&fused, &both}) {
            ASSERT_LT(test::distance(kick->velocities[i], kicked), 1.7 * allowed) << "body " << i;
            ASSERT_EQ(kick->velocities[i].w, 0) << "body " << i;
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryKernel, testing::ValuesIn(test::kernels_under_test()), test::test_name);

}  // namespace
}  // namespace orrery
