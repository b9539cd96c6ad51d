// Runs and their pictures.
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdio>

#include "app/features/compare/compare.h"
#include "app/features/compare/compare_window.h"
#include "app/features/film/film_window.h"
#include "app/features/race/race.h"
#include "app/features/sweep/sweep.h"
#include "app/ui_state/camera_commands.h"
#include "app/ui_state/camera_path.h"
#include "app/ui_state/lessons_commands.h"
#include "app/ui_state/overlays_commands.h"
#include "app/ui_state/window_commands.h"
#include "app/window/run_view.h"
#include "compute/core/error.h"
#include "compute/sim/simulation.h"
#include "compute/snapshots/snapshot_format.h"
#include "render/gl/gl.h"
#include "render/gl/gl_objects.h"
#include "tests/app/lessons/lesson_text.h"
#include "tests/app/report/page_check.h"
#include "tests/app/support/test.h"
#include "tests/app/window/offscreen_viewer.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/kernel_doubles.h"
#include "tests/render/picture.h"

namespace orrery::test {
namespace {

TEST_F(OffscreenViewer, RunsTheFramesAskedForAndKeepsTheBodies) {
  ViewOptions o = options(5);
  o.save_file = path("end.tipsy");
  run(o);
  Simulation simulation{backends(), o.scene};
  simulation.apply(SelectKernel{"cpu-openmp"});
  simulation.run(5);
  EXPECT_EQ(read_snapshot(o.save_file).bodies, simulation.bodies());
}

TEST_F(OffscreenViewer, ScriptSwitchesKernelsWhileStepsGoOn) {
  ViewOptions o = options(9);
  o.record_file = path("a.csv");
  o.script = {at(3, SelectKernel{"cpu-serial"}), at(6, SelectKernel{"cpu-openmp"}), at(6, SetTunable{"threads", "1"}),
              at(7, Quit{})};
  run(o);
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
  o.script = {at(0, SelectNextKernel{Direction::back})};
  run(o);
  EXPECT_EQ(rows(o.record_file).at(0).at("kernel"), "cpu-openmp");
}

TEST_F(OffscreenViewer, PicturesCanBeRepeated) {
  const std::string picture = picture_of(options(3));
  EXPECT_GT(picture.size(), 500u);
  EXPECT_EQ(picture, picture_of(options(3)));
}

TEST_F(OffscreenViewer, APictureShowsTheSettledPanels) {
  const auto picture = [&](std::int64_t frames, bool by_script) {
    ViewOptions asked = options(frames);
    asked.size = {900, 600};
    asked.script = {at(0, SetPaused{true}), at(2, ShowLegend{true}), at(2, ToggleHelp{})};
    if (by_script) {
      asked.script.push_back(at(2, ViewCommand{SaveScreenshot{path("picture.png")}}));
    } else {
      asked.screenshot_file = path("picture.png");
    }
    asked.existing = Existing::replace;
    run(asked);
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
    return picture_of(asked, cells ? Script{at(0, ShowTreeCells{true})} : Script{});
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
    return picture_of(asked, {at(1, SetPaused{true}), at(3, ShowTreeCells{cells})});
  };
  EXPECT_FALSE(picture(false) == picture(true));
}

TEST_F(OffscreenViewer, PanelIsInThePictureWhenAsked) {
  ViewOptions o = options(2);
  o.size = {640, 480};
  const std::string without = picture_of(o);
  o.panel = true;
  EXPECT_NE(picture_of(o), without);
}

TEST_F(OffscreenViewer, APictureHasItsOwnSizeAndChangesNothingElse) {
  const auto last_picture = [&](bool another) {
    ViewOptions o = options(3);
    o.screenshot_file = path("last.png");
    o.existing = Existing::replace;
    if (another) o.script = {at(1, SavePicture{200, 120, path("other.png")})};
    run(o);
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
    o.script = {at(1, SetPaused{true})};
    if (another) o.script.push_back(at(2, SaveEnlarged{3, path("large.png")}));
    run(o);
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
  o.script = {at(1, SaveEnlarged{8, path("large.png")})};
  expect_runtime_error({"65536x512", "pixels is the most"}, [&] { run_view(catalog(), o); });
}

/// Its sphere grows fivefold by the time of the filaments.
TEST_F(OffscreenViewer, TheCosmicWebHasRoomToExpand) {
  const auto distance = [&](Script script) {
    ViewOptions o = options(4);
    o.scene = {.scene = "cosmic-web", .count = 500};
    o.existing = Existing::replace;
    o.script = std::move(script);
    o.script.push_back(at(2, AddKeyFrame{}));
    o.script.push_back(at(3, SavePath{path("path.txt")}));
    run(o);
    return read_camera_path(path("path.txt")).at(0).distance;
  };
  const auto at_first = distance({}), of_all = distance({at(1, FrameAll{})});
  EXPECT_GT(at_first, 3 * of_all);
  EXPECT_LT(at_first, 6 * of_all);
  EXPECT_LT(distance({at(1, FrameAll{FramedBodies::most})}), of_all);
}

TEST_F(OffscreenViewer, AScenesStepsPerFrameHoldUntilTheUserSetsOthers) {
  const auto last_step = [&](const Commands& asked, Script script) {
    ViewOptions o = options(4);
    o.scene = {.scene = "two-body"};  // which has 4
    o.setup.insert(o.setup.end(), asked.begin(), asked.end());
    const std::string picture = picture_of(o, std::move(script));
    const std::size_t place = picture.find("\"step\":");
    return place == std::string::npos ? -1 : std::stoi(picture.substr(place + 7));
  };
  const Request antennae = Command{LoadScene{{.scene = "antennae", .count = 100}}};  // 2
  EXPECT_EQ(last_step({}, {}), 4 * 4);
  EXPECT_EQ(last_step({}, {at(1, antennae)}), 3 * 2);
  EXPECT_EQ(last_step({SetStepsPerFrame{1}}, {}), 4);
  EXPECT_EQ(last_step({SetStepsPerFrame{5}}, {at(1, antennae)}), 3 * 5);
  EXPECT_EQ(last_step({}, {at(0, SetStepsPerFrame{5}), at(1, antennae)}), 3 * 5);
}

TEST_F(OffscreenViewer, AContinuedRunHasTheStepsPerFrameOfItsScene) {
  ViewOptions o = options(3);
  o.scene = {.scene = "two-body"};
  o.save_file = path("run.checkpoint");
  run(o);
  ViewOptions continued = options(2);
  continued.setup.clear();
  continued.resume_file = o.save_file;
  continued.record_file = path("a.csv");
  run(continued);
  EXPECT_EQ(rows(continued.record_file).back().at("step"), "20");  // 3 frames and 2 of 4 steps each
}

TEST_F(OffscreenViewer, AFileHasOneStepPerFrame) {
  ViewOptions o = options(3);
  o.save_file = path("bodies.tipsy");
  run(o);
  o.scene = {.scene = "two-body", .file = o.save_file};
  o.save_file.clear();
  o.record_file = path("a.csv");
  run(o);
  EXPECT_EQ(rows(o.record_file).back().at("step"), "3");
}

TEST_F(OffscreenViewer, PicksAndFollowsABodyInAScript) {
  const auto picture = [&](const std::vector<ViewCommand>& commands) {
    ViewOptions asked = options(4);
    for (const ViewCommand& command : commands) asked.script.push_back(at(1, command));
    return pixels_of(picture_of(asked));
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
    for (const ViewCommand& command : refused) asked.script.push_back(at(1, command));
    EXPECT_THROW(run_view(catalog(), asked), UsageError);
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
  asked.save_file = path("end.tipsy");
  const std::array<double, 3> target =
      camera_target(picture_of(asked, {at(1, Follow{Followed::part, "galaxy 2"}), at(5, OrbitView{0.1f, 0.1f}),
                                       at(6, ZoomView{2}), at(7, Restart{})}));
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
  for (std::size_t axis = 0; axis < 3; ++axis) EXPECT_NEAR(target[axis], centre[axis], 1e-4) << axis;
}

TEST_F(OffscreenViewer, FollowsOnInASceneThatHasThePart) {
  const auto last_target = [&](const char* scene) {
    ViewOptions asked = options(20);
    asked.scene = {.scene = "disc", .count = 600};
    asked.script = {at(1, Follow{Followed::part, "halo"}), at(3, LoadScene{{.scene = scene, .count = 600}}),
                    at(10, PanView{0.1f, 0})};
    const std::array<double, 3> followed = camera_target(picture_of(asked));
    asked.script.erase(asked.script.begin());
    return followed != camera_target(picture_of(asked));
  };
  EXPECT_TRUE(last_target("spiral"));
  EXPECT_FALSE(last_target("plummer")) << "it has no parts";
}

TEST_F(OffscreenViewer, FixesTheRangeOfColours) {
  const auto picture = [&](const render::Appearance& appearance) {
    return picture_of(options(3), {at(1, SetAppearance{appearance})});
  };
  EXPECT_FALSE(picture({.high = 0.5f}) == picture({}));
  EXPECT_NE(picture({.high = 0.5f}).find(R"("high":0.5)"), std::string::npos) << "in the description";
  EXPECT_THROW(picture({.low = 2.0f, .high = 1.0f}), UsageError);
  EXPECT_THROW(picture({.high = std::numeric_limits<float>::infinity()}), UsageError);
  EXPECT_THROW(picture({.scale = render::Scale::logarithmic, .low = 0.0f}), UsageError);
}

TEST_F(OffscreenViewer, TheLegendNamesTheOnlyMass) {
  const auto picture = [&](const char* scene, const render::Appearance& appearance) {
    ViewOptions asked = options(2);
    asked.scene.scene = scene;
    return picture_of(asked, {at(0, SetAppearance{appearance})});
  };
  const render::Appearance by_mass{.colour_by = find_body_colour("mass").by};
  constexpr const char *only = R"("all bodies: 2.0e-3 mass")", *range = R"("high")";
  expect_holds(picture("plummer", by_mass), {only});
  expect_lacks(picture("plummer", by_mass), {range});
  EXPECT_NE(picture("disc", by_mass).find(range), std::string::npos) << "its bodies have several";
  expect_holds(picture("plummer", {.colour_by = find_body_colour("mass").by, .high = 1.0f}), {range});
  expect_lacks(picture("plummer", {.look = render::Look::density, .colour_by = find_body_colour("mass").by}), {only});
}

TEST_F(OffscreenViewer, ReturnsToARowOfTheResultsAndUndoesIt) {
  ViewOptions o = options(40);
  o.script = {at(3, LoadScene{{.scene = "disc", .count = 300}}),
              at(3, SetTimeStep{0.25f}),
              at(6, ReturnToResult{0}),
              at(6, StartRecording{path("first.csv")}),
              at(8, StopRecording{}),
              at(8, UndoReturn{}),
              at(8, StartRecording{path("second.csv")}),
              at(8, ExportResults{path("results.csv")}),
              at(10, Quit{})};
  run(o);
  EXPECT_EQ(read(path("first.csv")).find("\"dt\":0.25"), std::string::npos) << "plummer's own again";
  const auto returned = rows(path("first.csv")), undone = rows(path("second.csv"));
  ASSERT_FALSE(returned.empty() || undone.empty());
  EXPECT_EQ(returned.front().at("n"), "500");
  EXPECT_EQ(returned.front().at("step"), "1") << "other bodies start from their first state";
  EXPECT_EQ(undone.front().at("n"), "300");
  EXPECT_EQ(undone.front().at("step"), "4") << "the bodies go on from where they were";
  expect_holds(read(path("second.csv")), {"\"dt\":0.25"});
  const auto results = rows(path("results.csv"));
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[1].at("dt"), "0.25");
  EXPECT_NE(results[0].at("dt"), "0.25");
}

// Two runs beside each other in a run without a window.

using render::Image;

CompareWith comparison(const char* kernel, double nudge = 0) {
  CompareWith with;
  with.kernel = kernel;
  with.nudge = nudge;
  return with;
}

struct ComparingViewer : OffscreenViewer {
  /// Returns a picture of the bodies alone, after some frames of a comparison.
  Image picture(const CompareWith& with, CompareLayout layout, render::Appearance appearance = {}) {
    ViewOptions asked = options(6);
    asked.existing = Existing::replace;
    asked.script = {at(0, SetAppearance{appearance}), at(1, CompareWith{with}), at(1, SetCompareLayout{layout}),
                    at(5, SavePicture{160, 80, path("picture.png")})};
    run(asked);
    return render::test::read_png(path("picture.png"));
  }
  static Image half(const Image& whole, int left) {
    Image part{whole.width / 2, whole.height, {}};
    for (int y = 0; y < whole.height; ++y) {
      const auto begin = whole.rgb.begin() + 3 * (y * whole.width + left);
      part.rgb.insert(part.rgb.end(), begin, begin + 3 * part.width);
    }
    return part;
  }
};

TEST_F(ComparingViewer, TheSameRunsLookTheSameSideBySide) {
  const Image same = picture(comparison("cpu-openmp"), CompareLayout::side);
  EXPECT_EQ(half(same, 0).rgb, half(same, 80).rgb);
  const Image other = picture(comparison("cpu-openmp", 0.5), CompareLayout::side);
  EXPECT_TRUE(render::test::difference(half(other, 0), half(same, 0)).small()) << "A is the run of the window";
  EXPECT_FALSE(render::test::difference(half(other, 0), half(other, 80)).small());
}

TEST_F(ComparingViewer, RunsOverEachOtherHaveTwoColoursWhereTheyDiffer) {
  const auto coloured_pixels = [](const Image& image) {
    std::array<int, 2> more{};  // blue than red, red than blue
    for (std::size_t i = 0; i < image.rgb.size(); i += 3) {
      const int red = image.rgb[i], blue = image.rgb[i + 2];
      more[0] += blue > red + 40;
      more[1] += red > blue + 40;
    }
    return more;
  };
  const auto together = coloured_pixels(picture(comparison("cpu-openmp"), CompareLayout::over));
  EXPECT_EQ(together[0] + together[1], 0) << "both colours add up to white";
  const auto apart = coloured_pixels(picture(comparison("cpu-openmp", 0.5), CompareLayout::over));
  EXPECT_GT(apart[0], 20);
  EXPECT_GT(apart[1], 20);
}

TEST_F(ComparingViewer, PicturesOfAComparisonCanBeRepeated) {
  const render::Appearance by_distance{.colour_by = find_body_colour("distance").by};
  const Image once = picture(comparison("cpu-tree"), CompareLayout::side, by_distance);
  EXPECT_EQ(once.rgb, picture(comparison("cpu-tree"), CompareLayout::side, by_distance).rgb);
  EXPECT_NE(once.rgb, picture(comparison("cpu-tree"), CompareLayout::side).rgb) << "colours show the distance";
}

TEST_F(ComparingViewer, TheEndOfAComparisonLeavesTheRunAsItWas) {
  const auto end_of = [&](bool compares) {
    ViewOptions asked = options(6);
    asked.existing = Existing::replace;
    asked.screenshot_file = path("end.png");
    asked.save_file = path("end.tipsy");
    if (compares) asked.script = {at(1, comparison("cpu-tree")), at(4, CompareWith{})};
    run(asked);
    return read(asked.save_file) + render::encode_png(render::test::read_png(asked.screenshot_file));
  };
  EXPECT_TRUE(end_of(true) == end_of(false));
}

TEST_F(ComparingViewer, TheEndOfAComparisonTakesItsColoursAlong) {
  for (const bool ends : {false, true}) {
    Script script = {at(1, comparison("cpu-tree")),
                     at(2, SetAppearance{render::Appearance{.colour_by = find_body_colour("distance").by}})};
    if (ends) script.push_back(at(3, CompareWith{}));
    EXPECT_EQ(holds(picture_of(options(5), script), "\"quantity\":\"distance"), !ends);
  }
}

TEST_F(ComparingViewer, PicksABodyInEitherPicture) {
  for (const float x : {0.25f, 0.75f}) {
    ViewOptions asked = options(5);
    asked.existing = Existing::replace;
    asked.script = {at(1, comparison("cpu-openmp")), at(3, PickAt{x, 0.5f}),
                    at(4, ViewCommand{Follow{Followed::body, {}}})};
    EXPECT_EQ(run_view(catalog(), asked), 0) << "the camera can follow what was picked";
  }
}

TEST_F(ComparingViewer, RefusesWhatDoesNotGoTogether) {
  const auto refused = [&](std::vector<ScriptLine> script, const char* why) {
    ViewOptions asked = options(5);
    asked.script_file = "demo.txt";
    asked.script = std::move(script);
    expect_usage_error({"demo.txt:1: ", why}, [&] { run_view(catalog(), asked); });
  };
  refused({at(1, comparison("cpu-tree")), at(2, StartRecording{path("a.csv")})},
          "a recording describes one run; end the comparison first (compare-with off)");
  refused({at(1, comparison("cpu-tree")), at(2, StartSweep{})}, "end the comparison first");
  refused({at(1, StartRecording{path("b.csv")}), at(2, comparison("cpu-tree"))},
          "a recording describes one run; stop it");
  refused({at(1, StartRace{.until = 1e4, .integrators = {"leapfrog"}, .time_steps = {0.001f}}), at(2, StepOnce{})},
          "a race is being measured and needs the machine for itself; wait for its end or stop it first (stop-race)");
  refused({at(1, comparison("cpu-fast"))}, "unknown kernel 'cpu-fast'");
}

TEST(Stage, IsSplitInTwoHalvesOfWhatIsNotCovered) {
  const auto [a, b] = split_stage({.width = 1000, .height = 500}, {0.2f, 0.1f, 0});
  EXPECT_EQ(a.canvas.left, 0);
  EXPECT_EQ(a.canvas.width, 600) << "with the 200 that are covered";
  EXPECT_EQ(b.canvas.left, 600);
  EXPECT_EQ(b.canvas.width, 400);
  EXPECT_FLOAT_EQ(a.share, 0.8f);
  EXPECT_FLOAT_EQ(b.share, a.share) << "the same scale";
  const glm::vec2 middle = a.to_window({0.5f + 0.5f * a.middle.x, 0.5f});
  EXPECT_FLOAT_EQ(middle.x, 0.4f);
  EXPECT_FLOAT_EQ(b.to_window({0.5f, 0.5f}).x, 0.8f);
  EXPECT_FLOAT_EQ(b.from_window({0.8f, 0.5f}).x, 0.5f);
  EXPECT_FLOAT_EQ(StagePart{}.from_window({0.3f, 0.5f}).x, 0.3f) << "nothing was drawn yet";
  const StagePart tiny = split_stage({.width = 1, .height = 1}, {})[1];
  EXPECT_GE(tiny.canvas.width, 0);
}

// A run's failures, and what is kept all the same.

/// Prevents this process, while it lives, from writing files longer than `bytes`.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = SIG_DFL;
};

/// Sets the working folder while it lives: a sweep writes its files there.
class WorkingFolder {
 public:
  explicit WorkingFolder(const std::filesystem::path& folder) { std::filesystem::current_path(folder); }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;
  ~WorkingFolder() { std::filesystem::current_path(before_); }

