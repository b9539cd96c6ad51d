// A batch's clock readings, and the times of a step that follow from them.
#include <gtest/gtest.h>

#include "compute/sim/engine.h"

namespace orrery {
namespace {

TEST(BatchTiming, IsPerStepAndCountsEveryEvaluation) {
  const StepTiming timing = batch_timing(17, 4, 5, 8.0, 1.0, 100);  // 8 ms for 4 steps with 5 evaluations of 1 ms
  EXPECT_EQ(timing.tag, 17);
  EXPECT_EQ(timing.steps, 4);
  EXPECT_EQ(timing.evaluations, 5);
  EXPECT_DOUBLE_EQ(timing.step_ms, 2);
  EXPECT_DOUBLE_EQ(timing.force_ms, 1.25);
  EXPECT_DOUBLE_EQ(timing.integrate_ms, 0.75);
  EXPECT_DOUBLE_EQ(timing.interactions_per_evaluation, 100);
  EXPECT_DOUBLE_EQ(timing.interactions_per_s, 62'500) << "500 interactions in 8 ms";
}

TEST(BatchTiming, NoPartIsLongerThanTheStep) {
  const StepTiming timing = batch_timing(0, 4, 4, 8.0, 2.5, 100);  // the sampled evaluations were slower than all
  EXPECT_DOUBLE_EQ(timing.force_ms, 2);
  EXPECT_DOUBLE_EQ(timing.integrate_ms, 0);
}

TEST(BatchTiming, OfNoStepIsZero) {
  const StepTiming timing = batch_timing(3, 0, 1, 8.0, 1.0, 100);
  EXPECT_EQ(timing.tag, 3);
  EXPECT_EQ(timing.step_ms, 0);
  EXPECT_EQ(timing.interactions_per_s, 0);
}

}  // namespace
}  // namespace orrery
