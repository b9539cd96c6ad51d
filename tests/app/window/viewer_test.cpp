// Runs and their pictures.
#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <utility>

#include "app/ui_state/camera_commands.h"
#include "app/ui_state/camera_path.h"
#include "app/ui_state/overlays_commands.h"
#include "app/ui_state/window_commands.h"
#include "compute/core/error.h"
#include "compute/sim/simulation.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/app/window/offscreen_viewer.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/failure.h"
#include "tests/render/picture.h"

namespace orrery {
namespace {

using test::at;
using test::OffscreenViewer;

TEST_F(OffscreenViewer, RunsTheFramesAskedForAndKeepsTheBodies) {
  ViewOptions o = options(5);
  o.save_file = path("end.tipsy");
  EXPECT_EQ(run_view(test::catalog(), o), 0);
  Simulation simulation{test::backends(), o.scene};
  simulation.apply(SelectKernel{"cpu-openmp"});
  simulation.run(5);
  EXPECT_EQ(read_snapshot(o.save_file).bodies, simulation.bodies());
}

TEST_F(OffscreenViewer, ScriptSwitchesKernelsWhileStepsGoOn) {
  ViewOptions o = options(9);
  o.record_file = path("a.csv");
  o.script = {{.frame = 3, .request = Command{SelectKernel{"cpu-serial"}}, .line = 1},
              {.frame = 6, .request = Command{SelectKernel{"cpu-openmp"}}, .line = 2},
              {.frame = 6, .request = Command{SetTunable{"threads", "1"}}, .line = 3},
              {.frame = 7, .request = ViewCommand{Quit{}}, .line = 4}};
  EXPECT_EQ(run_view(test::catalog(), o), 0);
  const auto recorded = rows(o.record_file);
  ASSERT_EQ(recorded.size(), 8u) << "the frame that quits is the last";
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    auto row = recorded[i];
    EXPECT_EQ(row["kernel"], i >= 3 && i < 6 ? "cpu-serial" : "cpu-openmp") << i;
    EXPECT_EQ(row["settings"].find("threads=1") != std::string::npos, i >= 6) << i;
    EXPECT_EQ(row["step"], std::to_string(i + 1));
  }
}

TEST_F(OffscreenViewer, TheNextKernelIsKnownBeforeTheFirstFrame) {
  ViewOptions o = options(2);
  o.setup = {SelectKernel{"cpu-simd"}};
  o.record_file = path("a.csv");
  o.script = {at(0, ViewCommand{SelectNextKernel{Direction::back}})};
  EXPECT_EQ(run_view(test::catalog(), o), 0);
  EXPECT_EQ(rows(o.record_file).at(0).at("kernel"), "cpu-openmp");
}

TEST_F(OffscreenViewer, PicturesCanBeRepeated) {
  for (const char* name : {"a.png", "b.png"}) {
    ViewOptions o = options(3);
    o.screenshot_file = path(name);
    ASSERT_EQ(run_view(test::catalog(), o), 0);
  }
  const std::string picture = read(path("a.png"));
  EXPECT_GT(picture.size(), 500u);
  EXPECT_EQ(picture, read(path("b.png")));
}

TEST_F(OffscreenViewer, APictureShowsTheSettledPanels) {
  const auto picture = [&](std::int64_t frames, bool by_script) {
    ViewOptions asked = options(frames);
    asked.size = {900, 600};
    asked.script = {at(0, Command{SetPaused{true}}), at(2, ViewCommand{ShowLegend{true}}),
                    at(2, ViewCommand{ToggleHelp{}})};
    if (by_script) {
      asked.script.push_back(at(2, ViewCommand{SaveScreenshot{path("picture.png")}}));
    } else {
      asked.screenshot_file = path("picture.png");
    }
    asked.existing = Existing::replace;
    EXPECT_EQ(run_view(test::catalog(), asked), 0);
    return render::test::read_png(path("picture.png"));
  };
  const render::Image later = picture(9, false);
  EXPECT_TRUE(picture(3, true).rgb == later.rgb) << "in the frame of the command";
  EXPECT_TRUE(picture(3, false).rgb == later.rgb) << "in the last frame";
}

TEST_F(OffscreenViewer, CellsOfATreeAreInThePictureWhenAsked) {
  const auto picture = [&](const char* kernel, bool cells) {
    ViewOptions asked = options(3);
    asked.setup = {SelectKernel{kernel}};
    asked.screenshot_file = path("picture.png");
    asked.existing = Existing::replace;
    if (cells) asked.script = {{.frame = 0, .request = ViewCommand{ShowTreeCells{true}}, .line = 1}};
    run_view(test::catalog(), asked);
    return read(asked.screenshot_file);
  };
  const std::string without = picture("cpu-tree", false), with = picture("cpu-tree", true);
  EXPECT_FALSE(without == with);
  EXPECT_TRUE(with == picture("cpu-tree", true)) << "the same in every run";
  EXPECT_TRUE(picture("cpu-simd", true) == picture("cpu-simd", false)) << "a direct sum has none";
}

TEST_F(OffscreenViewer, CellsOfATreeAppearWhilePaused) {
  const auto picture = [&](bool cells) {
    ViewOptions asked = options(8);
    asked.setup = {SelectKernel{"cpu-tree"}};
    asked.screenshot_file = path("picture.png");
    asked.existing = Existing::replace;
    asked.script = {{.frame = 1, .request = Command{SetPaused{true}}, .line = 1},
                    {.frame = 3, .request = ViewCommand{ShowTreeCells{cells}}, .line = 2}};
    run_view(test::catalog(), asked);
    return read(asked.screenshot_file);
  };
  EXPECT_FALSE(picture(false) == picture(true));
}

TEST_F(OffscreenViewer, PanelIsInThePictureWhenAsked) {
  for (const bool panel : {false, true}) {
    ViewOptions o = options(2);
    o.size = {640, 480};
    o.panel = panel;
    o.screenshot_file = path(panel ? "with.png" : "without.png");
    ASSERT_EQ(run_view(test::catalog(), o), 0);
  }
  EXPECT_NE(read(path("with.png")), read(path("without.png")));
}

TEST_F(OffscreenViewer, APictureHasItsOwnSizeAndChangesNothingElse) {
  const auto last_picture = [&](bool another) {
    ViewOptions o = options(3);
    o.screenshot_file = path("last.png");
    o.existing = Existing::replace;
    if (another) o.script = {{.frame = 1, .request = SavePicture{200, 120, path("other.png")}, .line = 1}};
    EXPECT_EQ(run_view(test::catalog(), o), 0);
    return render::test::read_png(path("last.png"));
  };
  EXPECT_EQ(last_picture(false).rgb, last_picture(true).rgb);
  const auto other = render::test::read_png(path("other.png"));
  EXPECT_EQ(other.width, 200);
  EXPECT_EQ(other.height, 120);
  EXPECT_TRUE(std::ranges::any_of(other.rgb, [](auto value) { return value > 100; })) << "bodies are in it";
}

TEST_F(OffscreenViewer, AnEnlargedPictureShowsTheSameWithMorePixels) {
  const auto last_picture = [&](bool another) {
    ViewOptions o = options(4);
    o.size = {640, 480};
    o.panel = true;
    o.screenshot_file = path("last.png");
    o.existing = Existing::replace;
    o.script = {{.frame = 1, .request = Command{SetPaused{true}}, .line = 1}};
    if (another) o.script.push_back({.frame = 2, .request = SaveEnlarged{3, path("large.png")}, .line = 2});
    EXPECT_EQ(run_view(test::catalog(), o), 0);
    return render::test::read_png(path("last.png"));
  };
  const auto without = last_picture(false), small = last_picture(true);
  const auto large = render::test::read_png(path("large.png"));
  ASSERT_EQ(large.width, 3 * small.width);
  ASSERT_EQ(large.height, 3 * small.height);
  // The means of tiles: panels, text and bodies are at the same places.
  constexpr int tile = 80;
  const auto mean = [](const auto& image, int x, int y, int size) {
    double sum = 0;
    for (int row = y; row < y + size; ++row) {
      for (int i = 3 * (row * image.width + x); i < 3 * (row * image.width + x + size); ++i) {
        sum += image.rgb[static_cast<std::size_t>(i)];
      }
    }
    return sum / (3.0 * size * size);
  };
  for (int y = 0; y < small.height; y += tile) {
    for (int x = 0; x < small.width; x += tile) {
      // A body of few pixels is a smaller light in a larger picture, and the panel's bars are as long as times are.
      EXPECT_NEAR(mean(large, 3 * x, 3 * y, 3 * tile), mean(small, x, y, tile), 30) << x << ", " << y;
      EXPECT_NEAR(mean(without, x, y, tile), mean(small, x, y, tile), 30)
          << "the window is as before: " << x << ", " << y;
    }
  }
}

TEST_F(OffscreenViewer, APictureThatCannotBeDrawnIsRefused) {
  ViewOptions o = options(3);
  o.size = {8192, 64};
  o.script = {{.frame = 1, .request = SaveEnlarged{8, path("large.png")}, .line = 1}};
  test::expect_failure(
      test::Failure::runtime, [&] { run_view(test::catalog(), o); }, "65536x512", "pixels is the most");
}

/// Its sphere grows fivefold by the time of the filaments.
TEST_F(OffscreenViewer, TheCosmicWebHasRoomToExpand) {
  const auto distance = [&](Script script) {
    ViewOptions o = options(4);
    o.scene = {.scene = "cosmic-web", .count = 500};
    o.existing = Existing::replace;
    o.script = std::move(script);
    o.script.push_back({.frame = 2, .request = ViewCommand{AddKeyFrame{}}, .line = 2});
    o.script.push_back({.frame = 3, .request = ViewCommand{SavePath{path("path.txt")}}, .line = 3});
    EXPECT_EQ(run_view(test::catalog(), o), 0);
    return read_camera_path(path("path.txt")).at(0).distance;
  };
  const auto at_first = distance({}), of_all = distance({at(1, ViewCommand{FrameAll{}})});
  EXPECT_GT(at_first, 3 * of_all);
  EXPECT_LT(at_first, 6 * of_all);
  EXPECT_LT(distance({at(1, ViewCommand{FrameAll{FramedBodies::most}})}), of_all);
}

TEST_F(OffscreenViewer, AScenesStepsPerFrameHoldUntilTheUserSetsOthers) {
  const auto last_step = [&](const Commands& asked, Script script) {
    ViewOptions o = options(4);
    o.scene = {.scene = "two-body"};  // which has 4
    o.setup.insert(o.setup.end(), asked.begin(), asked.end());
    o.script = std::move(script);
    o.screenshot_file = path("last.png");
    o.existing = Existing::replace;
    EXPECT_EQ(run_view(test::catalog(), o), 0);
    const std::string picture = read(o.screenshot_file);
    const std::size_t place = picture.find("\"step\":");
    return place == std::string::npos ? -1 : std::stoi(picture.substr(place + 7));
  };
  const Request antennae = Command{LoadScene{{.scene = "antennae", .count = 100}}};  // 2
  EXPECT_EQ(last_step({}, {}), 4 * 4);
  EXPECT_EQ(last_step({}, {at(1, antennae)}), 3 * 2);
  EXPECT_EQ(last_step({SetStepsPerFrame{1}}, {}), 4);
  EXPECT_EQ(last_step({SetStepsPerFrame{5}}, {at(1, antennae)}), 3 * 5);
  EXPECT_EQ(last_step({}, {at(0, Command{SetStepsPerFrame{5}}), at(1, antennae)}), 3 * 5);
}

TEST_F(OffscreenViewer, AContinuedRunHasTheStepsPerFrameOfItsScene) {
  ViewOptions o = options(3);
  o.scene = {.scene = "two-body"};
  o.save_file = path("run.checkpoint");
  ASSERT_EQ(run_view(test::catalog(), o), 0);
  ViewOptions continued = options(2);
  continued.setup.clear();
  continued.resume_file = o.save_file;
  continued.record_file = path("a.csv");
  ASSERT_EQ(run_view(test::catalog(), continued), 0);
  EXPECT_EQ(rows(continued.record_file).back().at("step"), "20");  // 3 frames and 2 of 4 steps each
}

TEST_F(OffscreenViewer, AFileHasOneStepPerFrame) {
  ViewOptions o = options(3);
  o.save_file = path("bodies.tipsy");
  ASSERT_EQ(run_view(test::catalog(), o), 0);
  o.scene = {.scene = "two-body", .file = o.save_file};
  o.save_file.clear();
  o.record_file = path("a.csv");
  ASSERT_EQ(run_view(test::catalog(), o), 0);
  EXPECT_EQ(rows(o.record_file).back().at("step"), "3");
}

TEST_F(OffscreenViewer, PicksAndFollowsABodyInAScript) {
  const auto picture = [&](const std::vector<ViewCommand>& commands) {
    ViewOptions asked = options(4);
    asked.screenshot_file = path("picture.png");
    asked.existing = Existing::replace;
    for (const ViewCommand& command : commands) asked.script.push_back({.frame = 1, .request = command, .line = 2});
    EXPECT_EQ(run_view(test::catalog(), asked), 0);
    return pixels_of(read(asked.screenshot_file));
  };
  const std::string without = picture({});
  EXPECT_TRUE(picture({PickAt{0.5f, 0.5f}, PickBody{7}}) == without) << "nothing is drawn over the bodies";
  EXPECT_FALSE(picture({PickBody{7}, Follow{}}) == without);
  EXPECT_TRUE(picture({PickBody{7}, Follow{}, FrameAll{}, ResetCamera{}}) == picture({FrameAll{}, ResetCamera{}}));
  EXPECT_TRUE(picture({PickBody{7}, Follow{}, ZoomView{2, 0.1f, 0.2f}}) ==
              picture({PickBody{7}, Follow{}, ZoomView{2}}))
      << "towards the body";
  EXPECT_FALSE(picture({ZoomView{2, 0.1f, 0.2f}}) == picture({ZoomView{2}}));
  for (const std::vector<ViewCommand>& refused :
       {std::vector<ViewCommand>{PickBody{500}}, {Follow{}}, {PickAt{0.5f, 1.5f}}, {Follow{Followed::part, "disc"}}}) {
    ViewOptions asked = options(3);
    for (const ViewCommand& command : refused) asked.script.push_back({.frame = 1, .request = command, .line = 2});
    EXPECT_THROW(run_view(test::catalog(), asked), UsageError);
  }
}

/// A number of the description of a picture, which is JSON within the file.
std::array<double, 3> camera_target(const std::string& picture) {
  const std::size_t at = picture.find("\"target\":[");
  std::array<double, 3> target{};
  EXPECT_NE(at, std::string::npos);
  std::sscanf(picture.c_str() + at, "\"target\":[%lf,%lf,%lf]", &target[0], &target[1], &target[2]);
  return target;
}

TEST_F(OffscreenViewer, FollowsAPartOfTheScene) {
  const int frames = 30;
  ViewOptions asked = options(frames);
  asked.scene = {.scene = "collision", .count = 1000};
  asked.screenshot_file = path("picture.png");
  asked.save_file = path("end.tipsy");
  asked.script = {{.frame = 1, .request = ViewCommand{Follow{Followed::part, "galaxy 2"}}, .line = 1},
                  {.frame = 5, .request = ViewCommand{OrbitView{0.1f, 0.1f}}, .line = 2},
                  {.frame = 6, .request = ViewCommand{ZoomView{2}}, .line = 3},
                  {.frame = 7, .request = Command{Restart{}}, .line = 4}};
  EXPECT_EQ(run_view(test::catalog(), asked), 0);
  const std::vector<Vec4> positions = read_snapshot(asked.save_file).bodies.positions;
  ASSERT_EQ(positions.size(), 1000u);
  std::array<double, 3> centre{};
  double mass = 0;
  for (std::size_t i = 750; i < 1000; ++i) mass += positions[i].w;
  for (std::size_t i = 750; i < 1000; ++i) {
    centre[0] += positions[i].w / mass * positions[i].x;
    centre[1] += positions[i].w / mass * positions[i].y;
    centre[2] += positions[i].w / mass * positions[i].z;
  }
  const std::array<double, 3> target = camera_target(read(asked.screenshot_file));
  for (std::size_t axis = 0; axis < 3; ++axis) EXPECT_NEAR(target[axis], centre[axis], 1e-4) << axis;
}

TEST_F(OffscreenViewer, FollowsOnInASceneThatHasThePart) {
  const auto last_target = [&](const char* scene) {
    ViewOptions asked = options(20);
    asked.scene = {.scene = "disc", .count = 600};
    asked.screenshot_file = path("picture.png");
    asked.existing = Existing::replace;
    asked.script = {{.frame = 1, .request = ViewCommand{Follow{Followed::part, "halo"}}, .line = 1},
                    {.frame = 3, .request = Command{LoadScene{{.scene = scene, .count = 600}}}, .line = 2},
                    {.frame = 10, .request = ViewCommand{PanView{0.1f, 0}}, .line = 3}};
    EXPECT_EQ(run_view(test::catalog(), asked), 0);
    const std::array<double, 3> followed = camera_target(read(asked.screenshot_file));
    asked.script.erase(asked.script.begin());
    EXPECT_EQ(run_view(test::catalog(), asked), 0);
    return followed != camera_target(read(asked.screenshot_file));
  };
  EXPECT_TRUE(last_target("spiral"));
  EXPECT_FALSE(last_target("plummer")) << "it has no parts";
}

TEST_F(OffscreenViewer, FixesTheRangeOfColours) {
  const auto picture = [&](const render::Appearance& appearance) {
    ViewOptions asked = options(3);
    asked.screenshot_file = path("picture.png");
    asked.existing = Existing::replace;
    asked.script = {{.frame = 1, .request = ViewCommand{SetAppearance{appearance}}, .line = 2}};
    EXPECT_EQ(run_view(test::catalog(), asked), 0);
    return read(asked.screenshot_file);
  };
  const std::string automatic = picture({});
  EXPECT_FALSE(picture({.high = 0.5f}) == automatic);
  EXPECT_NE(picture({.high = 0.5f}).find(R"("high":0.5)"), std::string::npos) << "in the description";
  EXPECT_THROW(picture({.low = 2.0f, .high = 1.0f}), UsageError);
  EXPECT_THROW(picture({.high = std::numeric_limits<float>::infinity()}), UsageError);
  EXPECT_THROW(picture({.scale = render::Scale::logarithmic, .low = 0.0f}), UsageError);
}

TEST_F(OffscreenViewer, TheLegendNamesTheOnlyMass) {
  const auto picture = [&](const char* scene, const render::Appearance& appearance) {
    ViewOptions asked = options(2);
    asked.scene.scene = scene;
    asked.screenshot_file = path("picture.png");
    asked.existing = Existing::replace;
    asked.script = {at(0, ViewCommand{SetAppearance{appearance}})};
    EXPECT_EQ(run_view(test::catalog(), asked), 0);
    return read(asked.screenshot_file);
  };
  const render::Appearance by_mass{.colour_by = find_body_colour("mass").by};
  constexpr const char *only = R"("all bodies: 2.0e-3 mass")", *range = R"("high")";
  EXPECT_NE(picture("plummer", by_mass).find(only), std::string::npos);
  EXPECT_EQ(picture("plummer", by_mass).find(range), std::string::npos);
  EXPECT_NE(picture("disc", by_mass).find(range), std::string::npos) << "its bodies have several";
  EXPECT_NE(picture("plummer", {.colour_by = find_body_colour("mass").by, .high = 1.0f}).find(range),
            std::string::npos);
  EXPECT_EQ(picture("plummer", {.look = render::Look::density, .colour_by = find_body_colour("mass").by}).find(only),
            std::string::npos);
}

TEST_F(OffscreenViewer, ReturnsToARowOfTheResultsAndUndoesIt) {
  ViewOptions o = options(40);
  o.script = {
      {.frame = 3, .request = Command{LoadScene{{.scene = "disc", .count = 300}}}, .line = 1},
      {.frame = 3, .request = Command{SetTimeStep{0.25f}}, .line = 2},
      {.frame = 6, .request = ViewCommand{ReturnToResult{0}}, .line = 3},
      {.frame = 6, .request = ViewCommand{StartRecording{path("first.csv")}}, .line = 4},
      {.frame = 8, .request = ViewCommand{StopRecording{}}, .line = 5},
      {.frame = 8, .request = Command{UndoReturn{}}, .line = 6},
      {.frame = 8, .request = ViewCommand{StartRecording{path("second.csv")}}, .line = 7},
      {.frame = 8, .request = ViewCommand{ExportResults{path("results.csv")}}, .line = 8},
      {.frame = 10, .request = ViewCommand{Quit{}}, .line = 9},
  };
  EXPECT_EQ(run_view(test::catalog(), o), 0);
  EXPECT_EQ(read(path("first.csv")).find("\"dt\":0.25"), std::string::npos) << "plummer's own again";
  const auto returned = rows(path("first.csv")), undone = rows(path("second.csv"));
  ASSERT_FALSE(returned.empty() || undone.empty());
  EXPECT_EQ(returned.front().at("n"), "500");
  EXPECT_EQ(returned.front().at("step"), "1") << "other bodies start from their first state";
  EXPECT_EQ(undone.front().at("n"), "300");
  EXPECT_EQ(undone.front().at("step"), "4") << "the bodies go on from where they were";
  EXPECT_NE(read(path("second.csv")).find("\"dt\":0.25"), std::string::npos);
  const auto results = rows(path("results.csv"));
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[1].at("dt"), "0.25");
  EXPECT_NE(results[0].at("dt"), "0.25");
}

}  // namespace
}  // namespace orrery
