#include "render/passes/body_renderer.h"
#include "tests/render/stage.h"
#include "tests/test.h"

namespace orrery::render::test {
namespace {

using Places = std::vector<glm::vec4>;

class PickTest : public testing::Test {
 protected:
  static constexpr int width = 320, height = 240;
  static constexpr float reach = 4;

  void show(const Places& positions) {
    bodies = {};
    buffer = {};
    buffer = Buffer{std::as_bytes(std::span{positions}).size()};
    buffer.upload(std::as_bytes(std::span{positions}));
    bodies = {buffer.id(), static_cast<int>(positions.size())};
  }
  BodyLight light() const { return body_light(bodies, camera, {}, {{0, 1}, {1, 1}, {}}, width, height); }
  std::optional<int> pick(glm::vec2 place) { return picker.at(place, reach, bodies, light(), width, height); }

  struct Seen {
    double outside, depth;
  };
  /// Distance from the bright part of the body's sprite in pixels, and its depth, in double precision.
  static Seen see(glm::vec4 position, const BodyLight& light, glm::vec2 place) {
    const glm::dvec4 seen = glm::dmat4{light.view} * glm::dvec4{position.x, position.y, position.z, 1};
    const glm::dvec4 clip = glm::dmat4{light.projection} * seen;
    const double infinity = std::numeric_limits<double>::infinity();
    if (!(seen.z < 0)) return {infinity, infinity};
    const glm::dvec2 middle = (0.5 + 0.5 * glm::dvec2{clip} / clip.w) * glm::dvec2{width, height};
    double radius = light.radius * light.pixels_per_tangent / -seen.z;
    radius = radius > light.large_radius_px ? std::sqrt(radius * light.large_radius_px) : std::max(radius, 1.75);
    return {std::max(glm::distance(middle, glm::dvec2{place}) - 0.5 * radius, 0.0), clip.w};
  }

  /// A search on the CPU in double precision agrees, but for bodies at the edge of a step.
  void expect_right(const Places& positions, glm::vec2 place) {
    const std::optional<int> picked = pick(place);
    const BodyLight here = light();
    const double rounding = 2e-3;
    double least = std::numeric_limits<double>::infinity();
    for (const glm::vec4& position : positions) least = std::min(least, see(position, here, place).outside);
    if (!picked) {
      EXPECT_GT(least, reach - rounding);
      return;
    }
    ASSERT_LT(static_cast<std::size_t>(*picked), positions.size());
    const Seen found = see(positions[static_cast<std::size_t>(*picked)], here, place);
    const auto step = [](double outside) { return std::floor(4 * outside); };
    EXPECT_LE(step(found.outside - rounding), step(least + rounding)) << found.outside << " px, least " << least;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const Seen other = see(positions[i], here, place);
      if (step(other.outside + rounding) > step(found.outside - rounding)) continue;
      ASSERT_GE(other.depth, found.depth * (1 - 1e-5)) << "body " << i << " is in front of " << *picked;
    }
  }

  OffscreenContext context;
  OrbitCamera camera;
  Pick picker;
  Buffer buffer;
  DrawnBodies bodies;
};

Places cloud(int count) {
  std::mt19937 random{11};
  std::normal_distribution<float> normal;
  Places positions;
  positions.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    positions.emplace_back(0.3f * normal(random), 0.3f * normal(random), normal(random), 1);
  return positions;
}

TEST_F(PickTest, FindsTheBodyOfASearchOnTheCpu) {
  for (const int count : {1, 300, 20000}) {
    const Places positions = cloud(count);
    show(positions);
    for (const float notches : {-5.0f, 0.0f, 10.0f}) {
      camera.reset();
      camera.zoom(notches);
      for (const glm::vec2 place : {glm::vec2{160, 120}, {0, 0}, {100.5f, 130.25f}, {170, 60}, {319, 239}}) {
        SCOPED_TRACE(testing::Message() << count << " bodies, " << notches << " notches, " << place.x);
        expect_right(positions, place);
      }
    }
  }
}

TEST_F(PickTest, FindsOneOfMillions) {
  const int count = 5'000'000;  // more than one dispatch takes
  const Places positions = cloud(count);
  show(positions);
  for (const glm::vec2 place : {glm::vec2{160, 120}, {40.5f, 200}}) expect_right(positions, place);
}

TEST_F(PickTest, FindsTheOnlyBodyAtAPlaceAmongMillions) {
  for (const int which : {0, 4'194'303, 4'194'304, 4'999'999}) {
    Places positions(5'000'000, {0, 0, 1e6f, 1});  // behind the camera
    positions[static_cast<std::size_t>(which)] = {0, 0, 0, 1};
    show(positions);
    EXPECT_EQ(pick({160, 120}), which);
    EXPECT_EQ(pick({10, 10}), std::nullopt);
  }
}

TEST_F(PickTest, TakesTheOneInFrontAndThenTheFirst) {
  const glm::vec3 target = camera.target(), towards = glm::normalize(camera.position() - target);
  const glm::vec4 middle{target, 1}, nearer{target + 0.5f * towards, 1}, farther{target - 0.5f * towards, 1};
  show({middle, farther, nearer, middle});
  EXPECT_EQ(pick({160, 120}), 2);
  show({farther, middle, middle});
  EXPECT_EQ(pick({160, 120}), 1);
}

TEST_F(PickTest, TakesNothingBeyondItsReach) {
  Places positions(1000, {0, 0, 1e6f, 1});
  positions.front() = {0, 0, 0, 1};
  show(positions);
  const float bright = 0.5f * std::max(light().radius * light().pixels_per_tangent / camera.distance(), 1.75f);
  EXPECT_EQ(pick({160 + bright + reach - 0.1f, 120}), 0);
  EXPECT_EQ(pick({160 + bright + reach + 0.1f, 120}), std::nullopt);
}

TEST_F(PickTest, TakesALargeBodyInItsBrightPart) {
  show({{0, 0, 0, 1}});
  camera.zoom(32);
  const glm::vec4 edge = light().projection * light().view * glm::vec4{0, 0, 0, 1};
  const float radius = light().radius * light().pixels_per_tangent / edge.w;
  const float drawn = std::sqrt(radius * light().large_radius_px);
  ASSERT_GT(drawn, 4 * reach);
  EXPECT_EQ(pick({160 + 0.4f * drawn, 120}), 0);
  EXPECT_EQ(pick({160 + 0.6f * drawn + reach, 120}), std::nullopt);
}

TEST_F(PickTest, IgnoresBodiesThatAreNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  show({{nan, 0, 0, 1}, {0, std::numeric_limits<float>::infinity(), 0, 1}, {0, 0, 0, 1}});
  EXPECT_EQ(pick({160, 120}), 2);
  EXPECT_EQ(picker.at({nan, 0}, reach, bodies, light(), width, height), std::nullopt);
  EXPECT_EQ(picker.at({160, 120}, reach, DrawnBodies{}, light(), width, height), std::nullopt);
}

}  // namespace
}  // namespace orrery::render::test
