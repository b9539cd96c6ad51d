#include "app/window/lane.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "render/gl/gl.h"
#include "render/image.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/kernel_doubles.h"

namespace orrery {
namespace {

/// Always chooses a tree whose median error is about 1e-2.
class CoarseChooser final : public KernelChooser {
 public:
  KernelChoice choose(const KernelDemand&, const ForceSystem&, const std::stop_token&) override {
    ++choices;
    const KernelPtr tree = test::find_kernel("cpu-tree");
    return {tree, Settings{*tree, {{"theta", "1.0"}, {"order", "monopole"}}}, ""};
  }

  std::atomic<int> choices = 0;
};

class LaneTest : public testing::Test {
 protected:
  static constexpr int side = 64;  // of the picture, in pixels

  Lane lane(const SceneRequest& scene) {
    const Sharing none{.reason = "not tried", .cure = "try"};
    return {rescue_, test::backends(), none, scene, nullptr, nullptr, true};
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
  EXPECT_EQ(view_.times.force_ms > 0, true);
  const bool on_gpu = second.status().backend == Backend::cuda;  // which may not share the buffer, see lane()
  EXPECT_EQ(view_.interop, on_gpu ? Interop::staged : Interop::host) << view_.interop_reason;
}

TEST_F(LaneTest, AutoChoosesAgainIfTheForcesAreNotAccurateEnoughUnlessInLockstep) {
  const Sharing none{.reason = "not tried", .cure = "try"};
  for (const bool lockstep : {false, true}) {
    CoarseChooser chooser;
    Lane shown{rescue_, test::backends(), none, {.scene = "plummer", .count = 2000}, nullptr, &chooser, lockstep};
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
  test::SlowKernel slow;
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

}  // namespace
}  // namespace orrery
