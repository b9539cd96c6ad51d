#include "app/ui_state/camera_commands.h"
#include "app/window/camera_control.h"
#include "app/window/position_bridge.h"
#include "compute/core/error.h"
#include "compute/sim/simulation.h"
#include "render/gl/gl.h"
#include "render/gl/gl_objects.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

struct BodyPickerTest : testing::Test {
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

struct CameraFollowTest : testing::Test {
  CameraFollowTest() { move({0, 0, 0}); }

  /// Two galaxies: 300 bodies about `place`, and 100 bodies that stay.
  void move(glm::vec3 place) {
    std::vector<glm::vec4> arrays;
    for (int i = 0; i < 400; ++i) {
      const auto at = static_cast<float>(i);
      const glm::vec3 from_middle{0.1f * std::sin(at), 0.1f * std::cos(at), 0.1f * std::sin(3 * at)};
      arrays.emplace_back((i < 300 ? place : still) + from_middle, 1);
    }
    arrays.resize(800);
    buffer_.upload(std::as_bytes(std::span{arrays}));
    moved_ = true;
  }
  /// One frame. Returns whether the target is another one.
  bool frame(CameraFollow& follow) {
    const render::DrawnBodies bodies{buffer_.id(), 400};
    const BodyPicker::Scene seen{bodies, time_, history_, appearance_, ranges_, {0, 300, 200}, parts_};
    picker_.update(seen, camera_);
    const bool another = follow.update({bodies, time_, history_, moved_, parts_}, picker_);
    follow.aim(camera_);
    moved_ = false;
    return another;
  }
  glm::vec2 seen(glm::vec3 point) const { return camera_.seen_at(point, 1.5f).value_or(glm::vec2{-9}); }

