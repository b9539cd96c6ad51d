#include "app/ui_state/film_commands.h"
#include "app/ui_state/overlays_commands.h"
#include "app/ui_state/runs_commands.h"
#include "app/ui_state/window_commands.h"
#include "compute/integrators/integrator.h"
#include "tests/app/panels/panels_fixture.h"
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
  for (const KernelPtr& kernel : test::kernels()) {
    if (!test::backends().status(kernel->backend).available) continue;
    SCOPED_TRACE(kernel->id);
    select(kernel == view.kernels.front() ? view.kernels.back() : view.kernels.front());
    frame();
    EXPECT_EQ(only<SelectKernel>(pick("kernel", kernel->id)).id, kernel->id);
  }
}

TEST_F(Panels, NameWhatIsChosenWithoutCuttingIt) {
  select(test::find_kernel("cpu-tree"));
  status.auto_choice =
      AutoChoice{"auto: cpu-tree theta=0.68 leaf=32 group=64 order=local", "One step with 1000 bodies"};
  settle();
  click("section.appearance");
  view.colour_maps.assign(12, "Stellar: red giants to blue stars");
  EXPECT_NE(side_column_text().find("auto: cpu-tree "), std::string::npos) << side_column_text();
  EXPECT_NE(side_column_text().find("Automatic: Stellar "), std::string::npos) << side_column_text();
  EXPECT_EQ(side_column_text().find("\u2026"), std::string::npos) << side_column_text();
}

TEST_F(Panels, SayWhatIsBeingCompiled) {
  const KernelPtr kernel = test::find_kernel("cpu-openmp");
  select(kernel);
  (void)frame();
  EXPECT_FALSE(seen("kernel.compiling"));
  status.preparing = {kernel, Settings{*kernel, {{"chunk", "32"}}}};
  (void)frame();
  EXPECT_TRUE(seen("kernel.compiling"));
  EXPECT_NE(side_column_text().find("compiling chunk=32 ..."), std::string::npos) << side_column_text();
  status.preparing = {test::find_kernel("cpu-serial"), {}};
  EXPECT_NE(side_column_text().find("compiling CPU serial ..."), std::string::npos) << side_column_text();
}

TEST_F(Panels, LeaveTheKernelToTheProgramAndTakeItBack) {
  select(test::find_kernel("cpu-simd"));
  EXPECT_EQ(only<SelectKernel>(pick("kernel", auto_kernel)).id, auto_kernel);
  status.auto_choice = AutoChoice{"auto: cpu-simd rows=4", "One step with 1000 bodies"};
  EXPECT_TRUE(pick("kernel", auto_kernel).empty()) << "so it is";
  EXPECT_NE(side_column_text().find("auto: cpu-simd rows=4"), std::string::npos);
  EXPECT_EQ(only<SelectKernel>(pick("kernel", "cpu-simd")).id, "cpu-simd") << "the same, whatever comes";
  status.auto_choice->name = "auto: cpu-simd";
  status.chosen = "rows 2";
  frame();
  EXPECT_NE(side_column_text().find("auto: cpu-simd, rows 2"), std::string::npos);
}

TEST_F(Panels, SetWhatAutoKeepsTo) {
  select(test::find_kernel("cpu-simd"));
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
  select(test::find_kernel("cpu-jerk"));
  status.integrator_id = "hermite4";
  EXPECT_TRUE(pick("kernel", "cpu-simd").empty()) << "it gives no jerks";
  ImGui::GetIO().MousePos = {1200, 700};
  press();  // closes the list
  status.integrator_id = "leapfrog";
  EXPECT_EQ(only<SelectKernel>(pick("kernel", "cpu-simd")).id, "cpu-simd");
}