 private:
  const std::filesystem::path before_ = std::filesystem::current_path();
};

TEST_F(OffscreenViewer, ALostDeviceLeavesARecordingThatIsWhole) {
  KernelCatalog kernels;
  kernels.put(kernel_info("loses-its-device", create_kernel<LosesItsDevice>));
  ViewOptions o = options(30);
  o.setup = {SelectKernel{"loses-its-device"}};
  o.record_file = path("a.csv");
  expect_runtime_error({"the device failed: an illegal memory access"}, [&] { run_view(kernels, o); });
  const auto recorded = rows(o.record_file);
  ASSERT_GE(recorded.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(recorded[i].at("frame"), std::to_string(i));
    EXPECT_EQ(recorded[i].at("kernel"), "loses-its-device");
  }
}

TEST_F(OffscreenViewer, WhatAScriptCannotHaveNamesItsLine) {
  ViewOptions o = options(5);
  o.script_file = "tour.txt";
  o.script = {at(1, StartRecording{"/nonexistent/a.csv"}, 7)};
  expect_runtime_error({"tour.txt:7: ", "/nonexistent/a.csv"}, [&] { run_view(catalog(), o); });
}

TEST_F(OffscreenViewer, RunsNoStepsBesideASweep) {
  const WorkingFolder here{path("")};
  for (const Command& command : {Command{SetPaused{false}}, Command{StepOnce{}}, Command{MeasureConserved{}}}) {
    ViewOptions o = options(5);
    o.script_file = "tour.txt";
    o.script = {at(1, StartSweep{.kernels = {"cpu-serial"}, .tunables = {}, .counts = {}}, 6), at(2, command, 7)};
    expect_usage_error({"tour.txt:7: ", "sweep"}, [&] { run_view(catalog(), o); });
  }
}

TEST_F(OffscreenViewer, APictureThatCannotBeWrittenNamesTheLineThatAskedForIt) {
  ViewOptions o = options(5);
  o.script_file = "tour.txt";
  o.script = {at(1, SaveScreenshot{"/nonexistent/a.png"}, 7)};
  expect_runtime_error({"tour.txt:7: ", "'/nonexistent/a.png'"}, [&] { run_view(catalog(), o); });
}

TEST_F(OffscreenViewer, FullDiskEndsTheRecordingAndNotTheRun) {
  ViewOptions o = options(60);
  o.record_file = path("a.csv");
  o.save_file = path("end.tipsy");
  // A limit on a file's size stands for the disk: writes beyond it fail. The snapshot is smaller than the limit.
  o.scene.count = 20;
  const FileSizeLimit limit{2500};
  EXPECT_EQ(run_view(catalog(), o), 1);
  EXPECT_TRUE(std::filesystem::exists(o.save_file)) << "the run went on to its end";
  EXPECT_FALSE(rows(o.record_file).empty()) << "what fitted is there";
}

TEST_F(OffscreenViewer, FilesThatCannotBeWrittenAreNamed) {
  for (std::string ViewOptions::*const file :
       {&ViewOptions::screenshot_file, &ViewOptions::record_file, &ViewOptions::save_file}) {
    ViewOptions o = options(1);
    o.*file = "/nonexistent/a.png";
    expect_runtime_error({"/nonexistent/a.png"}, [&] { run_view(catalog(), o); });
  }
}

TEST_F(OffscreenViewer, TheBodiesAreSavedEvenIfThePictureCannotBe) {
  ViewOptions o = options(2);
  o.screenshot_file = "/nonexistent/a.png";
  o.save_file = path("end.tipsy");
  o.record_file = path("a.csv");
  EXPECT_THROW(run_view(catalog(), o), std::runtime_error);
  EXPECT_EQ(read_snapshot(o.save_file).bodies.count(), 500);
  EXPECT_EQ(rows(o.record_file).size(), 2u);
}

// Films and camera paths of runs without a window.

namespace fs = std::filesystem;

struct ViewerFilm : OffscreenViewer {
  ViewerFilm() { std::signal(SIGPIPE, SIG_IGN); }  // as the program does

