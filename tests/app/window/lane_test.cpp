#include "app/window/lane.h"

#include "app/features/compare/compare.h"
#include "app/features/compare/compare_window.h"
#include "render/gl/gl.h"
#include "render/image.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/kernel_doubles.h"

namespace orrery::test {
namespace {

/// Always chooses a tree whose median error is about 1e-2.
class CoarseChooser final : public KernelChooser {
 public:
  KernelChoice choose(const KernelDemand&, const ForceSystem&, const std::stop_token&) override {
    ++choices;
    const KernelPtr tree = find_kernel("cpu-tree");
    return {tree, Settings{*tree, {{"theta", "1.0"}, {"order", "monopole"}}}, ""};
  }

  std::atomic<int> choices = 0;
};

struct LaneTest : testing::Test {
  static constexpr int side = 64;  // of the picture, in pixels

  Lane lane(const SceneRequest& scene) {
    const Sharing none{.reason = "not tried", .cure = "try"};
    return {rescue_, backends(), none, scene, nullptr, nullptr, true};
  }

  /// Runs one frame's steps and waits for them.
  void frame(Lane& lane, std::int64_t number) {
    lane.examine(static_cast<double>(number), view_);
    EXPECT_EQ(lane.advance(number), lane.status().steps_per_frame);
    while (!lane.collect()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    lane.take_timings();
    lane.describe(view_, static_cast<double>(number));
  }

  std::vector<unsigned char> picture(Lane& lane, std::int64_t number) {
    render::OrbitCamera camera;
    camera.frame(lane.framing().centre, lane.framing().radius);
    lane.draw(number, camera, {}, {target_.framebuffer(), side, side});
    return render::read_framebuffer(target_.framebuffer(), side, side).rgb;
  }

  render::OffscreenContext context_;
  Rescue rescue_;
  render::RenderTarget target_{GL_RGBA8, side, side};
  ViewStatus view_;
};

TEST_F(LaneTest, TwoLanesRunAndAreDrawnInOneContext) {
  Lane first = lane({.scene = "plummer", .count = 300}), second = lane({.scene = "disc", .count = 500});
  second.apply(SetStepsPerFrame{3}, {});
  for (Lane* each : {&first, &second}) {
    EXPECT_TRUE(each->take_timings()) << "the scene is new";
    EXPECT_FALSE(each->take_timings());
  }
  const auto first_picture = picture(first, 0), second_picture = picture(second, 0);
  EXPECT_NE(first_picture, second_picture);
  frame(first, 1);
  frame(second, 1);
  frame(second, 2);
  EXPECT_EQ(first.status().step, 1);
  EXPECT_EQ(second.status().step, 6);
  EXPECT_EQ(first.status().count, 300);
  EXPECT_EQ(second.status().count, 500);
  EXPECT_NE(picture(second, 2), second_picture) << "the bodies have moved";
  const bool on_gpu = second.status().backend == Backend::cuda;  // which may not share the buffer, see lane()
  EXPECT_EQ(view_.interop, on_gpu ? Interop::staged : Interop::host) << view_.interop_reason;
}

TEST_F(LaneTest, AutoChoosesAgainIfTheForcesAreNotAccurateEnoughUnlessInLockstep) {
  const Sharing none{.reason = "not tried", .cure = "try"};
  for (const bool lockstep : {false, true}) {
    CoarseChooser chooser;
    Lane shown{rescue_, backends(), none, {.scene = "plummer", .count = 2000}, nullptr, &chooser, lockstep};
    view_.diagnostics.probe = true;
    shown.apply(SetAccuracy{1e-4}, view_.diagnostics);
    shown.apply(SelectKernel{auto_kernel}, view_.diagnostics);
    for (std::int64_t number = 0; number < 40; ++number) {
      while (shown.simulation().measuring() || !shown.collect()) {
        shown.collect();
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
      }
      shown.examine(static_cast<double>(number), view_);
      shown.advance(number);
    }
    // With 40 s of frames and pauses of 20 s.
    EXPECT_EQ(chooser.choices, lockstep ? 1 : 3);
    EXPECT_TRUE(shown.status().auto_choice);
  }
}

TEST_F(LaneTest, ComparesThePickedBody) {
  Lane shown = lane({.scene = "plummer", .count = 3000});
  const std::vector<int> sample = sample_targets(3000, probe_samples.front());
  int beside = 0;
  while (std::ranges::binary_search(sample, beside)) ++beside;
  view_.picked = PickedBody{.number = beside};
  frame(shown, 1);
  ASSERT_TRUE(shown.status().force_probe && shown.status().force_probe->bodies);
  const std::optional<double> error = shown.status().force_probe->bodies->of(beside);
  ASSERT_TRUE(error);
  EXPECT_LT(*error, 1e-2);
}

TEST_F(LaneTest, FramesAnotherSceneOnceItsBodiesAreDrawn) {
  Lane shown = lane({.scene = "plummer", .count = 300});
  EXPECT_TRUE(shown.take_timings());
  const float radius = shown.framing().radius;
  shown.apply(SetSoftening{0.5f}, {});
  EXPECT_FALSE(shown.take_timings()) << "the same bodies";
  shown.apply(LoadScene{{.scene = "two-body", .count = 2}}, {});
  EXPECT_TRUE(shown.take_timings());
  EXPECT_NE(shown.framing().radius, radius);
  EXPECT_EQ(shown.renew_framing().radius, shown.framing().radius);
}

TEST_F(LaneTest, HasOneStatus) {
  Lane shown = lane({.scene = "plummer", .count = 300});
  const Status* const status = &shown.status();
  frame(shown, 0);
  EXPECT_EQ(&shown.status(), status);
  EXPECT_EQ(&shown.simulation().status(), status);
  EXPECT_EQ(status->step, 1);
}

/// The lane of a window. Not a test of time, since only the test itself ends the compiling.
TEST_F(LaneTest, FramesGoOnWhileAValueOfATunableIsCompiled) {
  SlowKernel slow;
  KernelCatalog kernels;
  const KernelPtr kernel = kernels.put(slow.info());
  const Backends backends{kernels};
  CoarseChooser chooser;
  Lane lane{
      rescue_,  backends,          {.reason = "not tried", .cure = "try"}, {.scene = "plummer", .count = 64}, kernel,
      &chooser, /*lockstep=*/false};
  frame(lane, 0);
  const auto before = picture(lane, 0);
  lane.apply(SetTunable{"block", "64"}, {});
  for (int number = 1; number < 5; ++number) frame(lane, number);
  EXPECT_TRUE(lane.status().preparing);
  EXPECT_EQ(lane.status().settings.text("block"), "256");
  EXPECT_EQ(lane.status().step, 5);
  EXPECT_NE(picture(lane, 5), before) << "the bodies move";
  slow.finish();
  for (int look = 0; look < 30'000 && lane.status().preparing; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    lane.take_timings();
  }
  EXPECT_EQ(lane.status().settings.text("block"), "64");
  frame(lane, 6);
}

// Two lanes in lock step: what is measured of them, and when the comparison begins anew.

struct SecondLaneTest : testing::Test {
  static KernelPtr kernel(const char* id) { return find_kernel(id); }
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
  Lane first_{rescue_, backends(), none_, {.scene = "plummer", .count = 200}, kernel("cpu-serial"), nullptr, true};
  std::unique_ptr<Lane> lane_;
  SecondLane second_{rescue_, backends(), none_, true, lane_};
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
  expect_usage_error({"unknown kernel 'cpu-fast'"}, [&] { second_.begin(first_, with("cpu-fast")); });
  CompareWith odd = with("cpu-serial");
  odd.time_step = 0.7f * first_.status().time_step;
  expect_usage_error({"whole multiple"}, [&] { second_.begin(first_, odd); });
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
    return std::make_unique<UniformKernel>(std::numeric_limits<float>::infinity());
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
  expect_holds(second.problem(), {"in B (broken), body 0 is not finite after step 1"});
}

}  // namespace
}  // namespace orrery::test