TEST_F(Panels, DoNotPickAKernelThatCannotRun) {
  bool tried = false;
  for (const KernelPtr& kernel : test::kernels()) {
    if (test::backends().status(kernel->backend).available) continue;
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
  for (const KernelPtr& kernel : test::kernels()) {
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
  select(test::find_kernel("cpu-simd"));
  settle();
  EXPECT_FALSE(seen("section.tree"));
  select(test::find_kernel("cpu-tree"));
  settle();
  EXPECT_TRUE(seen("section.tree"));
  EXPECT_NE(side_column_text().find("after the next step"), std::string::npos);

  status.tree = TreeReport{.interactions = 123'000, .cells = 4567, .depth = 9, .phases = {{"sort", 1.25}, {"walk", 3}}};
  const std::string text = side_column_text();
  for (const char* words : {"123 k", "4,567", "9", "sort", "1.25 ms", "walk", "3.00 ms", "4.25 ms"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << " is not in\n" << text;
  }
  EXPECT_TRUE(only<ShowTreeCells>(click("tree.cells")).on);
  view.overlays.cells.on = true;
  EXPECT_FALSE(only<ShowTreeCells>(click("tree.cells")).on);
}

TEST_F(Panels, CountNoFlopsOfATree) {
  view.measured = 3;
  view.step_ms_median = 0.5;
  select(test::find_kernel("cpu-tree"));
  status.interactions_per_step = 3 * 1234.0 * status.count;  // an integrator with three evaluations per step
  status.tree.emplace().interactions = 1234 * std::int64_t{status.count};
  std::string text = side_column_text();
  EXPECT_EQ(text.find("FLOP"), std::string::npos) << text;
  EXPECT_NE(text.find("1,234"), std::string::npos) << text;
  EXPECT_NE(text.find("1,234 interactions per body"), std::string::npos) << text;
  EXPECT_NE(text.find("1,234 per body"), std::string::npos) << "the section Tree has the same figure: " << text;
  status.tree.reset();  // not known yet
  text = side_column_text();
  EXPECT_EQ(text.find("FLOP"), std::string::npos) << text;
  EXPECT_EQ(text.find("0 interactions per body"), std::string::npos) << text;
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
  for (const char* entry : {"0", "-4", "many", "1", "3000M", "12x"}) {
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
  EXPECT_NE(side_column_text().find("kpc, 1e10 Msun, 207.4 km/s"), std::string::npos) << side_column_text();
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
  EXPECT_EQ(side_column_text().find(" ms"), std::string::npos);
  view.measured = 3;
  status.timing = {.steps = 4, .step_ms = 0.25, .force_ms = 0.2, .integrate_ms = 0.05};
  view.step_ms_median = 0.5;
  const std::string text = side_column_text();
  EXPECT_NE(text.find("2.00 G"), std::string::npos) << text;  // interactions/s
  EXPECT_NE(text.find("40.0 GFLOP/s"), std::string::npos) << text;
  EXPECT_NE(text.find("0.250 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("0.500 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("force 0.200 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("Frame with 4 steps"), std::string::npos) << text;
}

TEST_F(Panels, LeaveAStepThatOutlastsItsFrameOutOfTheFrame) {
  view.measured = 1;
  status.timing = {.steps = 1, .step_ms = 3030, .force_ms = 3029, .integrate_ms = 1};
  view.times = {.map_ms = 0.5, .draw_ms = 2, .gui_ms = 1, .swap_ms = 10, .frame_ms = 15.8};
  const std::string text = side_column_text();
  EXPECT_NE(text.find("Step 3.03 s"), std::string::npos) << text;
  EXPECT_NE(text.find("Frame 15.8 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("rest 2.30 ms"), std::string::npos) << text;
}

TEST_F(Panels, ForgetTheStepOfAKernelThatIsGone) {
  view.measured = 1;
  status.timing = {.steps = 1, .step_ms = 3030, .force_ms = 3029, .integrate_ms = 1};
  EXPECT_NE(side_column_text().find("3.03 s"), std::string::npos);
  view.measured = 0;
  EXPECT_EQ(side_column_text().find("3.03 s"), std::string::npos);
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

}  // namespace
}  // namespace orrery::test