  ViewOptions film(const std::string& out, std::int64_t frames) const {
    ViewOptions o = options(frames);
    o.film = FilmOptions{.out = path(out), .folder = !out.ends_with(".mp4")};
    return o;
  }

  std::map<std::string, std::string> files(const std::string& folder) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator{path(folder)}) {
      files[entry.path().filename()] = read(entry.path());
    }
    return files;
  }

  static bool installed(const std::string& program) {
    return std::system(("command -v " + program + " >/dev/null").c_str()) == 0;
  }

  static std::string output_of(const std::string& command) {
    std::string text;
    std::array<char, 256> part{};
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe{popen(command.c_str(), "r"), pclose};
    while (std::fgets(part.data(), static_cast<int>(part.size()), pipe.get())) text += part.data();
    return text;
  }
};

TEST_F(ViewerFilm, AFolderHasEveryFrameAndTheLastIsTheScreenshot) {
  ViewOptions o = film("frames", 5);
  o.screenshot_file = path("last.png");
  run(o);
  const auto made = files("frames");
  ASSERT_EQ(made.size(), 6u);
  EXPECT_TRUE(made.contains("film.json"));
  EXPECT_EQ(render::test::read_png(path("frames/frame-000004.png")).rgb, render::test::read_png(path("last.png")).rgb);
  EXPECT_NE(made.at("frame-000000.png"), made.at("frame-000004.png"));
}

