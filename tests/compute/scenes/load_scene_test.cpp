#include <sys/resource.h>

#include <cstdio>

#include "compute/core/process.h"
#include "compute/core/temporary_folder.h"
#include "compute/scenes/scene.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/test.h"

namespace orrery {
namespace {

using test::Failure;

TEST(Scenes, HaveDifferentIdsAndCollisionComesFirst) {
  std::set<std::string> ids;
  for (const SceneInfo* info : scenes()) {
    EXPECT_TRUE(ids.insert(info->id).second) << info->id;
    EXPECT_EQ(&find_scene(info->id), info);
    EXPECT_GE(info->default_count, info->min_count);
  }
  EXPECT_EQ(ids, (std::set<std::string>{"collision", "plummer", "disc", "cold-collapse", "two-body", "spiral",
                                        "antennae", "cosmic-web", "collapse"}));
  EXPECT_STREQ(scenes().front()->id, "collision");
}

TEST(LoadScene, WithoutWishesGives16384BodiesInCollision) {
  const Scene scene = load_scene({});
  EXPECT_EQ(scene.name, "collision");
  EXPECT_EQ(scene.bodies.count(), 16384);
  EXPECT_EQ(load_scene({.scene = "plummer", .count = 77}).bodies.count(), 77);
}

TEST(LoadScene, NamesTheKnownScenesForAnUnknownOne) {
  EXPECT_USAGE_ERROR(load_scene({.scene = "plumber"}), "plumber", "collision, plummer, disc",
                     "cold-collapse, two-body");
}

TEST(LoadScene, RefusesCountsThatTheSceneCannotHave) {
  const auto load = [](const char* scene, std::int64_t count) { load_scene({.scene = scene, .count = count}); };
  EXPECT_USAGE_ERROR(load("plummer", -1), "plummer", "-1", "from 1 to 2147483647");
  EXPECT_USAGE_ERROR(load("disc", 2147483648), "2147483648", "2147483647");
  EXPECT_USAGE_ERROR(load("disc", std::numeric_limits<std::int64_t>::min()), "from 1");
  EXPECT_USAGE_ERROR(load("collision", 1), "collision", "from 2");
  EXPECT_USAGE_ERROR(load("two-body", 3), "two-body", "3", "always has 2");
  EXPECT_EQ(load_scene({.scene = "two-body", .count = 2}).bodies.count(), 2);
}

TEST(LoadScene, SaysHowManyBodiesFitIntoMemory) {
  const std::int64_t fit = bodies_that_fit(simulation_bytes_per_body);
  EXPECT_GT(fit, 10000);
  if (fit >= std::numeric_limits<int>::max()) GTEST_SKIP() << "this machine's memory holds any number of bodies";
  EXPECT_USAGE_ERROR(load_scene({.scene = "plummer", .count = 2147483647}), "2147483647", "free memory holds");
}

#ifndef ORRERY_SANITIZED  // sanitizers reserve terabytes of addresses
TEST(LoadScene, SaysSoWhenALimitOnTheProcessLeavesTooLittleMemory) {
  const auto load_under_a_limit = [] {
    const rlimit limit{64 << 20, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
    const Failure failure = test::failure_of([] { load_scene({.scene = "plummer", .count = 1500000}); });
    std::fprintf(stderr, "%s\n", failure.message.c_str());
    std::_Exit(failure.kind == Failure::usage ? 2 : 1);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // earlier tests may have left OpenMP threads
  EXPECT_EXIT(load_under_a_limit(), testing::ExitedWithCode(2), "not enough memory for 1500000 bodies");
}
#endif

TEST(LoadScene, ReadsAFileUnderItsNameAndRefusesACountForIt) {
  const TemporaryFolder folder;
  const Bodies bodies = find_scene("plummer").generate(50, 1).bodies;
  write_snapshot(folder / "cluster.tipsy", {bodies});
  const SceneRequest request{.file = (folder / "cluster.tipsy").string()};
  const Scene scene = load_scene(request);
  EXPECT_EQ(scene.name, "cluster.tipsy");
  EXPECT_TRUE(scene.bodies == bodies);

  SceneRequest with_count = request;
  with_count.count = 10;
  EXPECT_USAGE_ERROR(load_scene(with_count), "cluster.tipsy", "10");
  EXPECT_RUNTIME_ERROR(load_scene({.file = (folder / "none").string()}), "no such file");
}

}  // namespace
}  // namespace orrery
