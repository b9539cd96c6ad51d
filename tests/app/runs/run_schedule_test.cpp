#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "app/features/runs/simulation_run.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

Status state_of(float time_step, std::int64_t step = 0) {
  Status status{};
  status.time_step = time_step;
  status.step = step;
  status.sim_time = static_cast<double>(step) * nominal_step(time_step);
  return status;
}

/// A step as the user names it: `text` is what --dt got.
struct NamedStep {
  double given;
  float held() const { return static_cast<float>(given); }
};
const std::vector<NamedStep> named_steps{{0.1},     {0.01},    {0.001}, {0.003},    {0.007},    {1.0 / 3}, {1.0 / 7},
                                         {1.0 / 9}, {2.0 / 3}, {0.7},   {1.0 / 64}, {0.000123}, {1e-5},    {12.5}};

TEST(RunSchedule, EndsWithTheStepThatReachesTheTime) {
  for (const NamedStep& named : named_steps) {
    for (const double steps : {1.0, 45.0, 60.0, 61.0, 81.0, 101.0, 999.0, 1e4, 123456.0, 1e6}) {
      const RunSchedule schedule{state_of(named.held()), {.until = named.given * steps}, false};
      EXPECT_EQ(schedule.last_step(), static_cast<std::int64_t>(steps)) << named.given;
    }
    const RunSchedule half{state_of(named.held()), {.until = named.given * 100.5}, false};
    EXPECT_EQ(half.last_step(), 101) << "the first that reaches it";
  }
}

TEST(RunSchedule, HasOutputsEveryWholeNumberOfStepsOverAMillionSteps) {
  for (const NamedStep& named : named_steps) {
    for (const int apart : {7, 20, 333}) {
      const std::int64_t last = std::int64_t{1'000'000} / apart * apart;
      RunOrder order{.until = named.given * static_cast<double>(last), .every = named.given * apart};
      order.diagnostics = "rows.csv";
      const RunSchedule schedule{state_of(named.held()), order, false};
      std::int64_t step = 0, events = 0;
      while (step < last) {
        step = schedule.next_event(step);
        ++events;
        if (step == events * apart && schedule.event_at(step) == events) continue;
        FAIL() << named.given << ": outputs " << events << " at step " << step;
      }
    }
  }
}

TEST(RunSchedule, ContinuesAsIfNothingHadStoppedIt) {
  for (const NamedStep& named : named_steps) {
    for (const std::int64_t done : {1, 46, 61, 99'999}) {
      const RunSchedule schedule{state_of(named.held(), done), {.until = named.given * 1e5}, false};
      EXPECT_EQ(schedule.last_step(), 100'000) << named.given;
    }
  }
}

TEST(NominalStep, IsTheShortestDecimalOfTheFloat) {
  EXPECT_EQ(nominal_step(0.01f), 0.01);
  EXPECT_EQ(nominal_step(0.015625f), 0.015625);
  EXPECT_EQ(static_cast<float>(nominal_step(1.0f / 3)), 1.0f / 3);
  EXPECT_TRUE(std::isnan(nominal_step(std::nanf(""))));
}

}  // namespace
}  // namespace orrery
