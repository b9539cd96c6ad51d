#include "render/camera.h"

#include <glm/gtc/constants.hpp>

#include "tests/test.h"

namespace orrery::render {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

glm::vec2 on_screen(const OrbitCamera& camera, glm::vec3 place, float aspect = 1.0f) {
  const glm::vec4 clip = camera.projection(aspect) * camera.view() * glm::vec4{place, 1.0f};
  return glm::vec2{clip} / clip.w;
}

TEST(Camera, SeesItsTargetInTheMiddle) {
  OrbitCamera camera;
  camera.frame({3.0f, -2.0f, 5.0f}, 4.0f);
  camera.orbit({0.3f, -0.2f});
  EXPECT_LT(glm::length(on_screen(camera, {3.0f, -2.0f, 5.0f})), 1e-5f);
  EXPECT_NEAR(glm::distance(camera.position(), camera.target()), camera.distance(), 1e-4f);
}

TEST(Camera, FramesTheBallOnWideAndTallScreens) {
  OrbitCamera camera;
  camera.frame({1.0f, 2.0f, 3.0f}, 2.0f);
  for (const float aspect : {0.4f, 1.0f, 2.5f}) {
    const glm::mat4 axes = glm::transpose(camera.view());
    float widest = 0.0f;
    for (int i = 0; i < 360; ++i) {
      // The ball's outline, as seen from the camera, is nearer to it than its centre.
      const float angle = glm::radians(static_cast<float>(i));
      const float nearer = 2.0f * 2.0f / camera.distance(), outline = std::sqrt(4.0f - nearer * nearer);
      const glm::vec3 place = camera.target() + nearer * glm::vec3{axes[2]} +
                              outline * (std::cos(angle) * glm::vec3{axes[0]} + std::sin(angle) * glm::vec3{axes[1]});
      const glm::vec2 seen = glm::abs(on_screen(camera, place, aspect));
      ASSERT_TRUE(std::isfinite(seen.x) && std::isfinite(seen.y));
      widest = std::max({widest, seen.x, seen.y});
    }
    EXPECT_NEAR(widest, 1.0f, 1e-3f) << aspect;
  }
}

TEST(Camera, FitsTheBallIntoAPartOfTheScreen) {
  OrbitCamera camera;
  camera.frame({}, 1.0f);
  const glm::vec3 right = glm::transpose(camera.view())[0];
  const float whole = on_screen(camera, right, 2.0f).x;
  camera.fit_into(1.5f);  // as high as the screen is enough for a ball
  EXPECT_FLOAT_EQ(on_screen(camera, right, 2.0f).x, whole);
  camera.fit_into(0.5f);
  EXPECT_FLOAT_EQ(on_screen(camera, right, 2.0f).x, whole / 2);
  const glm::vec3 held = camera.target();
  camera.pan({0.25f, 0.1f});
  EXPECT_LT(glm::distance(on_screen(camera, held), glm::vec2(0.5f, -0.2f)), 1e-4f);
  for (const float useless : {0.0f, -1.0f, nan}) {
    camera.fit_into(useless);
    EXPECT_LT(glm::distance(on_screen(camera, held), glm::vec2(0.5f, -0.2f)), 1e-4f);
  }
}

TEST(Camera, SeesItsTargetInTheMiddleOfThePart) {
  OrbitCamera camera;
  camera.frame({1, 2, 3}, 1.0f);
  const glm::vec3 up = glm::transpose(camera.view())[1];
  const float whole = on_screen(camera, camera.target() + up).y;
  for (const glm::vec2 middle : {glm::vec2{0.3f, 0.0f}, {0.0f, 0.4f}, {0.25f, 0.3f}, {}}) {
    camera.fit_into(1.0f, middle);
    EXPECT_LT(glm::distance(on_screen(camera, camera.target()), middle), 1e-5f);
    EXPECT_NEAR(on_screen(camera, camera.target() + up).y, middle.y + whole, 1e-4f) << "nothing else changes";
  }
  camera.fit_into(1.0f, {nan, 0.0f});
  EXPECT_LT(glm::length(on_screen(camera, camera.target())), 1e-5f);
}

TEST(Camera, TurnsHalfAroundInOneDragAcrossTheScreen) {
  OrbitCamera camera;
  camera.look_from(0.0f, 0.0f);
  EXPECT_NEAR(camera.position().x, camera.distance(), 1e-4f);
  camera.orbit({1.0f, 0.0f});
  EXPECT_NEAR(camera.position().x, -camera.distance(), 1e-4f);
}

TEST(Camera, StopsAtThePoles) {
  OrbitCamera camera;
  for (const float drag : {50.0f, -100.0f}) {
    camera.orbit({0.0f, drag});
    EXPECT_LE(std::abs(camera.elevation()), glm::half_pi<float>());
    const glm::vec3 up = glm::transpose(glm::mat3{camera.view()})[1];
    EXPECT_GT(up.z, -1e-6f);
  }
}

TEST(Camera, PansWithTheCursor) {
  OrbitCamera camera;
  const glm::vec3 held = camera.target();
  camera.pan({0.25f, 0.1f});  // of the screen's side, which is 2 on the screen; down is negative there
  EXPECT_LT(glm::distance(on_screen(camera, held), glm::vec2(0.5f, -0.2f)), 1e-4f);
}

TEST(Camera, ZoomsWithinLimitsAndBack) {
  OrbitCamera camera;
  const float before = camera.distance();
  camera.zoom(3.0f);
  EXPECT_LT(camera.distance(), before);
  camera.zoom(-3.0f);
  EXPECT_NEAR(camera.distance(), before, 1e-4f);
  camera.zoom(1e6f);
  EXPECT_GT(camera.distance(), 0.0f);
  camera.zoom(-1e6f);
  EXPECT_TRUE(std::isfinite(camera.distance()));
  EXPECT_GT(camera.distance(), before);
}

TEST(Camera, ZoomsToThePointer) {
  for (const float aspect : {0.6f, 1.0f, 1.8f}) {
    for (const glm::vec2 middle : {glm::vec2{0.0f, 0.0f}, {0.3f, 0.2f}}) {
      OrbitCamera camera;
      camera.fit_into(std::min(aspect, 0.8f), middle);
      const glm::vec3 held = camera.target() + 0.4f * glm::vec3{glm::transpose(camera.view())[0]} -
                             0.2f * glm::vec3{glm::transpose(camera.view())[1]};
      const glm::vec2 pointer = on_screen(camera, held, aspect);
      for (const float steps : {3.0f, 5.0f, -7.0f}) {
        camera.zoom_at(steps, pointer, aspect);
        EXPECT_LT(glm::distance(on_screen(camera, held, aspect), pointer), 1e-4f) << aspect << ' ' << steps;
      }
    }
  }
}

TEST(Camera, ZoomsToThePointerWithinItsLimits) {
  OrbitCamera camera;
  camera.zoom_at(1e6f, {0.5f, 0.5f}, 1.0f);
  const glm::vec3 target = camera.target();
  camera.zoom_at(1.0f, {0.5f, 0.5f}, 1.0f);
  EXPECT_EQ(camera.target(), target) << "it cannot be nearer";
  camera.zoom_at(-1e6f, {50.0f, 0.5f}, 1.0f);
  EXPECT_TRUE(std::isfinite(glm::length(camera.target())));
  const glm::mat4 before = camera.view();
  camera.zoom_at(1.0f, {nan, 0.0f}, 1.0f);
  EXPECT_EQ(camera.view(), before);
}

TEST(Camera, FliesAlongItsOwnAxes) {
  OrbitCamera camera;
  camera.frame({1, 2, 3}, 2);
  camera.look_from(0, 0);  // seen from x
  const glm::vec3 before = camera.position();
  const float distance = camera.distance();
  camera.fly({0, 0, 0.5f});
  EXPECT_LT(glm::distance(camera.position(), before - glm::vec3{0.5f * distance, 0, 0}), 1e-4f * distance);
  EXPECT_LT(glm::distance(camera.target(), glm::vec3{1 - 0.5f * distance, 2, 3}), 1e-4f * distance);
  EXPECT_FLOAT_EQ(camera.distance(), distance);
  camera.fly({0, 0.25f, -0.5f});
  EXPECT_LT(glm::distance(camera.position(), before + glm::vec3{0, 0, 0.25f * distance}), 1e-4f * distance);
}

TEST(Camera, GoesTheShorterWayAround) {
  OrbitCamera from, to;
  from.place({0, 0, 0}, 3.0f, 0.2f, 1);
  to.place({4, 0, 0}, -3.0f, 0.4f, 4);
  const OrbitCamera middle = to.on_the_way_from(from, 0.5f);
  EXPECT_FLOAT_EQ(middle.target().x, 2);
  EXPECT_FLOAT_EQ(middle.distance(), 2);
  EXPECT_FLOAT_EQ(middle.elevation(), 0.3f);
  EXPECT_NEAR(std::cos(middle.azimuth()), -1, 1e-5);
  EXPECT_LT(glm::distance(to.on_the_way_from(from, 0).position(), from.position()), 1e-5f);
  EXPECT_LT(glm::distance(to.on_the_way_from(from, 1).position(), to.position()), 1e-5f);
}

TEST(Camera, AimsAtAPoint) {
  OrbitCamera camera;
  camera.frame({}, 1.0f);
  camera.zoom(2.0f);
  const float distance = camera.distance();
  camera.aim_at({3.0f, -2.0f, 5.0f});
  EXPECT_EQ(camera.distance(), distance);
  EXPECT_LT(glm::length(on_screen(camera, {3.0f, -2.0f, 5.0f})), 1e-5f);
  camera.aim_at({nan, 0.0f, 0.0f});
  EXPECT_EQ(camera.target(), glm::vec3(3.0f, -2.0f, 5.0f));
}

TEST(Camera, KnowsWhereAPointIsSeen) {
  OrbitCamera camera;
  const glm::vec3 point{0.1f, 0.2f, 0.3f};
  ASSERT_TRUE(camera.seen_at(point, 1.5f));
  EXPECT_EQ(*camera.seen_at(point, 1.5f), on_screen(camera, point, 1.5f));
  EXPECT_FALSE(camera.seen_at(2.0f * camera.position() - camera.target(), 1.5f)) << "behind the camera";
  EXPECT_FALSE(camera.seen_at({nan, 0.0f, 0.0f}, 1.5f));
}

TEST(Camera, ResetsToTheLastFrame) {
  OrbitCamera camera;
  camera.frame({1.0f, 1.0f, 1.0f}, 5.0f);
  const glm::mat4 home = camera.view();
  camera.orbit({0.2f, 0.1f});
  camera.pan({0.2f, 0.1f});
  camera.zoom(4.0f);
  EXPECT_NE(camera.view(), home);
  camera.reset();
  EXPECT_EQ(camera.view(), home);
}

TEST(Camera, IgnoresWhatIsNotFinite) {
  OrbitCamera camera;
  const glm::mat4 before = camera.view();
  camera.orbit({nan, 0.0f});
  camera.pan({0.0f, std::numeric_limits<float>::infinity()});
  camera.zoom(nan);
  camera.frame({nan, 0.0f, 0.0f}, 1.0f);
  camera.frame({0.0f, 0.0f, 0.0f}, nan);
  camera.look_from(nan, 0.0f);
  EXPECT_EQ(camera.view(), before);
}

TEST(Camera, FramesASinglePointFromSomeDistance) {
  OrbitCamera camera;
  camera.frame({0.0f, 0.0f, 0.0f}, 0.0f);
  EXPECT_GT(camera.framed_radius(), 0.0f);
  EXPECT_GT(camera.distance(), 0.0f);
}

TEST(Camera, LosesNothingInTheDistance) {
  OrbitCamera camera;
  const glm::vec3 away = camera.target() - 1e6f * glm::normalize(camera.position() - camera.target());
  const glm::vec4 clip = camera.projection(1.0f) * camera.view() * glm::vec4{away, 1.0f};
  EXPECT_LE(clip.z, clip.w);
}

TEST(Camera, ShowsAnotherBallAndKeepsTheFramedOne) {
  OrbitCamera camera, framed;
  camera.frame({1, 2, 3}, 2);
  camera.show({4, 5, 6}, 20);
  framed.frame({4, 5, 6}, 20);
  EXPECT_EQ(camera.position(), framed.position());
  EXPECT_EQ(camera.framed_radius(), 2);
  camera.show({NAN, 0, 0}, 1);
  camera.show({0, 0, 0}, 0);
  EXPECT_EQ(camera.position(), framed.position());
  camera.reset();
  EXPECT_EQ(camera.target(), (glm::vec3{1, 2, 3}));
}

TEST(Camera, LooksStraightDownAtThePoles) {
  for (const float pole : {-glm::half_pi<float>(), glm::half_pi<float>()}) {
    OrbitCamera camera;
    camera.frame({1.0f, 2.0f, 3.0f}, 1.0f);
    camera.look_from(-glm::half_pi<float>(), pole);  // the axes of a map: x at the right, y up
    const glm::vec3 away = camera.position() - camera.target();
    EXPECT_NEAR(away.x, 0.0f, 1e-6f);
    EXPECT_NEAR(away.y, 0.0f, 1e-6f);
    const auto x = camera.seen_at(camera.target() + glm::vec3{0.1f, 0.0f, 0.0f}, 1.0f);
    const auto y = camera.seen_at(camera.target() + glm::vec3{0.0f, 0.1f, 0.0f}, 1.0f);
    ASSERT_TRUE(x && y);
    EXPECT_GT(x->x, 0.01f);
    EXPECT_NEAR(x->y, 0.0f, 1e-6f);
    EXPECT_NEAR(y->x, 0.0f, 1e-6f);
    EXPECT_GT(pole * y->y, 0.01f);
  }
}

}  // namespace
}  // namespace orrery::render