TEST_F(ViewerFilm, AnInterruptedFolderIsContinuedWithTheSameBytes) {
  run(film("whole", 9));
  run(film("parts", 4));
  ASSERT_EQ(files("parts").size(), 5u);
  fs::remove(path("parts/frame-000001.png"));
  const auto before = fs::last_write_time(path("parts/frame-000002.png"));
  std::ofstream{path("parts/frame-000003.png")} << "";  // an empty file is no frame
  run(film("parts", 9));
  EXPECT_EQ(files("parts"), files("whole"));
  EXPECT_EQ(fs::last_write_time(path("parts/frame-000002.png")), before) << "it was kept";
  run(film("parts", 9));
  EXPECT_EQ(files("parts"), files("whole")) << "nothing is left to do";
}

TEST_F(ViewerFilm, FramesThatDependOnEarlierOnesAreContinuedWithTheSameBytes) {
  const auto with_memory = [this](const std::string& out, std::int64_t frames) {
    ViewOptions o = film(out, frames);
    o.scene.scene = "cold-collapse";  // which becomes brighter and faster
    render::Appearance exposed;
    exposed.auto_exposure = true;
    o.script = {at(0, SetStepsPerFrame{40}), at(0, SetAppearance{exposed}), at(2, ShowTrails{.of = TrailsOf::sample}),
                at(6, SetPaused{true})};
    return o;
  };
  run(with_memory("whole", 9));
  run(with_memory("parts", 5));
  run(with_memory("parts", 9));
  EXPECT_EQ(files("parts"), files("whole"));
}

