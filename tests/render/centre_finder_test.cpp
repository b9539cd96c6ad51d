#include "render/passes/centre_finder.h"

#include "tests/render/stage.h"
#include "tests/test.h"

namespace orrery::render::test {
namespace {

using MassPoints = std::vector<glm::vec4>;

using FloatLimits = std::numeric_limits<float>;

class CentreFinderTest : public testing::Test {
 protected:
  void show(const MassPoints& positions) {
    bodies = {};
    buffer = Buffer{std::max(positions.size(), std::size_t{1}) * sizeof(glm::vec4)};
    buffer.upload(std::as_bytes(std::span{positions}));
    bodies = {buffer.id(), static_cast<int>(positions.size())};
  }
  std::optional<glm::vec3> mass() {
    finder.request(bodies, 0);
    return finder.poll(true)->centre;
  }
  std::optional<glm::vec3> part(const std::vector<std::uint8_t>& of_body, int part) {
    Buffer parts{(of_body.size() + 3) / 4 * 4};
    parts.upload(std::as_bytes(std::span{of_body}));
    finder.request_part(bodies, parts, part, 0);
    return finder.poll(true)->centre;
  }
  FoundCentre cluster() {
    finder.request_cluster(bodies, 0);
    return *finder.poll(true);
  }
  FoundCentre cluster_of(const MassPoints& positions) {
    show(positions);
    finder.restart();
    return cluster();
  }

