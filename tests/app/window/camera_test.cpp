#include "render/camera.h"

#include <imgui.h>

#include <cfloat>
#include <variant>

#include "app/ui_state/camera_commands.h"
#include "app/window/camera_control.h"
#include "app/window/lane.h"
#include "compute/scenes/scene.h"
#include "tests/app/support/test.h"

namespace orrery::test {
namespace {

/// The requests to the camera of a frame with this mouse input.
Requests camera_requests_after(const std::function<void(ImGuiIO&)>& input, const HeldKeys& held = {}) {
  ImGuiIO io;
  io.DisplaySize = {400, 200};
  input(io);
  return CameraControl{}.requests(io, held, std::nullopt);
}

template <class T>
T only(const Requests& requests) {
  EXPECT_EQ(requests.size(), 1u);
  const T* command = requests.empty() ? nullptr : command_if<T>(requests.front());
  EXPECT_TRUE(command);
  return command ? *command : T{};
}

TEST(Mouse, MakesCommandsForTheCamera) {
  const auto drag = [](int button, bool shift) {
    return camera_requests_after([=](ImGuiIO& io) {
      io.MouseDelta = {20, 50};
      io.MouseDown[button] = true;
      io.KeyShift = shift;
    });
  };
  for (const int button : {ImGuiMouseButton_Left, ImGuiMouseButton_Middle}) {
    const auto orbit = only<OrbitView>(drag(button, false));
    EXPECT_FLOAT_EQ(orbit.right, 0.1f);
    EXPECT_FLOAT_EQ(orbit.up, -0.25f);
  }
  for (const Requests& panned : {drag(ImGuiMouseButton_Right, false), drag(ImGuiMouseButton_Right, true),
                                 drag(ImGuiMouseButton_Middle, true), drag(ImGuiMouseButton_Left, true)}) {
    EXPECT_FLOAT_EQ(only<PanView>(panned).right, 0.1f);
    EXPECT_FLOAT_EQ(only<PanView>(panned).up, -0.25f);
  }
  only<FrameAll>(camera_requests_after([](ImGuiIO& io) { io.MouseDoubleClicked[ImGuiMouseButton_Left] = true; }));
}

TEST(Mouse, ArrowKeysFlyWhileTheyAreDown) {
  const auto flown = [](const HeldKeys& held, bool shift, bool typing) {
    const auto input = [=](ImGuiIO& io) {
      io.DeltaTime = 0.05f;
      io.KeyShift = shift;
      io.WantTextInput = typing;
    };
    return camera_requests_after(input, held);
  };
  const float length = FlyView::per_s * 0.05f;
  EXPECT_FLOAT_EQ(only<FlyView>(flown({.forward = 1}, false, false)).forward, length);
  EXPECT_FLOAT_EQ(only<FlyView>(flown({.right = -1}, false, false)).right, -length);
  EXPECT_FLOAT_EQ(only<FlyView>(flown({.up = -1}, true, false)).up, -length * FlyView::fast);
  EXPECT_TRUE(flown({.forward = 1}, false, true).empty()) << "the key belongs to the text";
}

TEST(Mouse, ZoomsToThePointer) {
  const auto zoomed = [](ImVec2 at) {
    return only<ZoomView>(camera_requests_after([=](ImGuiIO& io) {
      io.MousePos = at;
      io.MouseWheel = -2;
    }));
  };
  const ZoomView zoom = zoomed({100, 150});
  EXPECT_EQ(zoom.notches, -2);
  EXPECT_EQ(zoom.x, 0.25f);
  EXPECT_EQ(zoom.y, 0.75f);
  for (const ImVec2 outside : {ImVec2{-1, 10}, ImVec2{10, 201}, ImVec2{-FLT_MAX, -FLT_MAX}}) {
    EXPECT_EQ(zoomed(outside).notches, -2);
    EXPECT_FALSE(zoomed(outside).x || zoomed(outside).y) << outside.x;
  }
}

TEST(Mouse, AClickPicks) {
  const auto released = [](const std::function<void(ImGuiIO&)>& more) {
    return camera_requests_after([&](ImGuiIO& io) {
      io.MousePos = {100, 150};
      io.MouseClickedPos[0] = io.MousePos;
      io.MouseReleased[0] = true;
      io.MouseClickedLastCount[0] = 1;
      more(io);
    });
  };
  const auto pick = only<PickAt>(released([](ImGuiIO& io) { io.MouseDragMaxDistanceSqr[0] = 4; }));
  EXPECT_EQ(pick.x, 0.25f);
  EXPECT_EQ(pick.y, 0.75f);
  EXPECT_TRUE(released([](ImGuiIO& io) { io.MouseDragMaxDistanceSqr[0] = 100; }).empty()) << "it was a drag";
  EXPECT_TRUE(released([](ImGuiIO& io) { io.MouseClickedPos[0] = {60, 150}; }).empty()) << "a drag in one frame";
  EXPECT_TRUE(released([](ImGuiIO& io) { io.MouseClickedLastCount[0] = 2; }).empty()) << "a double click";
  EXPECT_TRUE(released([](ImGuiIO& io) { io.MouseDownOwned[0] = true; }).empty()) << "it began over a panel";
  EXPECT_TRUE(released([](ImGuiIO& io) { io.WantCaptureMouse = true; }).empty()) << "it ended over a panel";
  EXPECT_TRUE(released([](ImGuiIO& io) { io.MousePos = {100, 300}; }).empty()) << "it ended beyond the window";
}

TEST(Mouse, ADoubleClickShowsAllAndPicksNothing) {
  for (const std::optional<int> picked : {std::optional<int>{}, std::optional{7}}) {
    CameraControl control;
    ImGuiIO io;
    io.DisplaySize = {400, 200};
    io.MousePos = io.MouseClickedPos[0] = {100, 150};
    const auto press = [&](std::optional<int> now, bool twice) {
      io.MouseClicked[0] = true;
      io.MouseReleased[0] = false;
      io.MouseDoubleClicked[0] = twice;
      io.MouseClickedLastCount[0] = twice ? 2 : 1;
      return control.requests(io, {}, now);
    };
    const auto release = [&](std::optional<int> now) {
      io.MouseClicked[0] = io.MouseDoubleClicked[0] = false;
      io.MouseReleased[0] = true;
      return control.requests(io, {}, now);
    };
    EXPECT_TRUE(press(picked, false).empty());
    only<PickAt>(release(picked));
    const Requests second = press(3, true);
    ASSERT_EQ(second.size(), 2u);
    if (picked) {
      EXPECT_EQ(only<PickBody>({second.front()}).number, *picked);
    } else {
      only<Unpick>({second.front()});
    }
    only<FrameAll>({second.back()});
    EXPECT_TRUE(release(picked).empty());
    EXPECT_TRUE(press(picked, false).empty());
    only<PickAt>(release(picked));
  }
}

TEST(Mouse, AsksForNothingAtRestOrOverAPanel) {
  EXPECT_TRUE(camera_requests_after([](ImGuiIO& io) { io.MouseDelta = {20, 50}; }).empty()) << "no button";
  EXPECT_TRUE(camera_requests_after([](ImGuiIO& io) { io.MouseDown[ImGuiMouseButton_Left] = true; }).empty());
  EXPECT_TRUE(camera_requests_after([](ImGuiIO& io) {
                io.WantCaptureMouse = true;
                io.MouseWheel = 1;
              }).empty());
  EXPECT_TRUE(camera_requests_after([](ImGuiIO& io) {
                io.DisplaySize = {0, 0};
                io.MouseWheel = 1;
              }).empty());
}

render::OrbitCamera at(float x) {
  render::OrbitCamera camera;
  camera.place({x, 0, 0}, 0, 0, 1);
  return camera;
}

TEST(CameraGlide, GoesFromTheOldViewToTheNewOneAndStays) {
  CameraGlide glide;
  EXPECT_EQ(glide.shown(at(5), 10).target().x, 5);
  glide.start(at(5), 10);
  EXPECT_EQ(glide.shown(at(7), 10).target().x, 5);
  EXPECT_FLOAT_EQ(glide.shown(at(7), 10 + CameraGlide::duration_s / 2).target().x, 6);
  EXPECT_EQ(glide.shown(at(7), 10 + CameraGlide::duration_s).target().x, 7);
  EXPECT_EQ(glide.shown(at(9), 10.001).target().x, 9) << "it has ended";
}

TEST(CameraGlide, AnotherJumpBeginsWhereThePictureIs) {
  CameraGlide glide;
  glide.start(at(0), 0);
  glide.start(at(2), CameraGlide::duration_s / 2);
  EXPECT_FLOAT_EQ(glide.shown(at(-3), CameraGlide::duration_s / 2).target().x, 1);
}

TEST(PathPlayer, MakesAPathOfViewsAndMovesACameraAlongIt) {
  render::OrbitCamera camera;
  camera.frame({1, 2, 3}, 4);
  PathPlayer player;
  EXPECT_EQ(player.add(camera, 5).time_s, 0);
  const render::OrbitCamera first = camera;
  camera.orbit({0.3f, 0.1f});
  camera.zoom(4);
  EXPECT_EQ(player.add(camera, 5).time_s, 5);
  const render::OrbitCamera second = camera;
  EXPECT_TRUE(player.unsaved());

  player.play(CameraPath{player.made()}, 100);
  const auto expect_same = [&](const render::OrbitCamera& wanted) {
    EXPECT_NEAR(camera.azimuth(), wanted.azimuth(), 1e-5);
    EXPECT_NEAR(camera.elevation(), wanted.elevation(), 1e-5);
    EXPECT_NEAR(camera.distance(), wanted.distance(), 1e-4);
    EXPECT_EQ(camera.target(), wanted.target());
  };
  player.follow(100, camera);
  expect_same(first);
  player.follow(102.5, camera);
  EXPECT_LT(camera.distance(), first.distance());
  EXPECT_GT(camera.distance(), second.distance());
  player.follow(105.5, camera);
  expect_same(second);
  camera.zoom(1);
  const float moved = camera.distance();
  player.follow(106, camera);
  EXPECT_EQ(camera.distance(), moved) << "the path has ended";
}

TEST(PathPlayer, StopsForTheUser) {
  render::OrbitCamera camera;
  PathPlayer player;
  player.add(camera, 1);
  camera.zoom(3);
  player.play(CameraPath{player.made()}, 0);
  player.stop();
  const float distance = camera.distance();
  player.follow(0.5, camera);
  EXPECT_EQ(camera.distance(), distance);
  player.clear();
  EXPECT_TRUE(player.made().empty());
  EXPECT_FALSE(player.unsaved());
}

/// A line of bodies at x = 0 to 99, each with its place as its speed and its mass.
Bodies line() {
  Bodies bodies;
  for (int i = 0; i < 100; ++i) {
    const auto x = static_cast<float>(i);
    bodies.positions.push_back({x, 5, -3, x + 1});
    bodies.velocities.push_back({0, x, 0, 0});
  }
  return bodies;
}

TEST(Framing, HoldsMostBodies) {
  const Framing framing = framing_of(line());
  EXPECT_NEAR(framing.centre.x, 49.5f, 1.0f);
  EXPECT_EQ(framing.centre.y, 5);
  EXPECT_EQ(framing.centre.z, -3);
  EXPECT_GT(framing.radius, 47.5f);  // of 95 %
  EXPECT_LT(framing.radius, 60);
  EXPECT_NEAR(framing.ranges.speed.low, 2, 1);
  EXPECT_NEAR(framing.ranges.speed.high, 97, 1);
}

TEST(Framing, KnowsTheOnlyMass) {
  Bodies bodies = line();
  EXPECT_FALSE(framing_of(bodies).only_mass);
  for (Vec4& body : bodies.positions) body.w = 0.25f;
  EXPECT_EQ(framing_of(bodies).only_mass, 0.25f);
  bodies.positions.back().w = 0.5f;
  EXPECT_FALSE(framing_of(bodies).only_mass) << "also a single other body counts";
  EXPECT_FALSE(framing_of({}).only_mass);
}

TEST(Framing, OneBodyFarOutChangesLittle) {
  Bodies bodies = line();
  bodies.positions.push_back({1e9f, 1e9f, 1e9f, 1});
  bodies.velocities.push_back({1e9f, 0, 0, 0});
  const Framing framing = framing_of(bodies);
  EXPECT_LT(framing.radius, 65);
  EXPECT_LT(framing.ranges.speed.high, 110);
}

TEST(Framing, OfAllHoldsTheFarthestBodiesToo) {
  Bodies bodies = line();
  for (const float far : {-900.0f, 5000.0f}) {
    bodies.positions.push_back({far, 5, -3, 1});
    bodies.velocities.push_back({});
  }
  bodies.positions.push_back({std::numeric_limits<float>::infinity(), 5, -3, 1});
  bodies.velocities.push_back({});
  const Framing framing = framing_of(bodies);
  EXPECT_LT(framing.radius, 65);
  EXPECT_EQ(framing.all.centre, (glm::vec3{2050, 5, -3}));
  EXPECT_GT(framing.all.radius, 1.1f * 2950);
  EXPECT_LT(framing.all.radius, 1.3f * 2950);
}

TEST(Framing, LeavesOutWhatIsNotFinite) {
  Bodies bodies = line();
  for (std::size_t i = 0; i < 60; ++i) {
    bodies.positions[i].x = std::numeric_limits<float>::quiet_NaN();
    bodies.velocities[i].y = std::numeric_limits<float>::infinity();
  }
  const Framing framing = framing_of(bodies);
  EXPECT_GT(framing.centre.x, 60);
  EXPECT_LT(framing.centre.x, 100);
  EXPECT_LT(framing.ranges.speed.high, 100);
}

TEST(Framing, IsUsableForOneBodyEqualBodiesAndNone) {
  for (const int count : {0, 1, 10}) {
    Bodies bodies;
    bodies.positions.assign(static_cast<std::size_t>(count), {1, 2, 3, 4});
    bodies.velocities.assign(static_cast<std::size_t>(count), {});
    const Framing framing = framing_of(bodies);
    EXPECT_GT(framing.radius, 0) << count;
    EXPECT_LT(framing.ranges.speed.low, framing.ranges.speed.high) << count;
    EXPECT_LT(framing.ranges.mass.low, framing.ranges.mass.high) << count;
  }
}

/// The share of the bodies that lie on the screen, a tenth of its sides left free: at the first frame, or after F.
double seen_share(const SceneRequest& request, float aspect, bool of_all = false) {
  const Bodies bodies = load_scene(request).bodies;
  const Framing framing = framing_of(bodies);
  EXPECT_LT(framing.ranges.speed.low, framing.ranges.speed.high) << request.scene;
  render::OrbitCamera camera;
  camera.frame(framing.centre, framing.radius);
  if (of_all) camera.show(framing.all.centre, framing.all.radius);
  const glm::mat4 to_screen = camera.projection(aspect) * camera.view();
  const auto seen = std::ranges::count_if(bodies.positions, [&](const Vec4& p) {
    const glm::vec4 clip = to_screen * glm::vec4{p.x, p.y, p.z, 1};
    return std::abs(clip.x) < 0.9f * clip.w && std::abs(clip.y) < 0.9f * clip.w;
  });
  return static_cast<double>(seen) / bodies.count();
}

TEST(Framing, ShowsEverySceneWithAMargin) {
  for (const SceneInfo* info : scenes()) {
    for (const float aspect : {0.5f, 1.0f, 1.8f}) {
      EXPECT_GE(seen_share({.scene = info->id}, aspect), 0.95) << info->id << " at " << aspect;
      EXPECT_EQ(seen_share({.scene = info->id}, aspect, true), 1) << info->id << " at " << aspect;
    }
  }
}

TEST(Framing, ShowsAllOfFewBodies) {
  for (const SceneInfo* info : scenes()) {
    for (const int count : {info->min_count, 5, 64}) {
      const std::int64_t asked = info->fixed_count > 0 ? 0 : std::max(count, info->min_count);
      for (const float aspect : {0.5f, 1.8f}) {
        EXPECT_EQ(seen_share({.scene = info->id, .count = asked}, aspect), 1) << info->id << " of " << asked;
      }
    }
  }
}

}  // namespace
}  // namespace orrery::test
