#include <imgui_internal.h>

#include "app/features/sweep/sweep.h"
#include "app/panels/sections.h"
#include "app/ui_state/camera_commands.h"
#include "app/ui_state/overlays_commands.h"
#include "app/ui_state/status.h"
#include "app/ui_state/window_commands.h"
#include "compute/integrators/integrator.h"
#include "tests/app/panels/panels_fixture.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

TEST_F(Panels, AskForNothingWhileNobodyTouchesThem) {
  view.results = {tried("cpu-serial", "")};
  view.help = true;
  view.notice = "wrote a file";
  status.last_error = "no";
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(frame().empty());
}

TEST_F(Panels, PickEveryKernelThatCanRun) {
  for (const KernelPtr& kernel : kernels()) {
    if (!backends().status(kernel->backend).available) continue;
    SCOPED_TRACE(kernel->id);
    select(kernel == view.kernels.front() ? view.kernels.back() : view.kernels.front());
    frame();
    EXPECT_EQ(only<SelectKernel>(pick("kernel", kernel->id)).id, kernel->id);
  }
}

TEST_F(Panels, NameWhatIsChosenWithoutCuttingIt) {
  select(find_kernel("cpu-tree"));
  status.auto_choice =
      AutoChoice{"auto: cpu-tree theta=0.68 leaf=32 group=64 order=local", "One step with 1000 bodies"};
  settle();
  click("section.appearance");
  view.colour_maps.assign(12, "Stellar: red giants to blue stars");
  expect_holds(side_column_text(), {"auto: cpu-tree ", "Automatic: Stellar "});
  expect_lacks(side_column_text(), {"\u2026"});
}

TEST_F(Panels, SayWhatIsBeingCompiled) {
  const KernelPtr kernel = find_kernel("cpu-openmp");
  select(kernel);
  (void)frame();
  EXPECT_FALSE(seen("kernel.compiling"));
  status.preparing = {kernel, Settings{*kernel, {{"chunk", "32"}}}};
  (void)frame();
  EXPECT_TRUE(seen("kernel.compiling"));
  expect_holds(side_column_text(), {"compiling chunk=32 ..."});
  status.preparing = {find_kernel("cpu-serial"), {}};
  expect_holds(side_column_text(), {"compiling CPU serial ..."});
}

TEST_F(Panels, LeaveTheKernelToTheProgramAndTakeItBack) {
  select(find_kernel("cpu-simd"));
  EXPECT_EQ(only<SelectKernel>(pick("kernel", auto_kernel)).id, auto_kernel);
  status.auto_choice = AutoChoice{"auto: cpu-simd rows=4", "One step with 1000 bodies"};
  EXPECT_TRUE(pick("kernel", auto_kernel).empty()) << "so it is";
  expect_holds(side_column_text(), {"auto: cpu-simd rows=4"});
  EXPECT_EQ(only<SelectKernel>(pick("kernel", "cpu-simd")).id, "cpu-simd") << "the same, whatever comes";
  status.auto_choice->name = "auto: cpu-simd";
  status.chosen = "rows 2";
  frame();
  expect_holds(side_column_text(), {"auto: cpu-simd, rows 2"});
}

TEST_F(Panels, SetWhatAutoKeepsTo) {
  select(find_kernel("cpu-simd"));
  frame();
  EXPECT_FALSE(seen("accuracy.exact")) << "a kernel that was named has its own";
  status.auto_choice = AutoChoice{"auto: cpu-simd", "One step with 1000 bodies"};
  frame();
  EXPECT_EQ(only<SetAccuracy>(click("accuracy.exact")).median_error, 0);
  EXPECT_EQ(only<SetAccuracy>(click("accuracy.1e-3")).median_error, 1e-3);
  EXPECT_EQ(only<SetAccuracy>(click("accuracy.1e-5")).median_error, 1e-5);
  EXPECT_EQ(only<SetAccuracy>(click("accuracy.1e-6")).median_error, 1e-6);
  EXPECT_TRUE(click("accuracy.5e-4").empty()) << "so it is";
  status.accuracy = 3e-4;
  frame();  // one value more is too wide for a row of buttons
  EXPECT_TRUE(pick("accuracy", "0.0003").empty()) << "what a script said";
  EXPECT_EQ(only<SetAccuracy>(pick("accuracy", "5e-4")).median_error, 5e-4);
}

