// The copy of the shown bodies for a thread that checks a kernel.
#include <future>

#include "app/features/workshop/workshop_window.h"
#include "app/ui_state/hint_words.h"
#include "app/window/camera_control.h"
#include "app/window/window.h"
#include "compute/core/error.h"
#include "compute/sim/command.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/kernel_doubles.h"

namespace orrery::test {
namespace {

using namespace std::chrono_literals;

struct ShownBodiesTest : testing::Test {
  /// Answers as a window does, once per frame, until the other thread has its copy.
  static std::optional<ShownBodies::Copy> copy_of(Simulation& simulation) {
    ShownBodies bodies;
    auto copy = std::async(std::launch::async, [&] { return bodies.ask([] { return false; }); });
    while (copy.wait_for(1ms) != std::future_status::ready) bodies.answer(simulation);
    return copy.get();
  }
};

TEST_F(ShownBodiesTest, AreThoseOfNow) {
  Simulation simulation{backends(), {.scene = "plummer", .count = 100}};
  simulation.apply(SetSoftening{0.25f});
  simulation.run(3);
  const auto copy = copy_of(simulation);
  ASSERT_TRUE(copy);
  ASSERT_TRUE(copy->snapshot);
  EXPECT_EQ(copy->snapshot->bodies, simulation.bodies());
  EXPECT_EQ(copy->law.softening, 0.25f);
  EXPECT_EQ(copy->remark, "");
}

TEST_F(ShownBodiesTest, AreEachSecondIfThereAreTooMany) {
  Simulation simulation{backends(), {.scene = "plummer", .count = ShownBodies::most + 1}};
  const auto copy = copy_of(simulation);
  ASSERT_TRUE(copy && copy->snapshot);
  EXPECT_EQ(copy->remark, "with 524,289 of the 1,048,577 bodies that are shown");
  const Bodies all = simulation.bodies();
  const Bodies& some = copy->snapshot->bodies;
  ASSERT_EQ(some.count(), 524'289);
  EXPECT_EQ(some.positions[1], all.positions[2]);
  EXPECT_EQ(some.velocities.back(), all.velocities.back());
}

TEST_F(ShownBodiesTest, AreNoneIfOneIsNotFinite) {
  Simulation simulation{backends(), {.scene = "plummer", .count = 10}};
  Bodies bodies = simulation.bodies();
  bodies.velocities[7].y = std::numeric_limits<float>::infinity();
  simulation.set_bodies(bodies);
  const auto copy = copy_of(simulation);
  ASSERT_TRUE(copy);
  EXPECT_FALSE(copy->snapshot);
  EXPECT_EQ(copy->remark, "without the bodies that are shown: body 7 is not finite");
}

TEST_F(ShownBodiesTest, DoNotWaitForStepsThatDoNotEnd) {
  KernelCatalog catalog;
  std::atomic<bool> let_go{false};
  KernelInfo info = kernel_info(
      "hanging", [&](const Settings&, const cuda::Device*) { return std::make_unique<HangingKernel>(1, &let_go); });
  info.compiles = true;
  const Backends backends{catalog};
  Simulation simulation{backends, {.scene = "plummer", .count = 10}, catalog.put(info)};
  simulation.advance_frame(0);
  ShownBodies bodies;
  auto copy = std::async(std::launch::async, [&] { return bodies.ask([] { return false; }); });
  while (!bodies.asked()) std::this_thread::sleep_for(1ms);
  bodies.answer(simulation);
  EXPECT_TRUE(bodies.asked()) << "no answer yet, and no wait either";
  let_go = true;
  simulation.wait();
  bodies.answer(simulation);
  EXPECT_TRUE(copy.get());
}

TEST_F(ShownBodiesTest, AreNoneForAThreadThatIsToEnd) {
  ShownBodies bodies;
  int looks = 0;
  EXPECT_FALSE(bodies.ask([&] { return ++looks == 2; }));
  EXPECT_EQ(looks, 2);
}

TEST_F(ShownBodiesTest, AreCopiedOnceForEachQuestion) {
  Simulation simulation{backends(), {.scene = "plummer", .count = 10}};
  ShownBodies bodies;
  EXPECT_FALSE(bodies.ask([] { return true; }));
  bodies.answer(simulation);  // nobody waits
  auto copy = std::async(std::launch::async, [&] { return bodies.ask([] { return false; }); });
  EXPECT_EQ(copy.wait_for(20ms), std::future_status::timeout) << "no answer to an older question";
  while (copy.wait_for(1ms) != std::future_status::ready) bodies.answer(simulation);
  EXPECT_TRUE(copy.get());
}

TEST(LawConstants, AreThoseOfEveryLaw) {
  EXPECT_EQ(law_constants({.id = LawId::gravity, .softening = 0.05f, .repulsion = 3}),
            ("--softening 0.05 --repulsion 3"_words));
}

TEST(LawArguments, HaveTheConstantsOfTheLaw) {
  const Law gravity{.softening = 0.05f}, other{.id = LawId::attract_repel, .softening = 0.1f, .repulsion = 3};
  EXPECT_EQ(law_arguments(gravity), ("--law gravity --softening 0.05"_words));
  EXPECT_EQ(law_arguments(other), ("--law attract-repel --softening 0.1 --repulsion 3"_words));
}

/// So that each has a row, too: the initial view is that of one scene.
TEST(SceneView, EverySceneHasOneOfItsOwn) {
  for (const SceneInfo* scene : scenes()) {
    const SceneView view = scene_view({.scene = scene->id});
    for (const SceneInfo* other : scenes()) {
      if (other == scene) continue;
      EXPECT_FALSE(view == scene_view({.scene = other->id})) << scene->id << " and " << other->id;
    }
  }
}

TEST(SceneView, CanBeShown) {
  for (const SceneInfo* scene : scenes()) {
    SCOPED_TRACE(scene->id);
    const SceneView view = scene_view({.scene = scene->id});
    EXPECT_LT(view.appearance.colour_map, render::colour_map_count);
    EXPECT_GE(view.steps_per_frame, SetStepsPerFrame::range.least);
    EXPECT_LE(view.steps_per_frame, SetStepsPerFrame::range.most);
    EXPECT_LE(std::abs(view.elevation), 1.5708f);
  }
}

TEST(SceneView, AFileHasTheInitialView) {
  for (const SceneInfo* scene : scenes()) {
    EXPECT_TRUE(scene_view({.scene = scene->id, .file = "a.tipsy"}) == SceneView{}) << scene->id;
  }
}

TEST(PictureSize, TakesWhatHasRoomAndCanBeDrawn) {
  render::GlInfo gl;
  gl.max_side = 4096;
  for (const WindowSize size : {WindowSize{320, 200}, WindowSize{4096, 4096}, WindowSize{320, 4096}}) {
    EXPECT_EQ(allowed_size(size, {320, 200}, gl), size);
  }
  for (const WindowSize size :
       {WindowSize{319, 200}, WindowSize{320, 199}, WindowSize{4097, 200}, WindowSize{320, 4097}}) {
    expect_usage_error({"320x200", "4096x4096"}, [&] { (void)allowed_size(size, {320, 200}, gl); });
  }
}

TEST(PictureSize, PanelsGrowWithAPictureThatIsLargerThanADisplay) {
  for (const WindowSize size :
       {WindowSize{16, 16}, WindowSize{1280, 720}, WindowSize{1920, 1080}, WindowSize{3840, 900}}) {
    EXPECT_EQ(scale_of_picture(size), 1) << size.width;
  }
  EXPECT_EQ(scale_of_picture({3840, 2160}), 2);
  EXPECT_EQ(scale_of_picture({7680, 4320}), 4);
  EXPECT_EQ(scale_of_picture({2160, 3840}), 1.125f) << "the side that has less room counts";
}

TEST(PictureSize, LeastWindowFollowsTheScale) {
  EXPECT_EQ(least_window_at(1), least_window);
  EXPECT_EQ(least_window_at(2), (WindowSize{640, 400}));
  EXPECT_EQ(least_window_at(4), (WindowSize{1280, 800}));
}

}  // namespace
}  // namespace orrery::test
