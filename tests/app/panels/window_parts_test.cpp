#include <imgui_internal.h>

#include "app/features/sweep/sweep.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "app/ui_state/camera_commands.h"
#include "app/ui_state/window_commands.h"
#include "compute/snapshots/units.h"
#include "tests/app/panels/panels_fixture.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

TEST_F(Panels, OpenAFileOfTheHomeFolder) {
  click("section.scene");
  click("file");
  const char* const home = std::getenv("HOME");
  ASSERT_NE(home, nullptr);
  EXPECT_EQ(only<LoadScene>(type("~/some.bin")).request.file, std::string{home} + "/some.bin");
}

TEST_F(Panels, LoadWhatEnterEnds) {
  click("section.scene");
  click("count");
  EXPECT_EQ(only<LoadScene>(type("0")).request.count, 10000) << "behind what stands there";
  click("seed");
  EXPECT_EQ(only<LoadScene>(type("2")).request.seed, 12u);
  state.scene.seed = "-1";
  EXPECT_TRUE(click("load").empty()) << "no seed";
}

TEST_F(Panels, SayWhyAnEntryIsRefused) {
  click("section.scene");
  const auto says = [this](const char* words) { return side_column_text().find(words) != std::string::npos; };
  EXPECT_FALSE(says("whole number"));
  state.scene.count = "1.5k";
  EXPECT_TRUE(says("'1.5k'") && says("2 to 2,147,483,647")) << side_column_text();
  state.scene.count = "16k";
  EXPECT_FALSE(says("whole number"));
  state.scene.seed = "-1";
  EXPECT_TRUE(says("'-1'") && says("0 to 9,223,372,036,854,775,807")) << side_column_text();
  open_tab("sweep");
  state.lab.drafts.of<SweepDraft>().counts = "4k,1.5k";
  expect_holds(lab_text(), {"'4k,1.5k'"});
}

TEST_F(Panels, ShowWhereTheTimeOfEachDeviceGoes) {
  frame();
  EXPECT_FALSE(seen("device.0"));
  status.device_loads = {{.device = 0, .work_ms = 6, .copy_ms = 1, .wait_ms = 1},
                         {.device = 1, .work_ms = 4, .copy_ms = 2, .wait_ms = 2}};
  const std::string text = side_column_text();
  EXPECT_TRUE(seen("device.0") && seen("device.1"));
  expect_holds(text, {"8.00 ms", "imbalance 20 %", "copies"});
}

TEST_F(Panels, ShowAFileAsTheScene) {
  click("section.scene");
  status.scene = {.scene = "collision", .file = "/data/galaxy.tipsy", .count = 12345};
  status.scene_name = "galaxy.tipsy";
  status.count = 12345;
  settle();
  expect_holds(side_column_text(), {"galaxy.tipsy", "12,345"});
  EXPECT_FALSE(seen("count") || seen("seed")) << "a file has its own bodies";
  EXPECT_TRUE(seen("count.of-file"));
  EXPECT_EQ(only<LoadScene>(click("load")).request, (SceneRequest{.scene = {}, .file = "/data/galaxy.tipsy"}));
  EXPECT_TRUE(pick("scene", "disc").empty());
  EXPECT_EQ(only<LoadScene>(click("load")).request.scene, "disc");
  EXPECT_TRUE(pick("scene", "file").empty());
  EXPECT_TRUE(seen("count.of-file"));
}

TEST_F(Panels, NameTheKernelWhereItsSectionIsFolded) {
  select(find_kernel("cpu-simd"));
  status.chosen = "rows 2";
  expect_holds(side_column_text(), {"Kernel: rows 2"});
  click("section.kernel");
  expect_holds(side_column_text(), {std::string{"Kernel: "} + status.kernel->title});
  status.auto_choice = AutoChoice{"auto: cpu-simd", "One step with 1000 bodies"};
  expect_holds(side_column_text(), {"Kernel: auto: cpu-simd"});
}

TEST_F(Panels, SayOnceHowBodiesReachThePicture) {
  const auto words = [this](Interop interop, const char* reason) {
    view.interop = interop;
    view.interop_reason = reason;
    return badge_text();
  };
  const std::string host = words(Interop::host, "A CPU kernel runs.");
  expect_holds(host, {"A CPU kernel runs."});
  expect_lacks(host, {"uploaded"});
  const std::string staged = words(Interop::staged, "another GPU draws");
  expect_holds(staged, {"through host memory", "another GPU draws"});
  expect_holds(words(Interop::mapped, ""), {"no copy"});
}

