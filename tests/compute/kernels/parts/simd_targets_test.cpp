// The SIMD kernels are compiled for several instruction sets; here each one that this processor has takes its turn.
#include <hwy/targets.h>

#include "compute/kernels/vector_units.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

namespace orrery {
namespace {

class SimdTargets : public testing::TestWithParam<const char*> {
 protected:
  void TearDown() override { choose(0); }

  /// Only the given set and the compiler's default may be used from now on; 0: all that the processor has.
  static void choose(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }

  /// The values of the tunables whose inner loops differ.
  static std::vector<Settings> settings_to_try(const KernelInfo& info) {
    std::vector<Settings> all;
    for (const char* name : {"rows", "order"}) {
      const Tunable* tunable = info.tunable(name);
      if (!tunable) continue;
      for (const char* value : tunable->values) {
        if (std::string_view{value} != "monopole") all.push_back(Settings{info, {{name, value}}});
      }
    }
    return all;
  }
};

TEST_P(SimdTargets, EachAgreesWithTheDirectSum) {
  const KernelInfo& info = *test::find_kernel(GetParam());
  const std::int64_t supported = hwy::SupportedTargets() | HWY_STATIC_TARGET;
  std::set<std::string> ran;
  for (std::int64_t left = supported; left != 0; left &= left - 1) {
    choose(left & -left);
    const std::string name = test::backends().make_kernel(info, Settings{info})->chosen(1, {});
    if (!ran.insert(name).second) continue;  // a set that this kernel is not compiled for
    SCOPED_TRACE(name);
    for (const Settings& settings : settings_to_try(info)) {
      for (const int count : {1, 17, 1031}) {
        SCOPED_TRACE(settings.to_string() + ", n = " + std::to_string(count));
        const Bodies bodies = test::random_ball(count);
        for (const Law& law : {Law{}, Law{.id = LawId::attract_repel, .repulsion = 0.01f}}) {
          test::expect_agreement(test::accelerations(info, settings, bodies, law), bodies, law, info.tolerance);
        }
      }
    }
  }
  // Some of the targets compiled besides the compiler's default ran, too.
  EXPECT_GT(ran.size(), (supported & (HWY_SSE4 | HWY_AVX2 | HWY_AVX3 | HWY_NEON)) ? 1u : 0u);
}

TEST(SimdName, IsTheUsualOne) {
  EXPECT_STREQ(simd_name(HWY_AVX3), "AVX-512");
  EXPECT_STREQ(simd_name(HWY_AVX2), "AVX2");
}

INSTANTIATE_TEST_SUITE_P(Kernels, SimdTargets, testing::Values("cpu-simd", "cpu-symmetric", "cpu-tree"));

}  // namespace
}  // namespace orrery
