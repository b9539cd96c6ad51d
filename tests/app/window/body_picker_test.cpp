#include <gtest/gtest.h>

#include <vector>

#include "app/window/camera_control.h"
#include "render/gl/gl.h"
#include "render/gl/gl_objects.h"

namespace orrery {
namespace {

class BodyPickerTest : public testing::Test {
 protected:
  static constexpr glm::vec2 middle{0.5f, 0.5f};

  BodyPickerTest() { move(0); }

  /// Body 1 at `x`, the others behind the camera.
  void move(float x, glm::vec3 velocity = {3, 4, 0}) {
    const glm::vec4 behind{0, 0, 1e5f, 1};
    const std::vector<glm::vec4> arrays{behind, {x, 0, 0, 2}, behind, {}, {velocity, 0}, {}};
    buffer_.upload(std::as_bytes(std::span{arrays}));
  }
  BodyPicker::Scene scene() const {
    return {{buffer_.id(), 3},
            time_,
            history_,
            appearance_,
            ranges_,
            {.framebuffer = 0, .width = 300, .height = 200},
            parts_};
  }
  /// One frame.
  std::optional<PickedBody> update(BodyPicker& picker) {
    found_ = picker.update(scene(), camera_);
    return picker.describe(scene(), camera_);
  }

  render::OffscreenContext context_;
  render::OrbitCamera camera_;
  render::Appearance appearance_;
  render::ValueRanges ranges_{{0, 1}, {1, 1}, {}};
  render::Buffer buffer_{6 * sizeof(glm::vec4)};
  Parts parts_;
  bool found_ = true;
  double time_ = 0;
  std::int64_t history_ = 0;
};

TEST_F(BodyPickerTest, KnowsTheMeanAccelerationSinceTheReadingBefore) {
  BodyPicker picker{true};
  picker.pick(1);
  EXPECT_FALSE(update(picker)->acceleration);
  move(0, {3, 5, 0});
  time_ = 0.5;
  for (int frame = 0; frame < 2; ++frame) {  // the second one while paused
    const auto body = update(picker);
    ASSERT_TRUE(body && body->acceleration);
    EXPECT_EQ(*body->acceleration, (std::array{0.0f, 2.0f, 0.0f}));
  }
  history_ = 1;
  time_ = 3;
  EXPECT_FALSE(update(picker)->acceleration) << "other bodies";
}

TEST_F(BodyPickerTest, DescribesTheBodyAtAPlace) {
  BodyPicker picker{true};
  EXPECT_FALSE(update(picker));
  picker.pick_at(middle);
  EXPECT_TRUE(picker.active());
  auto body = update(picker);
  ASSERT_TRUE(body);
  EXPECT_TRUE(found_);
  EXPECT_EQ(body->number, 1);
  EXPECT_EQ(body->mass, 2);
  EXPECT_EQ(body->velocity, (std::array{3.0f, 4.0f, 0.0f}));
  EXPECT_EQ(body->part, "") << "the scene has none";
  ASSERT_TRUE(body->place);
  EXPECT_NEAR((*body->place)[0], 0.5f, 1e-5f);
  parts_ = {.names = {"disc", "halo"}, .of_body = {0, 1, 0}};
  move(0.25f);
  body = update(picker);
  ASSERT_TRUE(body);
  EXPECT_EQ(body->part, "halo");
  EXPECT_EQ(body->position, (std::array{0.25f, 0.0f, 0.0f}));
  EXPECT_FLOAT_EQ(body->distance, 0.25f);
}

TEST_F(BodyPickerTest, PicksNothingWhereThereIsNoBody) {
  BodyPicker picker{true};
  picker.pick(1);
  ASSERT_TRUE(update(picker));
  picker.pick_at({0.9f, 0.1f});
  EXPECT_FALSE(update(picker));
  EXPECT_FALSE(found_);
  EXPECT_FALSE(picker.active() || picker.position());
  update(picker);
  EXPECT_TRUE(found_) << "that was for one frame";
}

TEST_F(BodyPickerTest, PicksWhereTheWindowIsSeenFromItsUpperLeftCorner) {
  BodyPicker picker{true};
  const auto seen = camera_.seen_at({0.3f, 0, 0.4f}, 1.5f);
  const std::vector<glm::vec4> arrays{{0, 0, 0, 1}, {0.3f, 0, 0.4f, 1}, {0.3f, 0, -0.4f, 1}, {}, {}, {}};
  buffer_.upload(std::as_bytes(std::span{arrays}));
  picker.pick_at({0.5f + 0.5f * seen->x, 0.5f - 0.5f * seen->y});
  const auto body = update(picker);
  ASSERT_TRUE(body && body->place);
  EXPECT_EQ(body->number, 1);
  EXPECT_LT((*body->place)[1], 0.5f) << "above the middle";
}

TEST_F(BodyPickerTest, InAWindowTheNumbersArriveWithinAFewFrames) {
  BodyPicker picker{false};
  picker.pick(1);
  const auto first = update(picker);
  ASSERT_TRUE(first) << "the first ones are read at once";
  EXPECT_EQ(first->position[0], 0);
  for (const float x : {0.25f, 0.5f, 0.75f}) {
    move(x);
    update(picker);  // asks for a copy, or finds one
    glFinish();
    const auto body = update(picker);
    ASSERT_TRUE(body);
    EXPECT_EQ(body->position[0], x);
  }
}

TEST_F(BodyPickerTest, AnotherSceneKeepsOnlyWhatWasAskedForSinceTheLastPicture) {
  BodyPicker picker{true};
  picker.pick(1);
  picker.leave_scene();
  EXPECT_EQ(picker.number(), 1);
  EXPECT_TRUE(update(picker));
  picker.leave_scene();
  EXPECT_FALSE(picker.active());
  picker.pick_at(middle);
  picker.leave_scene();
  EXPECT_TRUE(update(picker));
}

TEST_F(BodyPickerTest, ABodyThatIsGoneIsNotPicked) {
  BodyPicker picker{true};
  picker.pick(3);
  EXPECT_FALSE(update(picker));
  EXPECT_FALSE(picker.active());
  EXPECT_TRUE(found_);
}

TEST_F(BodyPickerTest, BehindTheCameraABodyHasNoPlace) {
  BodyPicker picker{true};
  picker.pick(0);
  const auto body = update(picker);
  ASSERT_TRUE(body);
  EXPECT_EQ(body->position[2], 1e5f);
  EXPECT_FALSE(body->place);
}

}  // namespace
}  // namespace orrery
