// Trees with settings that estimate errors first, or expand far fields higher, are shared without another bit.
#include <gtest/gtest.h>

#include "tests/compute/ranks/rank_team.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

TEST(SharedTreeSettings, FindTheBitsOfOneProcess) {
  const KernelPtr tree = test::find_kernel("cpu-tree");
  const Bodies bodies = test::random_ball(5000);
  for (const char* text : {"tolerance=1e-3", "order=high tolerance=1e-5", "order=high", "leaf=8 group=16"}) {
    SCOPED_TRACE(text);
    const Settings settings{*tree, Settings::values_of(text)};
    const auto alone = test::backends().make_kernel(*tree, settings);
    const auto expected = test::evaluate(*alone, bodies, {.law = {}}).accelerations;
    test::RankTeam team{3};
    const auto shared = team.backends().make_kernel(*tree, settings);
    for (int again = 0; again < 3; ++again) {
      EXPECT_EQ(test::evaluate(*shared, bodies, {.law = {}}).accelerations, expected);
    }
  }
}

}  // namespace
}  // namespace orrery
