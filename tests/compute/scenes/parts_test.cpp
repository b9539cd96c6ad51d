#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "compute/scenes/scene.h"

namespace orrery {
namespace {

TEST(Parts, OfScenesHaveNamesAndEveryBody) {
  for (const auto& [scene, names] :
       std::initializer_list<std::pair<const char*, std::vector<std::string>>>{{"collision", {"galaxy 1", "galaxy 2"}},
                                                                               {"antennae", {"galaxy 1", "galaxy 2"}},
                                                                               {"disc", {"disc", "bulge", "halo"}},
                                                                               {"spiral", {"disc", "bulge", "halo"}},
                                                                               {"plummer", {}}}) {
    SCOPED_TRACE(scene);
    const Scene loaded = load_scene({.scene = scene, .count = 1000});
    EXPECT_EQ(loaded.parts.names, names);
    EXPECT_EQ(loaded.parts.of_body.size(), names.empty() ? 0u : 1000u);
    for (const std::uint8_t part : loaded.parts.of_body) ASSERT_LT(part, names.size());
  }
}

TEST(Parts, OfASpiralLieWhereTheyShould) {
  const Scene spiral = load_scene({.scene = "spiral", .count = 4000});
  std::array<double, 3> height{}, bodies{};
  for (std::size_t i = 0; i < 4000; ++i) {
    const std::size_t part = spiral.parts.of_body[i];
    height[part] += std::abs(spiral.bodies.positions[i].z);
    bodies[part] += 1;
  }
  EXPECT_GT(bodies[0], bodies[2]) << "most are the disc's";
  EXPECT_LT(height[0] / bodies[0], 0.1 * height[2] / bodies[2]) << "it is flat";
}

TEST(Parts, OfTinyScenesLeaveOutWhatHasNoBodies) {
  const Scene one = load_scene({.scene = "spiral", .count = 1});
  EXPECT_EQ(one.parts.names, std::vector<std::string>{"disc"});
  EXPECT_EQ(one.parts.of_body, std::vector<std::uint8_t>{0});
}

TEST(Parts, OfAFileAreItsSpecies) {
  EXPECT_EQ(parts_of(std::vector{Species::star, Species::gas, Species::star}), (Parts{{"gas", "star"}, {1, 0, 1}}));
  EXPECT_EQ(parts_of({}), Parts{});
}

}  // namespace
}  // namespace orrery
