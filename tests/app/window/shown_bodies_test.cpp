// The copy of the shown bodies for a thread that checks a kernel.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <limits>
#include <memory>
#include <thread>

#include "app/features/workshop/workshop_window.h"
#include "app/ui_state/hint_words.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/kernel_doubles.h"

namespace orrery {
namespace {

using namespace std::chrono_literals;

class ShownBodiesTest : public testing::Test {
 protected:
  /// Answers as a window does, once per frame, until the other thread has its copy.
  static std::optional<ShownBodies::Copy> copy_of(Simulation& simulation) {
    ShownBodies bodies;
    auto copy = std::async(std::launch::async, [&] { return bodies.ask([] { return false; }); });
    while (copy.wait_for(1ms) != std::future_status::ready) bodies.answer(simulation);
    return copy.get();
  }
};

TEST_F(ShownBodiesTest, AreThoseOfNow) {
  Simulation simulation{test::backends(), {.scene = "plummer", .count = 100}};
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
  Simulation simulation{test::backends(), {.scene = "plummer", .count = ShownBodies::most + 1}};
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
  Simulation simulation{test::backends(), {.scene = "plummer", .count = 10}};
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
  KernelInfo info = test::kernel_info("hanging", [&](const Settings&, const cuda::Device*) {
    return std::make_unique<test::HangingKernel>(1, &let_go);
  });
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
  Simulation simulation{test::backends(), {.scene = "plummer", .count = 10}};
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
            (std::vector<std::string>{"--softening", "0.05", "--repulsion", "3"}));
}

TEST(LawArguments, HaveTheConstantsOfTheLaw) {
  const Law gravity{.softening = 0.05f}, other{.id = LawId::attract_repel, .softening = 0.1f, .repulsion = 3};
  EXPECT_EQ(law_arguments(gravity), (std::vector<std::string>{"--law", "gravity", "--softening", "0.05"}));
  EXPECT_EQ(law_arguments(other),
            (std::vector<std::string>{"--law", "attract-repel", "--softening", "0.1", "--repulsion", "3"}));
}

}  // namespace
}  // namespace orrery