TEST_F(Panels, ShowAndCloseTheHelp) {
  only<ToggleHelp>(click("help"));
  view.help = true;
  view.keys = {{"Space", "run or pause"}};
  for (int i = 0; i < 3; ++i) frame();
  only<ToggleHelp>(click("help.close"));
}

TEST_F(Panels, SayThatAChosenSceneIsNotLoadedYet) {
  click("section.scene");
  settle();
  EXPECT_FALSE(seen("load.waits")) << "this scene is loaded";
  EXPECT_TRUE(pick("scene", "disc").empty());
  EXPECT_TRUE(seen("load.waits"));
  status.scene = only<LoadScene>(click("load")).request;
  settle();
  EXPECT_FALSE(seen("load.waits"));
  EXPECT_TRUE(pick("preset", "4k").empty());
  EXPECT_TRUE(seen("load.waits")) << "another number of bodies";
  state.scene.count = "many";
  settle();
  EXPECT_FALSE(seen("load.waits")) << "it cannot be loaded: the refusal is shown";
  state.scene.count = std::to_string(status.scene.count);
  state.scene.seed = "2";
  settle();
  EXPECT_TRUE(seen("load.waits")) << "another seed";
}

TEST_F(Panels, ShowThePickedBody) {
  settle();
  EXPECT_FALSE(seen("picked"));
  view.picked = PickedBody{.number = 1234, .place = {{0.5f, 0.5f}}};
  settle();
  EXPECT_TRUE(seen("picked"));
  EXPECT_EQ(only<Follow>(click("picked.follow")).what, Followed::body);
  view.followed = {Followed::body};
  settle();
  EXPECT_EQ(only<Follow>(click("picked.follow")).what, Followed::nothing);
  only<Unpick>(click("picked.close"));
  view.picked->place.reset();
  settle();
  EXPECT_TRUE(seen("picked")) << "it is behind the camera";
  view.panel = false;
  settle();
  EXPECT_FALSE(seen("picked"));
}

TEST_F(Panels, ShowTheForceErrorOfThePickedBody) {
  view.picked = PickedBody{.number = 12, .place = {{0.5f, 0.5f}}};
  settle();
  expect_holds(picked_text(), {"error with the next comparison"});
  status.force_probe = ForceProbe{.step = 3, .sample = 1};
  status.force_probe->bodies = std::make_shared<const BodyErrors>(BodyErrors{{11, 12}, {5e-7, 3.1e-7}});
  expect_holds(picked_text(), {"error 3.1e-7 of |a|"});
  view.picked->number = 13;
  EXPECT_NE(picked_text().find("error with the next comparison"), std::string::npos) << "of other bodies";
  view.diagnostics.probe = false;
  expect_holds(picked_text(), {"error forces are not compared"});
}

TEST_F(Panels, SayWhoseTheAccelerationOfThePickedBodyIs) {
  view.picked = PickedBody{.number = 12, .place = {{0.5f, 0.5f}}};
  settle();
  expect_lacks(picked_text(), {"a, "});
  status.force_probe = ForceProbe{.step = status.step, .sample = 1};
  status.force_probe->bodies = std::make_shared<const BodyErrors>(BodyErrors{{12}, {5e-7}, {{1.5f, -2, 0.25f, 0}}});
  status.paused = true;
  expect_holds(picked_text(), {"a, kernel 1.5, -2, 0.25"});
  view.picked->acceleration = std::array{3.0f, 2.0f, 1.0f};
  ++status.step;
  EXPECT_NE(picked_text().find("a, mean 3, 2, 1"), std::string::npos) << "of an earlier step: " << picked_text();
}

TEST_F(Panels, ShowPhysicalUnitsWhereTheFileHasThem) {
  view.picked = PickedBody{.number = 5,
                           .mass = 2e-5f,
                           .position = {1.5f, -0.25f, 0},
                           .velocity = {0.5f, 0, 0},
                           .distance = 0.02f,
                           .acceleration = {{1, 0, 0}}};
  view.legend = {.quantity = "speed",
                 .high = 2,
                 .colours = {{1, 0, 0}, {0, 0, 1}},
                 .world_per_height = 3,
                 .unit = "length / time",
                 .dimension = dimension::velocity};
  view.legend.arrows.name = "velocity";
  view.legend.arrow_per_height = 20;
  const auto says = [](const std::string& text, const char* words) { expect_holds(text, {words}); };
  settle();
  says(picked_text(), "1.5, -0.25, 0");
  says(picked_text(), "Units of G = 1");
  expect_lacks(legend_text(), {"pc"});
  status.units = gravity_units(kpc_cm, 1e10 * solar_mass_g);
  settle();
  for (const char* words :
       {"200000 Msun", "1.5, -0.25, 0 kpc", "103.7, 0, 0 km/s", "20 pc", "km/s/Myr", "Physical units"}) {
    says(picked_text(), words);
  }
  says(legend_text(), "length 0.");
  says(legend_text(), " kpc");
  says(legend_text(), "km/s");
  EXPECT_EQ(legend_text().find("length / time"), std::string::npos) << "one kind of units: " << legend_text();
}