TEST_F(ViewerFilm, FramesOfAnotherFilmAreNotContinued) {
  run(film("frames", 3));
  const auto before = files("frames");
  ViewOptions other = film("frames", 3);
  other.scene.count = 400;
  expect_runtime_error({"frames", "n was 500, and is 400", "--force"}, [&] { run_view(catalog(), other); });
  EXPECT_EQ(files("frames"), before);
  other.existing = Existing::replace;
  other.frames = 2;
  run(other);
  EXPECT_EQ(files("frames").size(), 3u) << "no frame of the old film is left";
  fs::remove(path("frames/film.json"));
  expect_runtime_error({"no film.json"}, [&] { run_view(catalog(), film("frames", 3)); });
}

TEST_F(ViewerFilm, AFolderThatCannotBeUsedIsNamed) {
  std::ofstream{path("file")} << "text";
  expect_runtime_error({"file", "it is a file"}, [&] { run_view(catalog(), film("file", 2)); });
  ViewOptions o = film("x", 2);
  o.film->out = "/proc/frames";
  expect_runtime_error({"/proc/frames"}, [&] { run_view(catalog(), o); });
  fs::create_directories(path("frames/frame-000001.png"));
  expect_runtime_error({"frame-000001.png", "it is a folder"}, [&] { run_view(catalog(), film("frames", 3)); });
}

TEST_F(ViewerFilm, AFilmHasItsFramesAndItsDuration) {
  if (!installed("ffmpeg") || !installed("ffprobe")) GTEST_SKIP() << "ffmpeg and ffprobe are not installed";
  ViewOptions o = film("a.mp4", 24);
  o.film->fps = 12;
  run(o);
  const std::string probed = output_of(
      "ffprobe -v error -count_frames -select_streams v:0 -show_entries "
      "stream=codec_name,width,height,pix_fmt,r_frame_rate,nb_read_frames:format=duration -of default=nw=1 " +
      path("a.mp4"));
  expect_holds(probed, {"codec_name=h264", "width=160", "height=96", "pix_fmt=yuv420p", "r_frame_rate=12/1",
                        "duration=2.000000", "nb_read_frames=24"});
  run(o);
  EXPECT_EQ(read(path("a.mp4")), read(path("a-1.mp4"))) << "the same in every run; the first one is kept";
}

TEST_F(ViewerFilm, AFilmOfTheWindowHasEverySecondOf60FramesPerSecond) {
  if (!installed("ffmpeg") || !installed("ffprobe")) GTEST_SKIP() << "ffmpeg and ffprobe are not installed";
  ViewOptions o = options(14);
  o.size = {161, 97};  // H.264 needs even lengths
  o.script = {at(2, StartFilm{path("w.mp4")}), at(12, StopFilm{})};
  run(o);
  const std::string probed = output_of(
      "ffprobe -v error -count_frames -select_streams v:0 -show_entries stream=width,height,nb_read_frames -of "
      "default=nw=1 " +
      path("w.mp4"));
  expect_holds(probed, {"width=162", "height=98", "nb_read_frames=5"});
  o.script.pop_back();
  run(o);
  EXPECT_TRUE(fs::exists(path("w-1.mp4"))) << "the end of the run completes it";
  o.script.front().request = StartFilm{path("nowhere/w.mp4")};
  expect_runtime_error({"nowhere/w.mp4"}, [&] { run_view(catalog(), o); });
}

