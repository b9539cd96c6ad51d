// Two lanes in lock step: what is measured of them, and when the comparison begins anew.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "app/features/compare/compare_window.h"
#include "render/gl/gl.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/failure.h"
#include "tests/compute/support/kernel_doubles.h"

namespace orrery {
namespace {

using test::expect_failure;
using test::Failure;

class SecondLaneTest : public testing::Test {
 protected:
  static KernelPtr kernel(const char* id) { return test::find_kernel(id); }
  static CompareWith with(const char* id) {
    CompareWith asked;
    asked.kernel = id;
    return asked;
  }

  /// A frame as a repeatable run has it.
  void frame() {
    second_.follow(first_);
    second_.ask_for_energies(first_);
    first_.advance(++frame_);
    wait(first_);
    second_.advance(first_, frame_, static_cast<double>(frame_), view_);
    wait(second_.lane());
    first_.take_timings();
    second_.take(first_);
    second_.describe(view_, first_, static_cast<double>(frame_));
  }
  static void wait(Lane& lane) {
    while (!lane.collect()) std::this_thread::sleep_for(std::chrono::microseconds{200});
  }
  const CompareStatus& seen() const { return view_.features.of<CompareStatus>(); }

  render::OffscreenContext context_;
  Rescue rescue_;
  const Sharing none_{.reason = "not tried", .cure = "try"};
  Lane first_{rescue_, test::backends(), none_, {.scene = "plummer", .count = 200}, kernel("cpu-serial"), nullptr,
              true};
  std::unique_ptr<Lane> lane_;
  SecondLane second_{rescue_, test::backends(), none_, true, lane_};
  ViewStatus view_;
  std::int64_t frame_ = 0;
};

TEST_F(SecondLaneTest, TheSameVariantStaysTogether) {
  first_.apply(SetStepsPerFrame{3}, {});
  first_.take_timings();
  second_.begin(first_, with("cpu-serial"));
  for (int i = 0; i < 10; ++i) frame();
  ASSERT_EQ(seen().samples.size(), 11u);
  for (const DivergenceSample& sample : seen().samples) EXPECT_EQ(sample.distances.greatest, 0);
  EXPECT_EQ(seen().growth.kind, Growth::Kind::identical);
  EXPECT_EQ(seen().samples.back().steps, (std::array<std::int64_t, 2>{30, 30}));
  EXPECT_EQ(second_.lane().status().step, 30);
  EXPECT_EQ(second_.lane().simulation().bodies(), first_.simulation().bodies());
}

TEST_F(SecondLaneTest, OtherKernelsPartAndHaveEnergies) {
  for (int i = 0; i < 3; ++i) {
    first_.advance(++frame_);
    wait(first_);
  }
  const double begin = first_.status().sim_time;
  second_.begin(first_, with("cpu-tree"));
  for (int i = 0; i < 17; ++i) frame();
  EXPECT_TRUE(seen().active);
  EXPECT_EQ(seen().begin_time, begin);
  EXPECT_NEAR(seen().time, 17 * double{first_.status().time_step}, 1e-6);
  EXPECT_EQ(seen().runs[0].name, "cpu-serial");
  EXPECT_EQ(seen().runs[1].name, "cpu-tree");
  EXPECT_GT(seen().runs[1].step_ms, 0);
  EXPECT_EQ(seen().samples[0].distances.greatest, 0);
  EXPECT_GT(seen().samples.back().distances.greatest, 0);
  for (std::size_t i = 0; i < seen().samples.size(); ++i) {
    for (const auto& error : seen().samples[i].energy_error) {
      ASSERT_EQ(error.has_value(), i % 8 == 0) << i;
      EXPECT_LT(error.value_or(0), 1e-2);
    }
  }
}

TEST_F(SecondLaneTest, TimesAreThoseOfTheComparison) {
  const auto times = [&] {
    second_.describe(view_, first_, static_cast<double>(frame_));
    return std::array{seen().runs[0].step_ms, seen().runs[1].step_ms};
  };
  for (int i = 0; i < 3; ++i) {
    first_.advance(++frame_);
    wait(first_);
    if (i < 2) first_.take_timings();  // the last one comes when the comparison has begun
  }
  for (int round = 0; round < 2; ++round) {
    SCOPED_TRACE(round);
    second_.begin(first_, with("cpu-serial"));
    first_.take_timings();
    EXPECT_EQ(times(), (std::array{0.0, 0.0})) << "neither has made a step since";
    EXPECT_EQ(seen().runs[0].interactions_per_s, 0);
    for (int i = 0; i < 3; ++i) frame();
    const auto [a, b] = times();
    EXPECT_GT(a, 0);
    EXPECT_GT(b, 0);
    EXPECT_GT(seen().runs[0].interactions_per_s, 0);
  }
}

TEST_F(SecondLaneTest, KeepsEqualTimesWithOtherTimeSteps) {
  first_.apply(SetTimeStep{0.01f}, {});
  CompareWith slower = with("cpu-serial"), faster = with("cpu-serial");
  slower.time_step = 0.02f;
  faster.time_step = 0.0025f;
  second_.begin(first_, slower);
  for (int i = 0; i < 5; ++i) frame();
  EXPECT_EQ(second_.lane().status().step, 2);
  EXPECT_EQ(seen().samples.size(), 3u) << "after the first state, step 2 and step 4";
  EXPECT_FALSE(second_.in_step(first_));
  second_.begin(first_, faster);
  for (int i = 0; i < 2; ++i) frame();
  EXPECT_EQ(second_.lane().status().step, 8);
  EXPECT_NEAR(second_.lane().status().sim_time, first_.status().sim_time, 1e-6);
  EXPECT_GT(seen().samples.back().distances.median, 0);
  EXPECT_EQ(seen().runs[1].name, "cpu-serial dt=0.0025");
}

TEST_F(SecondLaneTest, BeginsAnewIfTheFirstRunIsAnother) {
  second_.begin(first_, with("cpu-simd"));
  for (int i = 0; i < 4; ++i) frame();
  first_.apply(SetPaused{true}, {});
  first_.apply(SetStepsPerFrame{2}, {});
  first_.apply(SetPaused{false}, {});
  frame();
  EXPECT_EQ(seen().samples.size(), 6u) << "it is the same run";
  const double time = first_.status().sim_time;
  first_.apply(SetSoftening{0.3f}, {});
  frame();
  EXPECT_EQ(seen().samples.size(), 2u);
  EXPECT_EQ(seen().begin_time, time);
  EXPECT_EQ(second_.lane().status().law.softening, 0.3f);
  first_.apply(LoadScene{{.scene = "disc", .count = 300}}, {});
  frame();
  EXPECT_EQ(second_.lane().status().count, 300);
  EXPECT_EQ(seen().samples.size(), 2u);
}

TEST_F(SecondLaneTest, KeepsAFewHundredSamples) {
  first_.apply(LoadScene{{.scene = "two-body"}}, {});
  second_.begin(first_, with("cpu-serial"));
  for (int i = 0; i < 1100; ++i) frame();
  const auto& samples = seen().samples;
  EXPECT_LE(samples.size(), SecondLane::most_samples);
  EXPECT_GT(samples.size(), SecondLane::most_samples / 2 - 2);
  EXPECT_EQ(samples.front().steps[0], 0);
  for (std::size_t i = 1; i < samples.size(); ++i) {
    ASSERT_EQ(samples[i].steps[0] - samples[i - 1].steps[0], 4) << "even after thinning";
    EXPECT_TRUE(samples[i].energy_error[1].has_value() || i % 8 != 0) << i;
  }
}

TEST_F(SecondLaneTest, StartsWithANudge) {
  CompareWith nudged = with("cpu-serial");
  nudged.nudge = 1e-3;
  second_.begin(first_, nudged);
  frame();
  EXPECT_NEAR(seen().samples[0].distances.rms, 1e-3, 1e-6);
  EXPECT_NEAR(seen().samples[1].distances.rms, 1e-3, 1e-4);
}

TEST_F(SecondLaneTest, RefusesWhatCannotBeCompared) {
  expect_failure(
      Failure::usage, [&] { second_.begin(first_, with("cpu-fast")); }, "unknown kernel 'cpu-fast'");
  CompareWith odd = with("cpu-serial");
  odd.time_step = 0.7f * first_.status().time_step;
  expect_failure(
      Failure::usage, [&] { second_.begin(first_, odd); }, "whole multiple");
  EXPECT_FALSE(second_.active());
}

TEST_F(SecondLaneTest, DrawsBothInOneBuffer) {
  first_.take_timings();
  CompareWith nudged = with("cpu-serial");
  nudged.nudge = 0.5;
  second_.begin(first_, nudged);
  frame();
  const render::DrawnBodies both = second_.both(first_);
  ASSERT_EQ(both.count, 400);
  std::vector<float> runs(400);
  std::vector<Vec4> positions(400);
  glGetNamedBufferSubData(both.values, 0, static_cast<GLsizeiptr>(runs.size() * sizeof(float)), runs.data());
  glGetNamedBufferSubData(both.buffer, 0, static_cast<GLsizeiptr>(positions.size() * sizeof(Vec4)), positions.data());
  EXPECT_EQ(runs[0], 0);
  EXPECT_EQ(runs[199], 0);
  EXPECT_EQ(runs[200], 1);
  EXPECT_EQ(positions[7], first_.simulation().bodies().positions[7]);
  EXPECT_EQ(positions[207], second_.lane().simulation().bodies().positions[7]);
}

TEST_F(SecondLaneTest, GivesTheColoursTheDistances) {
  view_.appearance.colour_by = find_body_colour("distance").by;
  CompareWith nudged = with("cpu-serial");
  nudged.nudge = 1e-2;
  second_.begin(first_, nudged);
  frame();
  for (Lane* lane : {&first_, &second_.lane()}) {
    lane->follow_colours(view_.appearance, {}, 1);
    Legend legend;
    lane->describe(legend, view_.appearance);
    EXPECT_EQ(legend.known, 1);
    EXPECT_GT(lane->ranges().value.low, 5e-3f);
    EXPECT_LT(lane->ranges().value.high, 2e-2f);
  }
  second_.end(first_);
  first_.follow_colours(view_.appearance, {}, 2);
  Legend legend;
  first_.describe(legend, view_.appearance);
  EXPECT_EQ(legend.known, 0) << "there is no other run";
}

TEST(SecondLaneProblem, NamesTheBodyThatIsNotFinite) {
  KernelCatalog catalog;
  KernelInfo broken = *catalog.find("cpu-serial");
  broken.id = "broken";
  broken.create = [](const Settings&, const cuda::Device*) {
    return std::make_unique<test::UniformKernel>(std::numeric_limits<float>::infinity());
  };
  catalog.put(broken);
  const Backends backends{catalog};
  const render::OffscreenContext context;
  Rescue rescue;
  const Sharing none{.reason = "not tried", .cure = "try"};
  Lane first{rescue, backends, none, {.scene = "plummer", .count = 50}, catalog.find("cpu-serial"), nullptr, true};
  std::unique_ptr<Lane> lane;
  SecondLane second{rescue, backends, none, true, lane};
  CompareWith asked;
  asked.kernel = "broken";
  second.begin(first, asked);
  EXPECT_EQ(second.problem(), "");
  first.advance(1);
  while (!first.collect()) std::this_thread::yield();
  second.advance(first, 1, 1, {});
  while (!second.lane().collect()) std::this_thread::yield();
  EXPECT_NE(second.problem().find("in B (broken), body 0 is not finite after step 1"), std::string::npos)
      << second.problem();
}

}  // namespace
}  // namespace orrery
