#include "app/window/camera_control.h"

#include <gtest/gtest.h>
#include <imgui.h>

#include <cfloat>
#include <functional>
#include <optional>
#include <variant>

#include "app/ui_state/camera_commands.h"

namespace orrery {
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

}  // namespace
}  // namespace orrery