TEST_F(Panels, MarkThePickedBodyInThePicture) {
  const auto drawn = [this](std::optional<std::array<float, 2>> place) {
    view.picked = PickedBody{.place = place};
    frame();
    return ImGui::GetBackgroundDrawList()->VtxBuffer.Size;
  };
  EXPECT_EQ(drawn(std::nullopt), 0);
  ASSERT_GT(drawn({{0.75f, 0.5f}}), 0);
  const ImVec2 first = ImGui::GetBackgroundDrawList()->VtxBuffer[0].pos, display = ImGui::GetIO().DisplaySize;
  EXPECT_NEAR(first.x, 0.75f * display.x, 30);
  EXPECT_NEAR(first.y, 0.5f * display.y, 30);
  view.panel = false;
  EXPECT_GT(drawn({{0.75f, 0.5f}}), 0) << "in a window, always";
  view.in_window = false;
  EXPECT_EQ(drawn({{0.75f, 0.5f}}), 0);
}

ImRect card() {
  return ImGui::FindWindowByName("Picked body")->Rect();
}

TEST_F(Panels, KeepTheCardClearOfThePickedBody) {
  view.legend = {.quantity = "speed", .colours = {{1, 0, 0}, {0, 0, 1}}, .world_per_height = 3};
  view.picked = PickedBody{.number = 7, .part = "disc", .acceleration = {{1, 2, 3}}};
  state.lab.folded = true;
  const auto covers_window = [](const char* name) {
    const ImGuiWindow* const window = ImGui::FindWindowByName(name);
    return window && window->Active && card().Overlaps(window->Rect());
  };
  for (const float scale : {1.0f, 2.0f}) {
    for (const ImVec2 size : {ImVec2{800, 600}, ImVec2{1280, 720}, ImVec2{1920, 1080}}) {
      resize(size.x, size.y, fitting_scale(scale, size.x, size.y));
      settle();
      const float left = side_column_width(view);
      for (int i = 0; i < 400; ++i) {
        const ImVec2 at{left + (size.x - left) * static_cast<float>(i % 20) / 20,
                        size.y * static_cast<float>(i / 20) / 20};
        view.picked->place = {at.x / size.x, at.y / size.y};
        settle();
        EXPECT_FALSE(card().Contains(at)) << at.x << ", " << at.y << " in a window of " << size.x;
        EXPECT_TRUE(seen("legend.quantity"));
        for (const char* name : {"Legend", "Laboratory", "Info"}) EXPECT_FALSE(covers_window(name)) << name << size.x;
        EXPECT_LE(card().Max.x, size.x);
      }
    }
  }
}

TEST_F(Panels, ShowTheStateOfAPickedBodyWhereverItIs) {
  view.picked = PickedBody{.number = 7, .part = "disc", .acceleration = {{1, 2, 3}}};
  state.lab.folded = true;
  for (const ImVec2 size : {ImVec2{800, 600}, ImVec2{1280, 720}}) {
    resize(size.x, size.y, fitting_scale(2, size.x, size.y));
    const float left = side_column_width(view);
    for (int i = 0; i < 400; ++i) {
      view.picked->number = i;
      view.picked->place = {(left + (size.x - left) * static_cast<float>(i % 20) / 20) / size.x,
                            static_cast<float>(i / 20) / 20};
      settle();
      EXPECT_TRUE(seen("picked.error")) << i << " in a window of " << size.x;
    }
  }
}

TEST_F(Panels, MoveTheCardNoMoreThanNeeded) {
  resize(1280, 720, 1);
  state.lab.folded = true;
  view.picked = PickedBody{.number = 7};
  settle();
  settle();
  const ImRect first = card();
  const auto body_at = [&](float x, float y) {
    view.picked->place = {x / 1280, y / 720};
    settle();
  };
  body_at(first.Max.x - 20, first.Max.y - 20);
  const ImRect second = card();
  EXPECT_GT(second.Min.y, first.Max.y);
  int moves = 0;
  ImVec2 before = second.Min;
  for (int i = 0; i < 40; ++i) {
    body_at(first.Max.x - 20, first.Max.y - 20 + static_cast<float>(i % 2 == 0 ? 30 : -5));
    moves += card().Min.y != before.y ? 1 : 0;
    before = card().Min;
  }
  EXPECT_LE(moves, 1) << "a body that moves to and fro does not make it jump";
  view.picked->number = 8;
  view.picked->place = {0.9f, 0.9f};
  settle();
  EXPECT_EQ(card().Min.y, first.Min.y) << "another body begins where cards are usually";
}

