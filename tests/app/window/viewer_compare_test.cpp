// Two runs beside each other in a run without a window.
#include <array>
#include <stdexcept>

#include "app/features/compare/compare_window.h"
#include "app/features/race/race_commands.h"
#include "app/features/sweep/sweep_commands.h"
#include "app/ui_state/camera_commands.h"
#include "app/ui_state/window_commands.h"
#include "compute/core/error.h"
#include "tests/app/window/offscreen_viewer.h"
#include "tests/compute/support/failure.h"
#include "tests/render/picture.h"

namespace orrery {
namespace {

using render::Image;
using test::at;
using test::expect_failure;
using test::Failure;
using test::OffscreenViewer;

CompareWith comparison(const char* kernel, double nudge = 0) {
  CompareWith with;
  with.kernel = kernel;
  with.nudge = nudge;
  return with;
}

class ComparingViewer : public OffscreenViewer {
 protected:
  /// Returns a picture of the bodies alone, after some frames of a comparison.
  Image picture(const CompareWith& with, CompareLayout layout, render::Appearance appearance = {}) {
    ViewOptions asked = options(6);
    asked.existing = Existing::replace;
    asked.script = {at(0, SetAppearance{appearance}), at(1, CompareWith{with}), at(1, SetCompareLayout{layout}),
                    at(5, SavePicture{160, 80, path("picture.png")})};
    EXPECT_EQ(run_view(test::catalog(), asked), 0);
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
    EXPECT_EQ(run_view(test::catalog(), asked), 0);
    return read(asked.save_file) + render::encode_png(render::test::read_png(asked.screenshot_file));
  };
  EXPECT_TRUE(end_of(true) == end_of(false));
}

TEST_F(ComparingViewer, TheEndOfAComparisonTakesItsColoursAlong) {
  for (const bool ends : {false, true}) {
    ViewOptions asked = options(5);
    asked.existing = Existing::replace;
    asked.screenshot_file = path("end.png");
    asked.script = {at(1, comparison("cpu-tree")),
                    at(2, SetAppearance{render::Appearance{.colour_by = find_body_colour("distance").by}})};
    if (ends) asked.script.push_back(at(3, CompareWith{}));
    EXPECT_EQ(run_view(test::catalog(), asked), 0);
    EXPECT_EQ(read(asked.screenshot_file).find("\"quantity\":\"distance") == std::string::npos, ends);
  }
}

TEST_F(ComparingViewer, PicksABodyInEitherPicture) {
  for (const float x : {0.25f, 0.75f}) {
    ViewOptions asked = options(5);
    asked.existing = Existing::replace;
    asked.script = {at(1, comparison("cpu-openmp")), at(3, PickAt{x, 0.5f}),
                    at(4, ViewCommand{Follow{Followed::body, {}}})};
    EXPECT_EQ(run_view(test::catalog(), asked), 0) << "the camera can follow what was picked";
  }
}

TEST_F(ComparingViewer, RefusesWhatDoesNotGoTogether) {
  const auto refused = [&](std::vector<ScriptLine> script, const char* why) {
    ViewOptions asked = options(5);
    asked.script_file = "demo.txt";
    asked.script = std::move(script);
    expect_failure(
        Failure::usage, [&] { run_view(test::catalog(), asked); }, "demo.txt:1: ", why);
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

}  // namespace
}  // namespace orrery