  const glm::vec3 still{4, 0, 0};
  render::OffscreenContext context_;
  render::OrbitCamera camera_;
  render::Appearance appearance_;
  render::ValueRanges ranges_{{0, 1}, {1, 1}, {}};
  render::Buffer buffer_{800 * sizeof(glm::vec4)};
  Parts parts_{.names = {"disc", "halo"}, .of_body = std::vector<std::uint8_t>(400, 1)};
  BodyPicker picker_{true};
  bool moved_ = false;
  double time_ = 0;
  std::int64_t history_ = 0;
};

TEST_F(CameraFollowTest, WhatIsFollowedStaysWhereItIsInThePicture) {
  for (int i = 0; i < 300; ++i) parts_.of_body[static_cast<std::size_t>(i)] = 0;
  picker_.pick(7);
  for (const Follow& what :
       {Follow{Followed::body}, Follow{Followed::mass}, Follow{Followed::cluster}, Follow{Followed::part, "disc"}}) {
    SCOPED_TRACE(word_of(what.what));
    CameraFollow follow{true};
    move({0, 0, 0});
    follow.start(what, parts_);
    EXPECT_TRUE(frame(follow)) << "the first target";
    const glm::vec3 first = camera_.target();
    camera_.pan({0.1f, 0.2f});
    camera_.orbit({0.05f, 0.1f});
    camera_.zoom(1);
    const glm::vec2 place = seen(first);
    const float share = what.what == Followed::mass ? 0.75f : 1;  // of the moves of the first galaxy
    for (int i = 1; i <= 40; ++i) {
      time_ += 0.1;
      const glm::vec3 way{0.02f * static_cast<float>(i), 0.01f * static_cast<float>(i), 0};
      move(way);
      EXPECT_FALSE(frame(follow));
      const glm::vec2 now = seen(first + share * way);
      EXPECT_NEAR(now.x, place.x, 1e-3f) << i;
      EXPECT_NEAR(now.y, place.y, 1e-3f) << i;
    }
  }
}

TEST_F(CameraFollowTest, BodiesOfAPartHaveTheirOwnCentre) {
  for (int i = 0; i < 300; ++i) parts_.of_body[static_cast<std::size_t>(i)] = 0;
  CameraFollow follow{true};
  follow.start({Followed::part, "halo"}, parts_);
  frame(follow);
  EXPECT_LT(glm::distance(camera_.target(), still), 0.02f);
  parts_ = {.names = {"halo", "disc"}, .of_body = parts_.of_body};
  ++history_;
  moved_ = true;
  frame(follow);
  EXPECT_LT(glm::distance(camera_.target(), {0, 0, 0}), 0.02f) << "other bodies have that name";
  parts_.of_body.clear();
  ++history_;
  moved_ = true;
  EXPECT_FALSE(frame(follow)) << "parts of other bodies than those that are drawn";
}

TEST_F(CameraFollowTest, InAWindowTheTargetIsExtrapolatedAndNothingWaits) {
  CameraFollow follow{false};
  follow.start({Followed::mass}, parts_);
  const auto step = [&](float x) {
    time_ = x;
    move({x, 0, 0});
    frame(follow);
    glFinish();
  };
  for (const float x : {0.0f, 0.1f, 0.2f, 0.3f, 0.4f}) step(x);
  const float first = camera_.target().x;
  step(0.5f);
  EXPECT_NEAR(camera_.target().x - first, 0.75f * 0.1f, 1e-4f);
  EXPECT_NEAR(camera_.target().x, 1 + 0.75f * 0.5f, 0.02f) << "also between two centres";
}

TEST_F(CameraFollowTest, OtherBodiesBeginWithoutAGlide) {
  CameraFollow follow{true};
  follow.start({Followed::cluster}, parts_);
  frame(follow);
  EXPECT_LT(glm::distance(camera_.target(), {0, 0, 0}), 0.02f);
  ++history_;
  move({-3, 0, 0});
  EXPECT_FALSE(frame(follow)) << "other bodies begin where they are";
  EXPECT_LT(glm::distance(camera_.target(), {-3, 0, 0}), 0.02f);
}

TEST_F(CameraFollowTest, TheBodyIsFollowedWhileItIsPicked) {
  CameraFollow follow{true};
  picker_.pick(3);
  follow.start({Followed::body}, parts_);
  EXPECT_TRUE(frame(follow));
  picker_.pick(350);
  EXPECT_TRUE(frame(follow)) << "another body";
  EXPECT_LT(glm::distance(camera_.target(), still), 0.2f);
  picker_.unpick();
  frame(follow);
  EXPECT_FALSE(follow.active());
}

TEST_F(CameraFollowTest, AClusterThatChangesMovesThePictureSmoothly) {
  CameraFollow follow{true};
  follow.start({Followed::cluster}, parts_);
  frame(follow);
  glm::vec3 last = camera_.target();
  for (int i = 1; i <= 60; ++i) {
    time_ += 0.1;
    move({i < 10 ? 0.0f : 0.1f, 0, 0});
    frame(follow);
    EXPECT_LT(glm::distance(camera_.target(), last), 0.025f) << i;
    last = camera_.target();
  }
  EXPECT_NEAR(last.x, 0.1f, 0.02f);
}

TEST_F(CameraFollowTest, StopsWhereItIs) {
  CameraFollow follow{true};
  follow.start({Followed::mass}, parts_);
  frame(follow);
  follow.stop();
  const glm::vec3 left = camera_.target();
  move({1, 0, 0});
  EXPECT_FALSE(frame(follow));
  EXPECT_EQ(camera_.target(), left);
}

std::string refusal(const Follow& what, const Parts& parts) {
  return failure_of([&] { CameraFollow{true}.start(what, parts); }).message;
}

TEST_F(CameraFollowTest, RefusalsNameTheChoices) {
  EXPECT_EQ(refusal({Followed::part, "disk"}, parts_),
            "unknown part 'disk'; did you mean disc? Known parts: disc, halo");
  EXPECT_EQ(refusal({Followed::part, ""}, parts_), "follow part needs the name of a part: disc, halo");
  EXPECT_EQ(refusal({Followed::part, "disc"}, {}),
            "the scene has no parts that the camera could follow; follow can be body, mass, cluster or off");
  EXPECT_EQ(refusal({Followed::mass, "disc"}, parts_),
            "follow mass takes no name; only a part has one: follow part NAME");
}

TEST_F(CameraFollowTest, AnotherSceneEndsWhatItDoesNotHave) {
  CameraFollow follow{true};
  follow.start({Followed::part, "disc"}, parts_);
  EXPECT_EQ(follow.take_scene(parts_), "");
  EXPECT_TRUE(follow.active());
  EXPECT_EQ(follow.take_scene({.names = {"gas", "star"}, .of_body = {}}),
            "the camera no longer follows 'disc': this scene has only gas, star");
  EXPECT_FALSE(follow.active());
  follow.start({Followed::cluster}, parts_);
  EXPECT_EQ(follow.take_scene({}), "");
  EXPECT_TRUE(follow.active());
  follow.start({Followed::body}, parts_);
  EXPECT_EQ(follow.take_scene({}), "");
  EXPECT_FALSE(follow.active());
}

struct PositionBridgeTest : testing::Test {
  render::OffscreenContext context_;
  PositionBridge bridge_{Sharing{.reason = "not tried", .cure = "try"}, backends().device()};
};

TEST_F(PositionBridgeTest, WithoutSharingTheSimulationKeepsItsBodies) {
  EXPECT_EQ(bridge_.storage(), nullptr);
  EXPECT_EQ(bridge_.mode(Backend::cpu), Interop::host);
  EXPECT_EQ(bridge_.mode(Backend::cuda), Interop::staged);
  EXPECT_EQ(bridge_.reason(Backend::cuda), "not tried. try");
  EXPECT_FALSE(bridge_.reason(Backend::cpu).empty());
}

TEST_F(PositionBridgeTest, DrawsWhatTheSimulationHolds) {
  Simulation simulation{backends(), {.scene = "plummer", .count = 1000}};
  simulation.apply(SelectKernel{"cpu-openmp"});
  ASSERT_TRUE(bridge_.fetch(simulation, simulation.status()));
  bridge_.upload();
  EXPECT_EQ(bridge_.read_drawn(), simulation.bodies());
  simulation.run(3);
  ASSERT_TRUE(bridge_.fetch(simulation, simulation.status()));
  bridge_.upload();
  EXPECT_EQ(bridge_.read_drawn(), simulation.bodies());
}

TEST_F(PositionBridgeTest, FollowsTheCount) {
  Simulation simulation{backends(), {.scene = "plummer", .count = 100}};
  simulation.apply(SelectKernel{"cpu-openmp"});
  for (const int count : {100, 4097, 33}) {
    simulation.apply(LoadScene{{.scene = "plummer", .count = count}});
    ASSERT_TRUE(bridge_.fetch(simulation, simulation.status()));
    bridge_.upload();
    EXPECT_EQ(bridge_.drawn().count, count);
    EXPECT_EQ(bridge_.read_drawn(), simulation.bodies());
  }
}

TEST_F(PositionBridgeTest, WhatTheTrialFindsIsConsistent) {
  const Sharing sharing = try_sharing(backends());
  EXPECT_EQ(sharing.possible, sharing.reason.empty());
  EXPECT_EQ(sharing.possible, sharing.cure.empty());
  EXPECT_TRUE(!sharing.possible || sharing.same_gpu == true);
}

}  // namespace
}  // namespace orrery::test