  OffscreenContext context;
  CentreFinder finder;
  Buffer buffer;
  DrawnBodies bodies;
};

/// Appends bodies with a normal distribution of this width.
void add(MassPoints& to, int count, glm::vec3 middle, float width, float mass = 1, unsigned seed = 5) {
  std::mt19937 random{seed};
  std::normal_distribution<float> normal{0, width};
  for (int i = 0; i < count; ++i) {
    const float x = normal(random), y = normal(random), z = normal(random);
    to.emplace_back(middle + glm::vec3{x, y, z}, mass);
  }
}

MassPoints ball(int count, glm::vec3 middle, float width) {
  MassPoints bodies;
  add(bodies, count, middle, width);
  return bodies;
}

glm::dvec3 centre_of_mass(const MassPoints& bodies, auto&& counts) {
  glm::dvec4 sum{0};
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (counts(i)) sum += glm::dvec4{glm::dvec3{bodies[i]}, 1} * static_cast<double>(bodies[i].w);
  }
  return glm::dvec3{sum} / sum.w;
}

void expect_near(const std::optional<glm::vec3>& found, glm::dvec3 expected, double tolerance) {
  ASSERT_TRUE(found);
  EXPECT_LE(glm::distance(glm::dvec3{*found}, expected), tolerance)
      << found->x << ", " << found->y << ", " << found->z << " instead of " << expected.x << ", " << expected.y << ", "
      << expected.z;
}

TEST_F(CentreFinderTest, AgreesWithASumInDoublePrecision) {
  for (const int count : {1, 2, 255, 257, 20'000, 5'000'000}) {  // the last takes more than one dispatch
    SCOPED_TRACE(count);
    MassPoints cloud = ball(count, {3, -2, 1}, 1);
    for (std::size_t i = 0; i < cloud.size(); ++i) cloud[i].w = static_cast<float>(1 + i % 7);
    show(cloud);
    const glm::dvec3 expected = centre_of_mass(cloud, [](std::size_t) { return true; });
    expect_near(mass(), expected, 3e-6);
    expect_near(mass(), expected, 5e-7);  // about the centre before
  }
}

TEST_F(CentreFinderTest, FindsAPartOfTheScene) {
  for (const int count : {3, 1001, 5'000'000}) {
    SCOPED_TRACE(count);
    const MassPoints cloud = ball(count, {3, -2, 1}, 1);
    std::vector<std::uint8_t> parts;
    for (int i = 0; i < count; ++i) parts.push_back(static_cast<std::uint8_t>(i % 3));
    show(cloud);
    for (const int wanted : {0, 1, 2}) {
      expect_near(part(parts, wanted),
                  centre_of_mass(cloud, [&](std::size_t i) { return static_cast<int>(i % 3) == wanted; }), 3e-6);
    }
    EXPECT_FALSE(part(parts, 3));
  }
}

TEST_F(CentreFinderTest, LeavesOutBodiesThatDoNotCount) {
  MassPoints cloud = ball(5000, {1, 2, 3}, 0.1f);
  const glm::dvec3 expected = centre_of_mass(cloud, [](std::size_t) { return true; });
  for (const glm::vec4 odd : {glm::vec4{FloatLimits::quiet_NaN(), 0, 0, 1},
                              {0, FloatLimits::infinity(), 0, 1},
                              {9, 9, 9, FloatLimits::quiet_NaN()},
                              {9, 9, 9, FloatLimits::infinity()},
                              {9, 9, 9, 0},
                              {9, 9, 9, -50},
                              {9, 9, 1e30f, 1}}) {
    cloud.insert(cloud.begin() + 500, odd);
  }
  show(cloud);
  expect_near(mass(), expected, 1e-6);
  expect_near(cluster_of(cloud).centre, {1, 2, 3}, 0.03);
}

TEST_F(CentreFinderTest, WithoutBodiesThereIsNoCentre) {
  for (const MassPoints& none :
       {MassPoints{}, MassPoints{{1, 2, 3, 0}},
        MassPoints{{FloatLimits::quiet_NaN(), FloatLimits::quiet_NaN(), FloatLimits::quiet_NaN(), 1}}}) {
    show(none);
    EXPECT_FALSE(mass());
    EXPECT_FALSE(cluster().centre);
    EXPECT_FALSE(cluster().centre) << "also the second time";
  }
  show({{1, 2, 3, 1}});
  EXPECT_TRUE(cluster().centre) << "looks for one at once";
}

TEST_F(CentreFinderTest, FewBodiesHaveACluster) {
  expect_near(cluster_of({{1, 2, 3, 0.5f}}).centre, {1, 2, 3}, 0);
  expect_near(cluster_of({{0, 0, 0, 5}}).centre, {0, 0, 0}, 0);
  expect_near(cluster_of({{1, 2, 3, 1}, {5, 2, 3, 3}}).centre, {5, 2, 3}, 1e-5);
  expect_near(cluster_of(MassPoints(100, {7, 8, 9, 1})).centre, {7, 8, 9}, 1e-5);
}

TEST_F(CentreFinderTest, TheHeavierOfTwoGalaxiesIsTheLargestCluster) {
  const glm::vec3 first{-4, 1, 0}, second{3, 0, 2};
  for (const bool heavy_first : {true, false}) {
    for (const float width : {0.2f, 0.4f, 0.6f}) {  // of the heavier one; the other one has 0.4
      SCOPED_TRACE(testing::Message() << heavy_first << ", width " << width);
      MassPoints galaxies;
      add(galaxies, heavy_first ? 6000 : 4000, first, heavy_first ? width : 0.4f);
      add(galaxies, heavy_first ? 4000 : 6000, second, heavy_first ? 0.4f : width, 1, 6);
      expect_near(cluster_of(galaxies).centre, heavy_first ? first : second, 0.1 * width);
    }
  }
  MassPoints galaxies;  // the heavier one has fewer bodies
  add(galaxies, 4000, first, 0.4f, 3);
  add(galaxies, 6000, second, 0.4f);
  expect_near(cluster_of(galaxies).centre, first, 0.04);
}

TEST_F(CentreFinderTest, AGalaxyFarFromTheOriginIsFound) {
  expect_near(cluster_of(ball(10000, {2000, -500, 100}, 0.5f)).centre, {2000, -500, 100}, 0.05);
}

TEST_F(CentreFinderTest, DistantBodiesChangeNothing) {
  MassPoints galaxies;
  add(galaxies, 3000, {-2, 0, 0}, 0.3f);
  add(galaxies, 2000, {2, 0, 0}, 0.3f);
  const auto expected = cluster_of(galaxies).centre;
  galaxies.insert(galaxies.begin() + 2500, {1e6f, 0, 0, 1});
  galaxies.push_back({0, -1e9f, 0, 1});
  expect_near(cluster_of(galaxies).centre, *expected, 0.03);
}

TEST_F(CentreFinderTest, TheHeaviestOfManyHaloesIsTheLargestCluster) {
  MassPoints web;
  std::mt19937 random{3};
  std::uniform_real_distribution<float> place{-10, 10};
  for (int i = 0; i < 20000; ++i) {
    const float x = place(random), y = place(random), z = place(random);
    web.emplace_back(x, y, z, 1);
  }
  for (unsigned halo = 0; halo < 30; ++halo) {
    const float x = place(random), y = place(random), z = place(random);
    add(web, 300, {x, y, z}, 0.3f, 1, halo);
  }
  add(web, 1500, {6, -7, 5}, 0.4f);
  expect_near(cluster_of(web).centre, {6, -7, 5}, 0.1);
}

TEST_F(CentreFinderTest, TheFirstClusterIsFoundWhereverTheOriginIs) {
  expect_near(cluster_of(ball(5000, {0.5f, 0.2f, 0.1f}, 1)).centre, {0.5, 0.2, 0.1}, 0.15);
}

TEST_F(CentreFinderTest, AClusterStaysUntilAnotherIsClearlyLarger) {
  const auto galaxies = [](int first, int second, float shift) {
    MassPoints both;
    add(both, first, {-3 + shift, 0, 0}, 0.4f);
    add(both, second, {3 - shift, shift, 0}, 0.4f, 1, 6);
    return both;
  };
  expect_near(cluster_of(galaxies(5000, 4500, 0)).centre, {-3, 0, 0}, 0.04);
  float shift = 0;
  for (int frame = 1; frame <= 3 * CentreFinder::search_interval; ++frame) {  // they move, the other one grows
    shift += 0.03f;
    show(galaxies(5000, 5500, shift));
    const FoundCentre found = cluster();
    EXPECT_FALSE(found.another) << frame;
    expect_near(found.centre, {-3 + shift, 0, 0}, 0.04);
  }
  bool another = false;
  for (int frame = 1; frame <= CentreFinder::search_interval; ++frame) {
    show(galaxies(5000, 7000, shift));
    const FoundCentre found = cluster();
    EXPECT_FALSE(another && found.another) << "once";
    another |= found.another;
    expect_near(found.centre, another ? glm::vec3{3 - shift, shift, 0} : glm::vec3{-3 + shift, 0, 0}, 0.04);
  }
  EXPECT_TRUE(another);
}

TEST_F(CentreFinderTest, EqualBodiesGiveEqualBits) {
  MassPoints galaxies;
  add(galaxies, 30000, {-2, 1, 0}, 0.3f);
  add(galaxies, 30000, {2, 0, 0}, 0.3f, 1, 6);
  const auto first = cluster_of(galaxies).centre;
  for (int i = 0; i < 3; ++i) {
    MassPoints elsewhere;
    add(elsewhere, 100, {5.0f + static_cast<float>(i), 1, 0}, 0.3f);
    (void)cluster_of(elsewhere);
    finder.restart();
    EXPECT_EQ(cluster_of(galaxies).centre, first);
  }
}

}  // namespace
}  // namespace orrery::render::test