/// Five pictures per second, each brighter, but for one that stays a second.
TEST_F(ViewerFilm, AFilmOfASlowWindowPlaysAtTheWindowsPace) {
  if (!installed("ffmpeg") || !installed("ffprobe")) GTEST_SKIP() << "ffmpeg and ffprobe are not installed";
  constexpr WindowSize size{64, 48};
  const render::OffscreenContext context;
  const render::RenderTarget target{GL_RGBA8, size.width, size.height};
  LiveFilm slow{FilmOptions{.out = path("slow.mp4")}, size, Existing::keep, Json::object()};
  float light = 0;
  for (const double at_s : {7.0, 7.2, 7.4, 7.6, 8.6, 8.8}) {
    const std::array colour{light += 0.15f, light, light, 1.0f};
    glClearNamedFramebufferfv(target.framebuffer(), GL_COLOR, 0, colour.data());
    ASSERT_TRUE(slow.add({target.framebuffer(), size.width, size.height, target.texture()}, at_s));
    std::this_thread::sleep_for(std::chrono::milliseconds{50});  // else ffmpeg might have no time for all of them
  }
  expect_holds(slow.finish(9), {"60 frames, 2 s at 30 frames/s"});
  const std::string probed = output_of(
      "ffprobe -v error -count_frames -select_streams v:0 -show_entries stream=nb_read_frames:format=duration -of "
      "default=nw=1 " +
      path("slow.mp4"));
  expect_holds(probed, {"duration=2.000000", "nb_read_frames=60"});
  const std::string luma =
      output_of("ffmpeg -v error -i " + path("slow.mp4") + " -vf format=gray -f rawvideo -pix_fmt gray -");
  constexpr std::size_t pixels = size.width * size.height;
  ASSERT_EQ(luma.size(), 60 * pixels);
  std::vector<int> changes;
  for (int frame = 1; frame < 60; ++frame) {
    const auto middle = [&](int of) {
      return static_cast<unsigned char>(luma[static_cast<std::size_t>(of) * pixels + pixels / 2]);
    };
    if (middle(frame) > middle(frame - 1) + 15) changes.push_back(frame);
  }
  EXPECT_EQ(changes, (std::vector{6, 12, 18, 48, 54}));
}

TEST_F(ViewerFilm, AFilmOfAFastWindowKeepsThePaceIfPicturesAreLeftOut) {
  if (!installed("ffmpeg") || !installed("ffprobe")) GTEST_SKIP() << "ffmpeg and ffprobe are not installed";
  constexpr WindowSize size{1280, 720};
  const render::OffscreenContext context;
  const render::RenderTarget target{GL_RGBA8, size.width, size.height};
  LiveFilm fast{FilmOptions{.out = path("fast.mp4")}, size, Existing::keep, Json::object()};
  for (int frame = 0; frame < 60; ++frame) {
    ASSERT_TRUE(fast.add({target.framebuffer(), size.width, size.height, target.texture()}, frame / 60.0));
  }
  expect_holds(fast.finish(1), {"30 frames, 1 s at 30 frames/s"});
}

TEST_F(ViewerFilm, AFilmShowsTheFramesTheRightWayUp) {
  if (!installed("ffmpeg")) GTEST_SKIP() << "ffmpeg is not installed";
  ViewOptions o = film("a.mp4", 1), pictures = film("frames", 1);
  o.scene = pictures.scene = {.scene = "two-body"};
  o.path = pictures.path = parse_camera_path("0 0 0 6 0 0 -1\n", "above");  // both bodies are in the upper half
  run(o);
  run(pictures);
  const std::string luma = " -vf format=gray -f rawvideo -pix_fmt gray -";
  const std::string from_film = output_of("ffmpeg -v error -i " + path("a.mp4") + luma);
  const std::string from_picture = output_of("ffmpeg -v error -i " + path("frames/frame-000000.png") + luma);
  ASSERT_EQ(from_film.size(), 160u * 96u);
  ASSERT_EQ(from_picture.size(), from_film.size());
  double difference = 0, brightness = 0;
  for (std::size_t i = 0; i < from_film.size(); ++i) {
    const auto value = [&](const std::string& text) {
      return static_cast<double>(static_cast<unsigned char>(text[i]));
    };
    difference += std::abs(value(from_film) - value(from_picture));
    brightness += value(from_picture);
  }
  EXPECT_GT(brightness, 0);
  EXPECT_LT(difference / static_cast<double>(from_film.size()), 3) << "of 255 levels";
}

TEST_F(ViewerFilm, WithoutFfmpegOneLineNamesThePackageAndTheFolder) {
  const Variable none{"PATH", path("").c_str()};
  expect_runtime_error({"a.mp4", "ffmpeg is not installed (Debian: ffmpeg)", "--out FOLDER"},
                       [&] { run_view(catalog(), film("a.mp4", 2)); });
  EXPECT_FALSE(fs::exists(path("a.mp4")));
}

TEST_F(ViewerFilm, AnFfmpegThatDiesIsReportedWithItsLastLine) {
  const std::string fake = path("ffmpeg");
  std::ofstream{fake} << "#!/bin/sh\n/usr/bin/head -c 100000 >/dev/null\necho first >&2\n"
                         "echo 'Unknown encoder' >&2\necho >&2\nexit 7\n";
  chmod(fake.c_str(), 0755);
  ViewOptions o = film("a.mp4", 50);
  o.record_file = path("run.csv");
  {
    const Variable fakes{"PATH", path("").c_str()};
    expect_runtime_error({"a.mp4", "ffmpeg ended with status 7: Unknown encoder"}, [&] { run_view(catalog(), o); });
  }
  EXPECT_FALSE(fs::exists(path("a.mp4")));
  EXPECT_TRUE(fs::exists(path("run.csv"))) << "what was recorded until then is kept";
}