TEST_F(Panels, DoNotPickAKernelThatDoesNotSuitTheIntegrator) {
  select(find_kernel("cpu-jerk"));
  status.integrator_id = "hermite4";
  EXPECT_TRUE(pick("kernel", "cpu-simd").empty()) << "it gives no jerks";
  ImGui::GetIO().MousePos = {1200, 700};
  press();  // closes the list
  status.integrator_id = "leapfrog";
  EXPECT_EQ(only<SelectKernel>(pick("kernel", "cpu-simd")).id, "cpu-simd");
}

TEST_F(Panels, DoNotPickAKernelThatCannotRun) {
  bool tried = false;
  for (const KernelPtr& kernel : kernels()) {
    if (backends().status(kernel->backend).available) continue;
    SCOPED_TRACE(kernel->id);
    tried = true;
    EXPECT_TRUE(pick("kernel", kernel->id).empty());
    EXPECT_TRUE(seen(std::string{"kernel."} + kernel->id));  // the list stays, so that another can be picked
    ImGui::GetIO().MousePos = {1200, 700};
    press();
  }
  if (!tried) GTEST_SKIP() << "every kernel of this build can run here";
}

TEST_F(Panels, OfferEveryValueOfEveryTunable) {
  for (const KernelPtr& kernel : kernels()) {
    for (const Tunable& tunable : kernel->tunables) {
      for (const char* value : tunable.values) {
        SCOPED_TRACE(std::string{kernel->id} + " " + tunable.name + "=" + value);
        select(kernel);
        const bool current = status.settings.text(tunable.name) == value;
        frame();
        const std::string group = std::string{"tunable."} + tunable.name;
        const Requests asked = seen(group + "." + value) ? click(group + "." + value) : pick(group, value);
        if (current) {
          EXPECT_TRUE(asked.empty());
          continue;
        }
        const auto set = only<SetTunable>(asked);
        EXPECT_EQ(set.name, tunable.name);
        EXPECT_EQ(set.value, value);
      }
    }
  }
}

