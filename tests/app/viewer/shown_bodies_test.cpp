// The copy of the shown bodies for a thread that checks a kernel.
#include "app/viewer/shown_bodies.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <limits>

#include "tests/compute/support/backends.h"

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
  EXPECT_EQ(copy->snapshot.bodies, simulation.bodies());
  EXPECT_EQ(copy->law.softening, 0.25f);
}

TEST_F(ShownBodiesTest, AreNoneIfThereAreTooMany) {
  Simulation simulation{test::backends(), {.scene = "plummer", .count = ShownBodies::most + 1}};
  EXPECT_FALSE(copy_of(simulation));
}

TEST_F(ShownBodiesTest, AreNoneIfOneIsNotFinite) {
  Simulation simulation{test::backends(), {.scene = "plummer", .count = 10}};
  Bodies bodies = simulation.bodies();
  bodies.velocities[7].y = std::numeric_limits<float>::infinity();
  simulation.set_bodies(bodies);
  EXPECT_FALSE(copy_of(simulation));
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

TEST(LawArguments, HaveTheConstantsOfTheLaw) {
  const Law gravity{.softening = 0.05f}, other{.id = LawId::attract_repel, .softening = 0.1f, .repulsion = 3};
  EXPECT_EQ(law_arguments(gravity), (std::vector<std::string>{"--law", "gravity", "--softening", "0.05"}));
  EXPECT_EQ(law_arguments(other),
            (std::vector<std::string>{"--law", "attract-repel", "--softening", "0.1", "--repulsion", "3"}));
}

}  // namespace
}  // namespace orrery
