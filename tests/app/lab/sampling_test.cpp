// How many steps each batch of a variant has, with times of the test's own.
#include "app/lab/sampling.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace orrery {
namespace {

TEST(Sampling, MakesABatchLastLongEnough) {
  const auto steps = [](double step_ms) { return steps_for(20, step_ms, 100'000); };
  EXPECT_EQ(steps(100), 1);
  EXPECT_EQ(steps(20), 1);
  EXPECT_EQ(steps(0.15), 134);
  EXPECT_EQ(steps(0), 100'000);
  EXPECT_EQ(steps(std::numeric_limits<double>::quiet_NaN()), 1);
}

/// The steps of all batches until the sampler is complete, at this time per step.
std::vector<int> batches(Sampler& sampler, double step_ms) {
  std::vector<int> steps;
  while (!sampler.complete() && steps.size() < 1000) {
    steps.push_back(sampler.next_steps());
    sampler.add(steps.back(), step_ms);
  }
  return steps;
}

TEST(Sampling, WarmsUpWithAFirstStepAndThenNoMoreStepsThanAskedFor) {
  Sampler fast{{.warmup_steps = 3, .samples = 2}};
  EXPECT_EQ(batches(fast, 1), (std::vector<int>{1, 2, 20, 20}));
  EXPECT_EQ(fast.samples_ms().size(), 2u);
  EXPECT_EQ(fast.steps_per_sample(), 20);
  Sampler slow{{.warmup_steps = 3, .samples = 2}};
  EXPECT_EQ(batches(slow, 30), (std::vector<int>{1, 1, 1, 1, 1}));
  Sampler longer{{.warmup_steps = 50, .samples = 1}};
  EXPECT_EQ(batches(longer, 1), (std::vector<int>{1, 20, 20, 9, 20}));
}

TEST(Sampling, BatchesHaveWholePeriods) {
  Sampler even{{.warmup_steps = 3, .samples = 2, .period = 4}};
  EXPECT_EQ(batches(even, 7), (std::vector<int>{1, 4, 4, 4})) << "3 steps would last 20 ms";
  Sampler uneven{{.warmup_steps = 3, .equal_samples = false, .samples = 2, .period = 8}};
  EXPECT_EQ(batches(uneven, 2), (std::vector<int>{1, 8, 16, 16}));
}

TEST(Sampling, TakesNoTimeFromTheFirstStep) {
  Sampler sampler{{.warmup_steps = 2, .samples = 1}};
  sampler.add(1, 15);  // it also takes memory
  sampler.add(1, 2);
  EXPECT_FALSE(sampler.warming_up());
  EXPECT_EQ(sampler.pilot_step_ms(), 2);
  EXPECT_EQ(sampler.steps_per_sample(), 10);
}

TEST(Sampling, FreshSamplesHaveNoWarmUp) {
  Sampler sampler{{.warmup_steps = 0, .samples = 3, .fresh_steps = 4}};
  EXPECT_FALSE(sampler.warming_up());
  EXPECT_EQ(batches(sampler, 1), (std::vector<int>{4, 4, 4}));
  EXPECT_EQ(sampler.steps_per_sample(), 4);
}

constexpr Sampling with_pilots{.warmup_steps = 1,
                               .pilots = 2,
                               .pilot_ms = 0.5,
                               .slow_ms = 100,
                               .sample_ms = 5,
                               .most_steps = 200,
                               .equal_samples = false,
                               .samples = 2};

TEST(Sampling, CountsPilotsThatWereAsLongAsPlanned) {
  Sampler short_steps{with_pilots};
  EXPECT_EQ(batches(short_steps, 0.1), (std::vector<int>{1, 5, 5, 50, 50}));
  EXPECT_EQ(short_steps.pilots(), 2);
  Sampler long_steps{with_pilots};
  EXPECT_EQ(batches(long_steps, 2), (std::vector<int>{1, 1, 3, 3})) << "the first step is a pilot";
  Sampler shortest{with_pilots};
  EXPECT_EQ(batches(shortest, 1e-6), (std::vector<int>{1, 200, 200, 200, 200}));
}

TEST(Sampling, NeedsNoWarmUpOfAStepThatIsKnownToBeSlow) {
  Sampler known{with_pilots, 250};
  EXPECT_FALSE(known.warming_up());
  EXPECT_EQ(known.fastest_step_ms(), 250);
  EXPECT_EQ(batches(known, 240), (std::vector<int>{1, 1}));
  EXPECT_EQ(known.fastest_step_ms(), 240);
  Sampler one_step{with_pilots};
  EXPECT_EQ(batches(one_step, 120), (std::vector<int>{1, 1, 1})) << "the second pilot would say the same";
}

TEST(Sampling, UnequalSamplesFollowTheFastestTime) {
  Sampler sampler{with_pilots};
  sampler.add(1, 3);  // disturbed
  sampler.add(1, 1);
  EXPECT_EQ(sampler.next_steps(), 5);
  sampler.add(5, 0.5);
  EXPECT_EQ(sampler.next_steps(), 10);
  EXPECT_EQ(sampler.fastest_step_ms(), 0.5);
}

TEST(Sampling, APilotOfTheLengthOfASampleIsAsGoodAsOne) {
  Sampler as_long{with_pilots};
  as_long.add(1, 6);
  as_long.add(1, 6);
  as_long.add(1, 7);
  EXPECT_EQ(as_long.fastest_step_ms(), 6);
  Sampler shorter{with_pilots};
  shorter.add(1, 1);
  shorter.add(1, 1);
  shorter.add(5, 2);
  EXPECT_EQ(shorter.fastest_step_ms(), 2);
}

}  // namespace
}  // namespace orrery