TEST_F(Panels, LeaveNoRoomForACardThatIsHidden) {
  view.legend = {.quantity = "speed", .colours = {{1, 0, 0}, {0, 0, 1}}, .world_per_height = 3};
  view.picked = PickedBody{.number = 7};
  resize(800, 500, 1);
  state.lab.folded = true;
  settle();
  settle();
  view.picked->place = {(card().Max.x - 20) / 800, (card().Max.y - 20) / 500};
  settle();
  ASSERT_EQ(state.card.corner, CardCorner::lower_left);
  view.panel = false;
  settle();
  EXPECT_TRUE(seen("legend.scale")) << "the legend is whole again";
}

TEST_F(Panels, ShowThatFramesAreRecordedWhateverIsHidden) {
  settle();
  EXPECT_FALSE(seen("recording"));
  view.recording = {.active = true, .file = "mine.csv", .rows = 12, .error = {}};
  settle();
  EXPECT_TRUE(seen("recording"));
  view.panel = false;
  settle();
  EXPECT_TRUE(seen("recording"));
  view.in_window = false;
  settle();
  EXPECT_FALSE(seen("recording")) << "a picture shows the bodies";
}

TEST_F(Panels, AskBeforeTheyQuit) {
  EXPECT_FALSE(seen("quit.quit"));
  view.quit_question = {"The recording to mine.csv ends."};
  settle();
  only<CancelQuit>(click("quit.cancel"));
  only<Quit>(click("quit.quit"));
}

TEST_F(Panels, CloseAListWithEsc) {
  constexpr int escape = 2;
  ImGui::GetIO().KeyMap[ImGuiKey_Escape] = escape;
  click("integrator");
  EXPECT_TRUE(seen("integrator.euler"));
  ImGui::GetIO().KeysDown[escape] = true;
  frame();
  ImGui::GetIO().KeysDown[escape] = false;
  settle();
  EXPECT_FALSE(seen("integrator.euler"));
}

TEST_F(Panels, ShortenWhatIsTooLong) {
  ImGui::NewFrame();
  const std::string whole = "auto: cpu-symmetric, 8 bodies per lane";
  const float width = ImGui::CalcTextSize(whole.c_str()).x;
  EXPECT_EQ(shortened(whole, width), whole);
  const std::string part = shortened(whole, width / 2);
  EXPECT_TRUE(part.ends_with("\u2026"));
  EXPECT_TRUE(whole.starts_with(part.substr(0, part.size() - 3)));
  EXPECT_LE(ImGui::CalcTextSize(part.c_str()).x, width / 2);
  EXPECT_EQ(shortened("\u00e9\u00e9\u00e9", 1), "\u2026");
  ImGui::EndFrame();
}

TEST_F(Panels, BreakLinesAtBlanksAndNotWithinNumbers) {
  ImGui::NewFrame();
  const auto width = [](const char* words) { return ImGui::CalcTextSize(words).x; };
  EXPECT_EQ(in_lines("takes 12.34 ms per step", width("takes 12.34")), "takes\n12.34 ms\nper step");
  EXPECT_EQ(in_lines("cpu-tree: 1,234,567 bodies", width("cpu-tree: 1,234")), "cpu-tree:\n1,234,567\nbodies");
  EXPECT_EQ(in_lines("one line", width("one line")), "one line");
  EXPECT_EQ(in_lines("one\ntwo\n", 1000), "one\ntwo\n");
  EXPECT_EQ(in_lines("", 10), "");
  EXPECT_EQ(in_lines("\u00e9\u00e9", 1), "\u00e9\n\u00e9") << "whole characters";
  EXPECT_EQ(in_lines("abc", width("ab")), "ab\nc");
  ImGui::EndFrame();
}

TEST_F(Panels, ShowTheTabsOfTheLaboratoryInASmallWindow) {
  for (const float scale : {1.0f, 2.0f}) {
    resize(800 * scale, 600 * scale, scale);
    settle();
    for (const std::string_view tab : tab_ids()) EXPECT_TRUE(seen("lab." + std::string{tab})) << tab << " at " << scale;
  }
}

}  // namespace
}  // namespace orrery::test