TEST_F(ViewerFilm, AFailedRunKeepsTheFramesBeforeIt) {
  ViewOptions o = film("frames", 9);
  o.script_file = "tour.txt";
  std::ofstream{path("tour.txt")} << "3 record /nonexistent/a.csv\n";
  o.script_file = path("tour.txt");
  o.script = {at(3, StartRecording{"/nonexistent/a.csv"})};
  EXPECT_THROW(run_view(catalog(), o), std::runtime_error);
  EXPECT_TRUE(fs::exists(path("frames/frame-000000.png")));
  EXPECT_FALSE(fs::exists(path("frames/frame-000003.png")));
}

TEST_F(ViewerFilm, APathMovesTheCameraAlikeFromAnOptionAndAScript) {
  std::ofstream{path("orbit.txt")} << "0 0 10 8 0 0 0\n0.1 90 40 3 0 0 0\n";
  ViewOptions by_option = film("option", 4), still = film("still", 4), by_script = film("script", 4);
  by_option.path = read_camera_path(path("orbit.txt"));
  by_script.script_file = path("tour.txt");
  std::ofstream{path("tour.txt")} << "0 play-path orbit.txt\n";
  by_script.script = {at(0, PlayPath{path("orbit.txt")})};
  for (const ViewOptions& o : {by_option, still, by_script}) run(o);
  const auto pictures = [this](const std::string& folder) {  // the files name their films, which differ
    std::vector<std::vector<std::uint8_t>> found;
    for (int frame = 0; frame < 4; ++frame) {
      found.push_back(render::test::read_png(path(folder + "/frame-00000" + std::to_string(frame) + ".png")).rgb);
    }
    return found;
  };
  EXPECT_EQ(pictures("option"), pictures("script"));
  EXPECT_NE(pictures("option"), pictures("still"));
}

TEST_F(ViewerFilm, APathThatAScriptMadePlaysAsTheSavedFileDoes) {
  ViewOptions made = options(6);
  made.script_file = "tour.txt";
  made.script = {at(1, AddKeyFrame{}), at(2, OrbitView{0.2f, 0.1f}, 2), at(2, ZoomView{5}, 3),
                 at(3, AddKeyFrame{0.05}, 4), at(4, SavePath{path("orbit.txt")}, 5)};
  run(made);
  const CameraPath saved = read_camera_path(path("orbit.txt"));
  ASSERT_EQ(saved.key_frames().size(), 2u);
  EXPECT_EQ(saved.end_s(), 0.05);
  EXPECT_LT(saved.at(1).distance, saved.at(0).distance);

  ViewOptions nothing = options(2);
  nothing.script_file = "tour.txt";
  for (const ViewCommand& request : {ViewCommand{PlayPath{}}, ViewCommand{SavePath{}}}) {
    nothing.script = {at(0, request, 3)};
    expect_usage_error({"tour.txt:3: ", "no camera path", "press F2"}, [&] { run_view(catalog(), nothing); });
  }
}

// A lesson in a running view.

TEST_F(OffscreenViewer, ALessonIsOpenedMeasuredAndAnswered) {
  std::ofstream{path("mine.md")} << lesson_text();
  ViewOptions o = options(8);
  o.panel = true;
  o.size = {800, 600};
  o.script = {at(0, ShowLessonFile{path("mine.md")}),
              at(1, SetLessonScene{}),
              at(2, PredictLesson{1}),
              at(3, MeasureLesson{}),
              at(4, SaveScreenshot{path("answer.png")}),
              at(5, CloseLesson{}),
              at(6, SaveScreenshot{path("closed.png")})};
  run(o);
  EXPECT_GT(read(path("answer.png")).size(), 1000u);
  EXPECT_NE(read(path("answer.png")), read(path("closed.png")));
}

TEST_F(OffscreenViewer, ALessonThatIsNotOpenIsRefused) {
  for (const Request& request : {Request{MeasureLesson{}}, Request{SetLessonScene{}}, Request{PredictLesson{0}},
                                 Request{TurnLessonPage{LessonPage::answer}}, Request{ShowLesson{13}}}) {
    ViewOptions o = options(3);
    o.script = {at(1, request)};
    EXPECT_THROW(run_view(catalog(), o), UsageError);
  }
}

// Recordings of a run.

TEST_F(OffscreenViewer, RecordsOneWholeRowAFrame) {
  ViewOptions o = options(4);
  o.record_file = path("a.csv");
  run(o);
  const auto recorded = rows(o.record_file);
  ASSERT_EQ(recorded.size(), 4u);
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    auto row = recorded[i];
    EXPECT_EQ(row["frame"], std::to_string(i));
    EXPECT_EQ(row["step"], std::to_string(i + 1));
    EXPECT_EQ(row["kernel"], "cpu-openmp");
    EXPECT_EQ(row["n"], "500");
    EXPECT_EQ(row["steps"], "1");
    EXPECT_EQ(row["interop"], "host");
    for (const char* time : {"map_ms", "force_ms", "step_ms", "gui_ms", "frame_ms", "interactions_per_s"}) {
      EXPECT_GT(std::stod(row[time]), 0) << time;
    }
  }
}

