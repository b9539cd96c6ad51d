// A kernel that takes targets computes the accelerations of exactly those bodies, the same as for all bodies.
#include "tests/compute/support/backend.h"
#include "tests/compute/support/distances.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

namespace orrery {
namespace {

using test::attract_repel;

using test::random_targets;

bool is_listed(const std::vector<int>& targets, std::size_t body) {
  return std::ranges::find(targets, static_cast<int>(body)) != targets.end();
}

class KernelWithTargets : public test::KernelTest {
 protected:
  static std::unique_ptr<ForceKernel> make(const Settings& settings) {
    return test::backends().make_kernel(info(), settings);
  }

  static void expect_error(const std::vector<Vec4>& found, const std::vector<int>& targets,
                           const std::vector<Vec3d>& reference, const Tolerance& tolerance) {
    const ForceError error = target_error(entries(found, targets), targets, reference);
    EXPECT_LE(error.max, tolerance.max) << "body " << error.worst;
    if (targets.size() > 30) {
      EXPECT_LE(error.median, tolerance.median);
    }
  }

  /// Fails the test unless the targets have the accelerations of the direct sum, and of the kernel's own evaluation of
  /// all bodies, and no other body has any.
  static void expect_agreement(ForceKernel& kernel, const Settings& settings, const Bodies& bodies, const Law& law,
                               const std::vector<int>& targets) {
    expect_agreement(kernel, settings, bodies, law, targets,
                     [&] { return test::evaluate(kernel, bodies, {.law = law}).accelerations; });
  }
  template <class Evaluation>
  static void expect_agreement(ForceKernel& kernel, const Settings& settings, const Bodies& bodies, const Law& law,
                               const std::vector<int>& targets, const Evaluation& of_all_bodies) {
    SCOPED_TRACE(std::string{info().id} + ' ' + settings.to_string() + ", " + law_info(law.id).id + ", " +
                 std::to_string(targets.size()) + " of " + std::to_string(bodies.count()));
    const std::vector<Vec4> found = test::evaluate(kernel, bodies, {.law = law, .targets = targets}).accelerations;
    expect_error(found, targets, reference_accelerations(bodies.positions, targets, law),
                 test::tolerance_at(info(), settings));

    const std::vector<Vec4> all = of_all_bodies();
    std::vector<Vec3d> of_all;
    for (const Vec4& a : entries(all, targets)) of_all.push_back({a.x, a.y, a.z});
    // On a GPU the same pulls may be added in another order.
    const bool same_bits = info().backend == Backend::cpu;
    expect_error(found, targets, of_all, same_bits ? Tolerance{0, 0} : Tolerance{.median = 1e-5, .max = 5e-3});

    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(std::isnan(found[i].x), !is_listed(targets, i)) << "body " << i;
    }
  }
};

class TakesTargets : public KernelWithTargets {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TakesTargets);

TEST_P(TakesTargets, BriefAgreementOfRandomSubsets) {
  const Bodies unequal = test::random_ball(1009), equal = test::with_equal_masses(unequal);
  const Settings settings{info()};
  const auto kernel = make(settings);
  unsigned seed = 0;
  for (const int size : {1, 2, 31, 33, 255, 256, 257, 504, 1009}) {
    const std::vector<int> targets = random_targets(1009, size, ++seed);
    for (const Law& law : {Law{}, attract_repel}) {
      for (const Bodies* bodies : {&unequal, &equal}) expect_agreement(*kernel, settings, *bodies, law, targets);
    }
  }
}

TEST_P(TakesTargets, OfFewBodiesAgree) {
  const Settings settings{info()};
  const auto kernel = make(settings);
  for (const int count : {1, 2, 33}) {
    const Bodies bodies = test::random_ball(count);
    for (const int target : {0, count / 2, count - 1}) expect_agreement(*kernel, settings, bodies, {}, {target});
  }
}

TEST_P(TakesTargets, OfManyBodiesAgree) {
  const Bodies bodies = test::random_ball(9001);
  const Settings settings{info()};
  const auto kernel = make(settings);
  const std::vector<Vec4> all = test::evaluate(*kernel, bodies, {.law = {}}).accelerations;
  for (const int size : {3, 300, 4500}) {
    const std::vector<int> targets = random_targets(bodies.count(), size, 7);
    expect_agreement(*kernel, settings, bodies, {}, targets, [&] { return all; });
  }
}

TEST_P(TakesTargets, AgreeForEveryValueOfEveryTunable) {
  const Bodies bodies = test::random_ball(1009);
  for (const Tunable& tunable : info().tunables) {
    for (const char* value : tunable.values) {
      Settings settings{info()};
      settings.set(tunable.name, value);
      const auto kernel = make(settings);
      for (const int size : {1, 200}) {
        expect_agreement(*kernel, settings, bodies, attract_repel, random_targets(bodies.count(), size, 3));
      }
    }
  }
}

TEST_P(TakesTargets, KickTheTargetsAndNoOthers) {
  const Bodies bodies = test::random_ball(513);
  const std::vector<int> targets = random_targets(bodies.count(), 100, 5);
  Law law = attract_repel;
  law.drag = 1e-3f;
  constexpr float dt = 0.25f;
  for (const Settings& settings : test::settings_with_each(info(), "epilogue")) {
    SCOPED_TRACE(settings.to_string());
    const auto kernel = make(settings);
    const auto stored = test::evaluate(*kernel, bodies, {.law = law, .targets = targets});
    const auto kicked =
        test::evaluate(*kernel, bodies, {.law = law, .store = false, .kick_dt = dt, .targets = targets});
    EXPECT_EQ(stored.velocities, bodies.velocities) << "no kick was asked for";
    for (std::size_t i = 0; i < bodies.positions.size(); ++i) {
      ASSERT_TRUE(std::isnan(kicked.accelerations[i].x)) << "nothing was to be stored";
      Vec4 expected = bodies.velocities[i];
      if (is_listed(targets, i)) {
        const Vec4& a = stored.accelerations[i];
        expected = Epilogue::kicked(expected, {a.x, a.y, a.z}, bodies.positions[i].w, law.effective_drag(), dt);
      }
      ASSERT_LT(test::distance(kicked.velocities[i], expected), 1.7e-5) << "body " << i;
    }
  }
}

class TreeTakesTargets : public KernelWithTargets {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TreeTakesTargets);

TEST_P(TreeTakesTargets, CountsTheInteractionsOfTheTargetsAlone) {
  const Bodies bodies = test::random_ball(5000);
  const auto kernel = make(Settings{info()});
  const auto evaluated = [&](const std::vector<int>& targets) {
    std::uint64_t interactions = 0;
    test::evaluate(*kernel, bodies, {.law = {}, .targets = targets, .evaluated = &interactions});
    return static_cast<double>(interactions);
  };
  const double of_all = evaluated({});
  // The order of the additions may decide whether a cell is opened.
  EXPECT_NEAR(evaluated(random_targets(bodies.count(), bodies.count(), 1)), of_all,
              info().repeatable ? 0 : 1e-4 * of_all);
  const double of_one = evaluated({bodies.count() / 2});
  EXPECT_GT(of_one, 0);
  EXPECT_LE(of_one, bodies.count());
  EXPECT_NEAR(evaluated(random_targets(bodies.count(), 500, 2)), of_all / 10, of_all / 50);
}

TEST_P(TakesTargets, RefusesMoreTargetsThanBodies) {
  const auto kernel = make(Settings{info()});
  EXPECT_THROW(test::evaluate(*kernel, test::random_ball(2), {.law = {}, .targets = {0, 1, 1}}), std::logic_error);
}

class RefusesTargets : public KernelWithTargets {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RefusesTargets);

TEST_P(RefusesTargets, InOneLine) {
  const auto kernel = make(Settings{info()});
  const Bodies bodies = test::random_ball(33);
  EXPECT_USAGE_ERROR(test::evaluate(*kernel, bodies, {.law = {}, .targets = {1}}), "targets");
}

INSTANTIATE_TEST_SUITE_P(Kernels, TakesTargets, testing::ValuesIn(test::kernels_under_test(&KernelInfo::takes_targets)),
                         test::test_name);
INSTANTIATE_TEST_SUITE_P(Kernels, TreeTakesTargets,
                         testing::ValuesIn(test::kernels_under_test([](const KernelInfo& info) {
                           return info.is_tree && info.takes_targets;
                         })),
                         test::test_name);
INSTANTIATE_TEST_SUITE_P(Kernels, RefusesTargets,
                         testing::ValuesIn(test::kernels_under_test(std::not_fn(&KernelInfo::takes_targets))),
                         test::test_name);

}  // namespace
}  // namespace orrery