TEST_F(Panels, TellOfTheTreeWhereTheKernelIsOne) {
  select(find_kernel("cpu-simd"));
  settle();
  EXPECT_FALSE(seen("section.tree"));
  select(find_kernel("cpu-tree"));
  settle();
  EXPECT_TRUE(seen("section.tree"));
  expect_holds(side_column_text(), {"after the next step"});

  status.tree = TreeReport{.interactions = 123'000, .cells = 4567, .depth = 9, .phases = {{"sort", 1.25}, {"walk", 3}}};
  expect_holds(side_column_text(), {"123 k", "4,567", "9", "sort", "1.25 ms", "walk", "3.00 ms", "4.25 ms"});
  EXPECT_TRUE(only<ShowTreeCells>(click("tree.cells")).on);
  view.overlays.cells.on = true;
  EXPECT_FALSE(only<ShowTreeCells>(click("tree.cells")).on);
}

TEST_F(Panels, CountNoFlopsOfATree) {
  view.measured = 3;
  view.step_ms_median = 0.5;
  select(find_kernel("cpu-tree"));
  status.interactions_per_step = 3 * 1234.0 * status.count;  // an integrator with three evaluations per step
  status.tree.emplace().interactions = 1234 * std::int64_t{status.count};
  std::string text = side_column_text();
  expect_lacks(text, {"FLOP"});
  expect_holds(text, {"1,234", "1,234 interactions per body"});
  EXPECT_NE(text.find("1,234 per body"), std::string::npos) << "the section Tree has the same figure: " << text;
  status.tree.reset();  // not known yet
  text = side_column_text();
  expect_lacks(text, {"FLOP", "0 interactions per body"});
}

TEST_F(Panels, RunPauseStepRestartAndReset) {
  EXPECT_TRUE(only<SetPaused>(click("run")).paused);
  status.paused = true;
  EXPECT_FALSE(only<SetPaused>(click("run")).paused);
  only<StepOnce>(click("step"));
  only<Restart>(click("restart"));
  only<Reset>(click("reset"));
}

TEST_F(Panels, TakeATimeStepThatIsTypedOnlyOnceItIsFinished) {
  ImGui::GetIO().KeyCtrl = true;
  EXPECT_TRUE(click("dt").empty());
  ImGui::GetIO().KeyCtrl = false;
  EXPECT_FLOAT_EQ(only<SetTimeStep>(type("0.005")).time_step, 0.005f);
}

TEST_F(Panels, FollowADraggedSlider) {
  const UiRect rect = ui_marked("softening");
  ImGuiIO& io = ImGui::GetIO();
  io.MousePos = {rect.x0 + 0.75f * (rect.x1 - rect.x0), (rect.y0 + rect.y1) / 2};
  frame();
  io.MouseDown[0] = true;
  frame();
  io.MousePos.x += 10;
  const float first = only<SetSoftening>(frame()).softening;
  EXPECT_GT(first, status.law.softening);
  status.law.softening = first;
  EXPECT_TRUE(frame().empty());  // held still
  io.MousePos.x += 10;
  status.law.softening = only<SetSoftening>(frame()).softening;
  EXPECT_GT(status.law.softening, first);
  io.MouseDown[0] = false;
  EXPECT_TRUE(frame().empty());
}

TEST_F(Panels, StartAndStopARecording) {
  EXPECT_TRUE(click("record.file").empty());
  EXPECT_EQ(only<StartRecording>(type("mine.csv")).file, "mine.csv");
  EXPECT_EQ(only<StartRecording>(click("record")).file, "mine.csv");
  view.recording = {.active = true, .file = "mine.csv", .rows = 12, .error = {}};
  only<StopRecording>(click("record"));
}

TEST_F(Panels, StartAndStopAFilm) {
  EXPECT_EQ(only<StartFilm>(click("film")).file, "");
  view.features.of<FilmStatus>() = {.active = true, .file = "mine.mp4", .pictures = 12};
  only<StopFilm>(click("film"));
}

TEST_F(Panels, SavePictureAndSnapshot) {
  only<SaveScreenshot>(click("screenshot.save"));
  EXPECT_TRUE(pick("screenshot.times", "4x").empty());
  EXPECT_EQ(only<SaveEnlarged>(click("screenshot.save")).times, 4);
  only<SaveSnapshot>(click("snapshot.save"));
  only<SaveReplay>(click("replay.save"));
}

TEST_F(Panels, LoadASceneOfAnotherSize) {
  click("section.scene");
  EXPECT_TRUE(pick("preset", "4k").empty());
  const auto load = only<LoadScene>(click("load"));
  EXPECT_EQ(load.request, (SceneRequest{.scene = "collision", .file = "", .count = 4096, .seed = 1}));
}

TEST_F(Panels, RefuseANumberOfBodiesThatNoSceneHas) {
  click("section.scene");
  for (const std::string& entry : "0 -4 many 1 3000M 12x"_words) {
    SCOPED_TRACE(entry);
    state.scene.count = entry;
    EXPECT_TRUE(click("load").empty());
  }
  state.scene.count = "2k";
  EXPECT_EQ(only<LoadScene>(click("load")).request.count, 2048);
}

TEST_F(Panels, OpenAFile) {
  click("section.scene");
  click("file");
  EXPECT_EQ(only<LoadScene>(type("some.bin")).request.file, "some.bin");
}

TEST_F(Panels, ShowTheUnitsOfAFileAndThePhysicalTime) {
  click("section.scene");
  EXPECT_FALSE(seen("units"));
  status.units = gravity_units(kpc_cm, 1e10 * solar_mass_g);
  settle();
  EXPECT_TRUE(seen("units"));
  expect_holds(side_column_text(), {"kpc, 1e10 Msun, 207.4 km/s"});
}

TEST_F(Panels, EditACopyOfTheAppearance) {
  click("section.appearance");
  EXPECT_EQ(only<SetAppearance>(pick("colour-by", "mass")).appearance.colour_by, find_body_colour("mass").by);
  EXPECT_EQ(only<SetAppearance>(pick("colour-map", "two")).appearance.colour_map, 1);
  view.appearance.colour_map = 1;
  EXPECT_EQ(only<SetAppearance>(pick("colour-map", "auto")).appearance.colour_map, render::automatic_colour_map);
  EXPECT_FALSE(only<SetVsync>(click("vsync")).on);
  EXPECT_TRUE(only<SetPresentation>(click("presentation")).on);
}

TEST_F(Panels, FixTheRangeOfColours) {
  view.legend = {.quantity = "speed", .low = 0.1f, .high = 3.0f};
  view.appearance.low = 0.5f;
  click("section.appearance");
  click("range-high");
  EXPECT_TRUE(type("many").empty());
  state.colours.high_text.clear();
  click("range-high");
  EXPECT_EQ(only<SetAppearance>(type("5")).appearance.high, 5);
  state.colours.low_text.clear();
  click("range-low");
  EXPECT_FALSE(only<SetAppearance>(type("")).appearance.low) << "automatic";
  EXPECT_EQ(only<SetAppearance>(click("scale.log")).appearance.scale, render::Scale::logarithmic);
  EXPECT_FALSE(only<SetAppearance>(pick("colour-by", "mass")).appearance.low) << "it suits the speeds";
}

TEST_F(Panels, PutAnErrorAwayUntilTheNext) {
  status.last_error = "block 1024 needs too many registers";
  for (int i = 0; i < 3; ++i) frame();
  EXPECT_TRUE(click("error.dismiss").empty());
  EXPECT_FALSE(seen("error"));
  status.last_error = "another failure";
  for (int i = 0; i < 3; ++i) frame();
  EXPECT_TRUE(seen("error"));
}

TEST_F(Panels, HideButStillTellAnError) {
  only<TogglePanel>(click("panel.hide"));
  view.panel = false;
  status.last_error = "no";
  for (int i = 0; i < 3; ++i) frame();
  EXPECT_FALSE(seen("run"));
  EXPECT_TRUE(seen("error"));
}

TEST_F(Panels, PrintNoNumberBeforeItIsMeasured) {
  expect_lacks(side_column_text(), {" ms"});
  view.measured = 3;
  status.timing = {.steps = 4, .step_ms = 0.25, .force_ms = 0.2, .integrate_ms = 0.05};
  view.step_ms_median = 0.5;
  const std::string text = side_column_text();
  expect_holds(text, {"2.00 G"});  // interactions/s
  expect_holds(text, {"40.0 GFLOP/s", "0.250 ms", "0.500 ms", "force 0.200 ms", "Frame with 4 steps"});
}

TEST_F(Panels, LeaveAStepThatOutlastsItsFrameOutOfTheFrame) {
  view.measured = 1;
  status.timing = {.steps = 1, .step_ms = 3030, .force_ms = 3029, .integrate_ms = 1};
  view.times = {.map_ms = 0.5, .draw_ms = 2, .gui_ms = 1, .swap_ms = 10, .frame_ms = 15.8};
  expect_holds(side_column_text(), {"Step 3.03 s", "Frame 15.8 ms", "rest 2.30 ms"});
}

TEST_F(Panels, ForgetTheStepOfAKernelThatIsGone) {
  view.measured = 1;
  status.timing = {.steps = 1, .step_ms = 3030, .force_ms = 3029, .integrate_ms = 1};
  expect_holds(side_column_text(), {"3.03 s"});
  view.measured = 0;
  expect_lacks(side_column_text(), {"3.03 s"});
}

/// All of the mark's visible part, and some of it.
bool inside_the_display(std::string_view mark) {
  const UiRect rect = ui_marked(mark);
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  return rect.x1 > rect.x0 && rect.x0 >= 0 && rect.y0 >= 0 && rect.x1 <= display.x && rect.y1 <= display.y;
}

struct Display {
  float width, height, scale;
};

TEST_F(Panels, FitASmallWindowAndAHugeOne) {
  state.lab.folded = false;
  view.results = {tried("some-kernel", "block=64 split=auto")};
  view.keys = {{"Space", "run or pause"}, {"Ctrl + left drag", "a long explanation of what the mouse does"}};
  for (const Display size : {Display{900, 600, 1}, Display{1280, 720, 1}, Display{1280, 720, 2}, Display{900, 600, 2},
                             Display{320, 200, 1}, Display{5120, 2880, 2}}) {
    SCOPED_TRACE(testing::Message() << size.width << " x " << size.height << " at " << size.scale);
    resize(size.width, size.height, size.scale);
    view.help = false;
    ImGui::GetIO().MousePos = {40, size.height - 30};
    for (int i = 0; i < 8; ++i) {
      ImGui::GetIO().MouseWheel = 100;  // back to the top after the display before
      EXPECT_TRUE(frame().empty());
    }
    for (const char* mark : {"panel.hide", "rate", "interop"}) EXPECT_TRUE(inside_the_display(mark)) << mark;

    // Whatever does not fit can be scrolled to.
    bool run = false, kernel = false, results = false;
    for (int turn = 0; turn < 200; ++turn) {
      run |= inside_the_display("run");
      kernel |= inside_the_display("kernel");
      results |= inside_the_display("result.0");
      ImGui::GetIO().MouseWheel = -1;
      frame();
    }
    EXPECT_TRUE(run && kernel && results) << run << kernel << results;

    view.help = true;
    for (int i = 0; i < 4; ++i) frame();
    ImGui::GetIO().MousePos = {size.width / 2, size.height / 2};
    bool close = false;
    for (int turn = 0; turn < 50; ++turn) {
      ImGui::GetIO().MouseWheel = -1;
      frame();
      close |= inside_the_display("help.close");
    }
    EXPECT_TRUE(close);
  }
}

// The section Physics.

TEST_F(Panels, MarkWhatIsNotTheScenesOwnAndRestoreItByADoubleClick) {
  status.law.id = status.scene_physics.law.id = LawId::attract_repel;
  const std::array fields{"integrator", "law", "dt", "softening", "repulsion", "drag"};
  const auto marked = [](const std::string& field) { return seen(field + ".differs"); };
  frame();
  for (const std::string field : fields) {
    EXPECT_FALSE(marked(field)) << field;
    EXPECT_TRUE(double_click(field + ".label").empty()) << field << " is the scene's own";
  }
  Physics& own = status.scene_physics;
  own = {.integrator_id = "euler",
         .law = {.id = LawId::gravity, .softening = 0.5f, .repulsion = 0.25f, .drag = 0.001f},
         .time_step = 0.002f};
  frame();
  for (const std::string field : fields) EXPECT_TRUE(marked(field)) << field;
  EXPECT_EQ(only<SelectIntegrator>(double_click("integrator.label")).id, "euler");
  EXPECT_EQ(only<SelectLaw>(double_click("law.label")).id, "gravity");
  EXPECT_EQ(only<SetTimeStep>(double_click("dt.label")).time_step, own.time_step);
  EXPECT_EQ(only<SetSoftening>(double_click("softening.label")).softening, own.law.softening);
  EXPECT_EQ(only<SetRepulsion>(double_click("repulsion.label")).repulsion, own.law.repulsion);
  EXPECT_EQ(only<SetDrag>(double_click("drag.label")).drag, own.law.drag);
}

TEST_F(Panels, RestoreTheScenesOwnByADoubleClickOnTheFieldItself) {
  status.scene_physics = {.integrator_id = "euler", .law = {.softening = 0.5f}, .time_step = 0.002f};
  frame();
  const Requests steps = double_click("dt");  // the first click moves the grab
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(request<SetTimeStep>(steps, steps.size() - 1).time_step, 0.002f) << "and nothing after it";
  const Requests lengths = double_click("softening");
  ASSERT_FALSE(lengths.empty());
  EXPECT_EQ(request<SetSoftening>(lengths, lengths.size() - 1).softening, 0.5f);
  EXPECT_EQ(only<SelectIntegrator>(double_click("integrator")).id, "euler");
  EXPECT_FALSE(seen("integrator.euler")) << "no list stays open";
}

TEST_F(Panels, PickIntegratorAndBothLaws) {
  EXPECT_EQ(only<SelectIntegrator>(pick("integrator", "euler")).id, "euler");
  EXPECT_EQ(only<SelectLaw>(pick("law", "attract-repel")).id, "attract-repel");
  EXPECT_FALSE(seen("repulsion") || seen("drag"));
  status.law.id = LawId::attract_repel;
  frame();
  EXPECT_TRUE(seen("repulsion") && seen("drag"));
  EXPECT_EQ(only<SelectLaw>(pick("law", "gravity")).id, "gravity");
}

TEST_F(Panels, PickTheDigits) {
  EXPECT_EQ(only<SetDigits>(pick("digits", "compensated")).digits, Digits::compensated);
  status.digits = Digits::compensated;
  frame();
  EXPECT_EQ(only<SetDigits>(pick("digits", "float")).digits, Digits::single);
  EXPECT_EQ(only<SetDigits>(double_click("digits")).digits, Digits::single) << "the scene's";
}

TEST_F(Panels, ShowTheLevelsOfBlockStepsAndWarnOfKernelsThatEvaluateAllBodies) {
  frame();
  EXPECT_FALSE(seen("eta") || seen("levels"));
  status.integrator_id = "leapfrog-blocks";
  status.block_steps = true;
  frame();
  EXPECT_TRUE(seen("eta"));
  EXPECT_FALSE(seen("levels")) << "not known yet";
  status.levels = {600, 300, 0, 100};
  select(find_kernel("cpu-simd"));
  std::string text = side_column_text();
  EXPECT_TRUE(seen("levels"));
  expect_holds(text, {"2.00 evaluations of a body per dt"});  // (600 + 2 * 300 + 8 * 100) / 1000
  expect_lacks(text, {"all bodies"});
  select(find_kernel("cpu-symmetric"));
  text = side_column_text();
  expect_holds(text, {"evaluates all bodies 8 times per dt"});
  status.scene_physics.eta = 0.5f;
  frame();
  EXPECT_EQ(only<SetEta>(double_click("eta.label")).eta, 0.5f);
}

// Overlays over the bodies: the widgets that ask for them, and what the window shows of them.

TEST_F(Panels, AskForOverlaysAndTheme) {
  click("section.appearance");
  EXPECT_EQ(only<ShowTrails>(click("trails.sample")).of, TrailsOf::sample);
  view.overlays.trails = {TrailsOf::sample, 2.5};
  const auto trails = only<ShowTrails>(click("trails.picked"));
  EXPECT_EQ(trails.of, TrailsOf::picked);
  EXPECT_EQ(trails.length, 2.5) << "it stays";
  EXPECT_EQ(only<ShowVectors>(click("vectors.accel.")).quantity, Vectors::acceleration);
  EXPECT_TRUE(only<ShowAxes>(click("axes")).on);
  EXPECT_EQ(only<SetTheme>(click("theme.light")).theme, render::Theme::light);
}

TEST_F(Panels, AskWhatTheCameraFollows) {
  view.parts = {"disc", "galaxy 1"};
  click("section.appearance");
  const auto picked = [this](const char* choice) { return only<Follow>(pick("follow", choice)); };
  EXPECT_EQ(picked("mass"), (Follow{Followed::mass, ""}));
  EXPECT_EQ(picked("cluster"), (Follow{Followed::cluster, ""}));
  EXPECT_EQ(picked("galaxy 1"), (Follow{Followed::part, "galaxy 1"}));
  view.picked = PickedBody{.number = 3};
  EXPECT_EQ(picked("body"), (Follow{Followed::body, ""}));
  view.picked.reset();
  view.followed = {Followed::part, "disc"};
  EXPECT_EQ(picked("off"), (Follow{Followed::nothing, ""}));
  EXPECT_NE(side_column_text().find("disc"), std::string::npos) << "what is followed";
  EXPECT_TRUE(pick("follow", "body").empty()) << "no body is picked";
}

TEST_F(Panels, AskForTheWalkAndALevelOfATree) {
  select(find_kernel("cpu-tree"));
  status.tree = TreeReport{.depth = 9, .phases = {}};
  settle();
  EXPECT_FALSE(seen("tree.level")) << "no cells are drawn";
  EXPECT_TRUE(only<ShowWalk>(click("tree.walk")).on);
  view.overlays.cells = {true, 2};
  settle();
  EXPECT_TRUE(seen("tree.level"));
  EXPECT_EQ(only<ShowTreeCells>(click("tree.cells")).level, 2) << "it stays";
  const Requests asked = click("tree.level");
  ASSERT_FALSE(asked.empty());
  const auto level = request<ShowTreeCells>(asked, 0);
  EXPECT_TRUE(level.on);
  EXPECT_NEAR(level.level, 4, 1) << "the middle of -1 to 9";
}

TEST_F(Panels, ShowTheScaleOfArrowsAndTheCells) {
  view.legend = {.quantity = "speed", .colours = {{1, 0, 0}, {0, 0, 1}}, .world_per_height = 3};
  settle();
  EXPECT_TRUE(seen("legend.scale"));
  EXPECT_FALSE(seen("legend.arrows") || seen("legend.cells") || seen("legend.trails"));
  view.legend.trail_length = 0.25f;
  view.legend.arrows.name = "velocity";
  view.legend.cells = {"level 5: 1,203 cells", {0, 1, 0}};
  settle();
  EXPECT_TRUE(seen("legend.cells"));
  expect_holds(legend_text(), {"trails: the last 0.25 of time"});
  EXPECT_FALSE(seen("legend.arrows")) << "no arrow is drawn yet";
  view.legend.arrow_per_height = 20;
  settle();
  EXPECT_TRUE(seen("legend.arrows"));
}

TEST_F(Panels, NameTheColoursOfAWalk) {
  view.legend = {.quantity = "speed", .colours = {{1, 0, 0}, {0, 0, 1}}, .world_per_height = 3};
  settle();
  EXPECT_FALSE(seen("legend.walk.whole"));
  view.legend.walk = {{"whole", {0, 0, 1}}, {"leaf", {1, 0, 0}}};
  settle();
  EXPECT_TRUE(seen("legend.walk.whole") && seen("legend.walk.leaf"));
}

TEST_F(Panels, SayOfWhichStepTheTimesOfATreeAre) {
  select(find_kernel("cpu-tree"));
  const auto says = [this](const char* words) {
    state.times.until = 0;
    const std::string text = side_column_text();
    return text.find(words) != std::string::npos;
  };
  view.measured = 1;
  status.timing = {.steps = 1, .step_ms = 5};
  status.tree = TreeReport{.depth = 9, .phases = {{"sort", 1.25}, {"walk", 3}}};
  EXPECT_TRUE(says("Tree 4.25 ms")) << side_column_text();
  EXPECT_TRUE(says("deepest level"));
  status.timing.steps = 4;
  EXPECT_TRUE(says("Tree, 1 of 4 steps 4.25 ms")) << side_column_text();
  status.tree->phases_age = 12;
  EXPECT_TRUE(says("Tree, 12 steps earlier 4.25 ms")) << side_column_text();
}

TEST_F(Panels, HoldTheTimesOfATreeWithThoseOfItsStep) {
  select(find_kernel("cpu-tree"));
  view.measured = 1;
  status.timing = {.steps = 1, .step_ms = 5};
  status.tree = TreeReport{.phases = {{"walk", 4.5}}};
  settle();
  status.timing.step_ms = 7;
  status.tree = TreeReport{.phases = {{"walk", 6.5}}};
  expect_holds(side_column_text(), {"Step 5.00 ms", "Tree 4.50 ms"});
  for (int frame = 0; frame < 30; ++frame) settle();
  expect_holds(side_column_text(), {"Step 7.00 ms", "Tree 6.50 ms"});
}

TEST_F(Panels, WriteLabelsOverThePicture) {
  frame();
  EXPECT_EQ(ImGui::GetBackgroundDrawList()->VtxBuffer.Size, 0);
  view.labels = {{.text = "x", .place = {0.75f, 0.5f}, .colour = {1, 0, 0}, .strong = true}};
  view.panel = false;
  frame();
  ASSERT_GT(ImGui::GetBackgroundDrawList()->VtxBuffer.Size, 0);
  const ImVec2 first = ImGui::GetBackgroundDrawList()->VtxBuffer[0].pos, display = ImGui::GetIO().DisplaySize;
  EXPECT_NEAR(first.x, 0.75f * display.x, 20);
  EXPECT_NEAR(first.y, 0.5f * display.y, 20);
}

TEST_F(Panels, CountTheWalkOfThePickedBody) {
  view.picked = PickedBody{.number = 3};
  settle();
  EXPECT_FALSE(seen("picked.walk"));
  view.picked->walk = {412, 96};
  settle();
  EXPECT_TRUE(seen("picked.walk"));
}

// The panels' explanations, and when their tooltips appear.

struct Explanations : Panels {
  void wait(int frames) {
    for (int i = 0; i < frames; ++i) frame();
  }
  /// Null while there is none.
  const ImGuiWindow* shown_tooltip() const {
    const ImGuiWindow* const window = ImGui::FindWindowByName("##Tooltip_00");
    return window && window->Active ? window : nullptr;
  }
};

TEST_F(Explanations, ATabIsExplainedAboveTheTabsAfterAWhile) {
  point_at("lab.speed-error");
  wait(12);  // 0.2 s
  EXPECT_EQ(shown_tooltip(), nullptr);
  wait(60);
  const ImGuiWindow* const tooltip = shown_tooltip();
  ASSERT_NE(tooltip, nullptr);
  EXPECT_LE(tooltip->Pos.y + tooltip->Size.y, ui_marked("lab.results").y0);
  point_at("lab.sweep");
  wait(12);
  EXPECT_EQ(shown_tooltip(), nullptr) << "of another tab";
}

TEST_F(Explanations, ATabIsNotExplainedAfterAClick) {
  click("lab.sweep");
  wait(120);
  EXPECT_EQ(shown_tooltip(), nullptr);
  point_at("lab.race");
  wait(60);
  EXPECT_NE(shown_tooltip(), nullptr);
}

TEST_F(Explanations, WhyARowHasNoSpeedUp) {
  const auto row = [](double median) {
    Result result = tried("cpu-simd", "");
    result.error = ForceError{.rms = median, .median = median, .p99 = median, .max = median};
    return result;
  };
  std::vector<Result> rows{row(4e-4), row(4e-5)};
  EXPECT_EQ(why_no_speedup(rows, 1), "") << "nothing is pinned";
  rows[0].pinned = true;
  EXPECT_EQ(why_no_speedup(rows, 1), "No speed-up over the pinned row: the median error is in another decade.");
  rows[1] = row(3e-4);
  rows[1].scene.scene = "disc";
  rows[1].count = 500;
  EXPECT_EQ(why_no_speedup(rows, 1),
            "No speed-up over the pinned row: the scene is another one, the number of bodies is another one.");
  rows[1] = row(3e-4);
  rows[1].error.reset();
  EXPECT_EQ(why_no_speedup(rows, 1), "No speed-up over the pinned row: its error is not known.");
  rows.push_back(rows[1]);
  rows[2].pinned = true;
  rows[2].scene.scene = "disc";
  EXPECT_EQ(why_no_speedup(rows, 1), "No speed-up over the pinned row: its error is not known.") << "of the nearest";
  rows[1].speedup = 2;
  EXPECT_EQ(why_no_speedup(rows, 1), "");
}

TEST_F(Explanations, TheRowOfTheResultsSaysWhyItHasNoSpeedUp) {
  view.results = {tried("cpu-simd", ""), tried("cpu-openmp", "")};
  view.results[0].pinned = true;
  view.results[0].error = ForceError{.rms = 1, .median = 1e-4, .p99 = 1, .max = 1};
  settle();
  point_at("result.1");
  settle();
  ImGui::NewFrame();
  ImGui::LogToClipboard();
  Requests out;
  lab_panel(status, view, state, out);
  ImGui::LogFinish();
  ImGui::Render();
  expect_holds(ImGui::GetClipboardText(), {"No speed-up"});
}

TEST_F(Explanations, StepsAreSlowerThanInBenchWhereOpenGlDrawsOnTheProcessor) {
  status.backend = Backend::cpu;
  view.interop = Interop::host;
  view.interop_reason = "A CPU kernel runs.";
  expect_lacks(badge_text(), {"bench"});
  view.gl_on_processor = true;
  expect_holds(badge_text(), {"slower"});
  status.backend = Backend::cuda;
  EXPECT_STREQ(slower_words(status, view), "");
}

TEST_F(Explanations, KernelsOfTheResultsAreWhole) {
  resize(1280, 720, 1);
  Result row = tried("cpu-symmetric", "rows=auto threads=auto tile=auto schedule=static colour=auto one=2 two=3");
  row.swept = true;
  view.results = {tried("cpu-simd", "threads=auto"), row};
  open_tab("results");
  settle();
  expect_holds(lab_text(), {"cpu-symmetric"});
}

TEST_F(Explanations, TheButtonOfASweepNamesTheNumberOfVariants) {
  resize(1280, 720, 1);
  const KernelPtr tree = find_kernel("cpu-tree");
  select(tree);
  for (const Tunable& tunable : tree->tunables) state.lab.drafts.of<SweepDraft>().tunables.emplace_back(tunable.name);
  open_tab("sweep");
  settle();
  expect_holds(lab_text(), {" variants"});
  click("sweep.what");
  settle();
  EXPECT_TRUE(seen("sweep.what.leaf"));
}

}  // namespace
}  // namespace orrery::test