TEST_F(OffscreenViewer, RecordsWhatIsExaminedWhileItRuns) {
  ViewOptions o = options(100);
  o.record_file = path("a.csv");
  // On a busy machine the sums that come by themselves are rare: two are asked for.
  o.script = {at(0, SetDiagnostics{.conserved_interval_s = 0.1}), at(30, MeasureConserved{}),
              at(60, MeasureConserved{})};
  run(o);
  const auto sums = rows(path("a-conserved.csv"));
  ASSERT_GE(sums.size(), 2u);
  for (auto row : sums) {
    EXPECT_LT(std::stod(row["potential"]), 0);
    EXPECT_LT(std::abs(std::stod(row["total_drift"])), 0.01);
  }
  int compared = 0;
  for (auto row : rows(o.record_file)) {
    if (row["error_median"].empty()) continue;
    ++compared;
    EXPECT_LE(std::stod(row["error_median"]), std::stod(row["error_max"]));
  }
  EXPECT_GE(compared, 2);
  EXPECT_LT(compared, 50) << "once for each comparison";
}

TEST_F(OffscreenViewer, PausedItDrawsAndRecordsWithoutSteps) {
  ViewOptions o = options(3);
  o.setup.push_back(SetPaused{true});
  o.record_file = path("a.csv");
  run(o);
  const auto recorded = rows(o.record_file);
  ASSERT_EQ(recorded.size(), 3u);
  for (auto row : recorded) {
    EXPECT_EQ(row["step"], "0");
    EXPECT_EQ(row["step_ms"], "");
  }
}

TEST_F(OffscreenViewer, AHeaderHoldsForAllRowsOfItsFile) {
  ViewOptions o = options(9);
  o.record_file = path("a.csv");
  o.script = {at(2, SelectIntegrator{"euler"}), at(4, SetTimeStep{0.001f}), at(4, SetSoftening{0.5f}),
              at(6, SelectKernel{"cpu-serial"})};
  run(o);
  EXPECT_EQ(rows(path("a.csv")).size(), 2u);
  EXPECT_EQ(rows(path("a-1.csv")).size(), 2u);
  EXPECT_EQ(rows(path("a-2.csv")).size(), 5u) << "the kernel is in the rows";
  EXPECT_FALSE(std::filesystem::exists(path("a-3.csv")));
  expect_holds(read(path("a-1.csv")), {"\"euler\""});
  expect_holds(read(path("a-2.csv")), {"\"softening\":0.5"});
  for (const auto& row : rows(path("a.csv"))) EXPECT_NE(row.at("step_ms"), "");
}

TEST_F(OffscreenViewer, ARowAfterAChangeTellsOfItsSecondEvaluation) {
  ViewOptions o = options(6);
  o.record_file = path("a.csv");
  o.script = {at(3, SelectKernel{"cpu-serial"})};
  run(o);
  std::vector<std::string> evaluations;
  for (const auto& row : rows(o.record_file)) evaluations.push_back(row.at("evaluations"));
  EXPECT_EQ(evaluations, (std::vector<std::string>{"2", "1", "1", "2", "1", "1"}));
}

TEST_F(OffscreenViewer, AFrameLastsUntilTheNextOneStarts) {
  ViewOptions o = options(5);
  o.record_file = path("a.csv");
  run(o);
  const auto recorded = rows(o.record_file);
  for (std::size_t i = 1; i < recorded.size(); ++i) {
    const double apart_s = std::stod(recorded[i].at("time_s")) - std::stod(recorded[i - 1].at("time_s"));
    EXPECT_NEAR(std::stod(recorded[i].at("frame_ms")), apart_s * 1e3, 1e-3 + apart_s) << "equal but for rounding";
  }
}

TEST_F(OffscreenViewer, AnExistingRecordingIsKept) {
  std::ofstream{path("a.csv")} << "mine";
  ViewOptions o = options(2);
  o.record_file = path("a.csv");
  run(o);
  EXPECT_EQ(read(path("a.csv")), "mine");
  EXPECT_EQ(rows(path("a-1.csv")).size(), 2u);
}

// Pages of a running view.

TEST_F(OffscreenViewer, ThePageHasThePictureTheResultsAndTheConservation) {
  ViewOptions o = options(40);
  o.script = {at(0, MeasureConserved{}), at(20, MeasureConserved{}), at(39, SaveReport{path("a.html")})};
  run(o);
  const std::string page = read(path("a.html"));
  expect_page(page);
  for (const char* part :
       {"data:image/png;base64,iVBOR", "<td>cpu-openmp</td>", "The colours show the speed", "Conservation of energy",
        "plummer, 500 bodies", "<td>OpenGL</td>", "orrery view --scene plummer"}) {
    EXPECT_TRUE(holds(page, part)) << part;
  }
  EXPECT_FALSE(holds(page, "The energy drift was not measured"));
  EXPECT_FALSE(holds(page, "The time per step was not measured"));
}

TEST_F(OffscreenViewer, APageChangesNothingInTheView) {
  for (const bool with_page : {false, true}) {
    ViewOptions o = options(4);
    o.screenshot_file = path(with_page ? "with.png" : "without.png");
    o.script = {at(2, SaveScreenshot{path(with_page ? "with2.png" : "without2.png")})};
    if (with_page) {
      o.script.insert(o.script.begin(), at(2, SaveReport{path("b.html")}));
    }
    run(o);
  }
  EXPECT_EQ(read(path("with.png")), read(path("without.png")));
  EXPECT_EQ(read(path("with2.png")), read(path("without2.png"))) << "in the same frame, after the page";
}

TEST_F(OffscreenViewer, ASceneHasItsPicture) {
  const ReportPicture picture =
      picture_scene(catalog(), {.scene = "plummer", .count = 300}, {200, 120}, render::Theme::light, {});
  EXPECT_EQ(picture.png.substr(1, 3), "PNG");
  EXPECT_TRUE(holds(picture.words, "plummer with 300 bodies, in its first state")) << picture.words;
  const ReportPicture none =
      picture_scene(catalog(), {.scene = {}, .file = "/none.bin"}, {200, 120}, render::Theme::light, {});
  EXPECT_TRUE(none.png.empty());
  EXPECT_TRUE(holds(none.words, "There is no picture: ") && holds(none.words, "/none.bin")) << none.words;
}

}  // namespace
}  // namespace orrery::test
