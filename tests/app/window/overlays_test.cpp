// Overlays over the bodies, in pictures of whole runs.
#include "app/commands/command_text.h"
#include "app/ui_state/camera_commands.h"
#include "app/ui_state/overlays_commands.h"
#include "app/ui_state/window_commands.h"
#include "compute/core/error.h"
#include "tests/app/support/test.h"
#include "tests/app/window/offscreen_viewer.h"
#include "tests/compute/support/backends.h"
#include "tests/render/picture.h"

namespace orrery::test {
namespace {

using render::Image;
using render::test::difference;
using render::test::read_png;

struct OverlaysInAPicture : OffscreenViewer {
  /// After `frames` steps, each of `requests` carried out before its frame.
  Image picture(std::int64_t frames, std::vector<std::pair<std::int64_t, Request>> requests,
                const char* kernel = "cpu-simd", WindowSize size = {320, 192}, const char* scene = "plummer") const {
    ViewOptions asked = options(frames);
    asked.scene.scene = scene;
    asked.setup = {SelectKernel{kernel}};
    asked.size = size;
    asked.screenshot_file = path("picture.png");
    asked.existing = Existing::replace;
    for (auto& [frame, request] : requests) asked.script.push_back(at(frame, request));
    EXPECT_EQ(run_view(catalog(), asked), 0);
    return read_png(asked.screenshot_file);
  }
  static Request view(ViewCommand command) { return command; }

  /// Pixels in which the pictures differ clearly.
  static int changed(const Image& a, const Image& b) {
    int count = 0;
    for (std::size_t i = 0; i + 2 < a.rgb.size(); i += 3) {
      count += std::abs(a.rgb[i] - b.rgb[i]) + std::abs(a.rgb[i + 1] - b.rgb[i + 1]) +
                   std::abs(a.rgb[i + 2] - b.rgb[i + 2]) >
               40;
    }
    return count;
  }
  static double brightness(const Image& image) {
    double sum = 0;
    for (const std::uint8_t value : image.rgb) sum += value;
    return sum / static_cast<double>(image.rgb.size());
  }
  static void expect_agreed(const Image& made, const std::string& name) {
    const std::string kept = std::string{ORRERY_MADE_PICTURES} + "/" + name;
    std::ofstream{kept} << render::encode_png(made);
    const auto apart = difference(made, read_png(ORRERY_REFERENCE_PICTURES "/" + name));
    EXPECT_TRUE(apart.small()) << "mean " << apart.mean << ", share of pixels off " << apart.share_off
                               << "; if the change is meant, look at " << kept
                               << " and copy it to " ORRERY_REFERENCE_PICTURES;
  }
};

TEST_F(OverlaysInAPicture, TrailsGrowAndEndWithARestart) {
  const auto small = [this](std::int64_t frames, std::vector<std::pair<std::int64_t, Request>> requests) {
    return picture(frames, std::move(requests), "cpu-simd", {160, 96});
  };
  const Request trails = view(ShowTrails{TrailsOf::sample});
  const Image without = small(10, {});
  const int late = changed(small(10, {{8, trails}}), without), early = changed(small(10, {{0, trails}}), without);
  EXPECT_GT(late, 10);
  EXPECT_GT(early, 2 * late);
  EXPECT_EQ(changed(small(10, {{0, trails}, {6, view(ShowTrails{})}}), without), 0);
  const Request restart = Command{Restart{}};
  EXPECT_LT(changed(small(10, {{0, trails}, {9, restart}}), small(10, {{9, restart}})), early / 2);
  const int alone = changed(small(10, {{1, view(PickBody{100})}, {1, view(ShowTrails{TrailsOf::picked})}}), without);
  EXPECT_GT(alone, 0);
  EXPECT_LT(alone, early / 4);
}

/// The usual length of trails depends on the ranges, and another length begins the trails anew.
TEST_F(OverlaysInAPicture, TrailsStayWhileTheRangesOfTheColoursFollowTheBodies) {
  const auto collapse = [this](std::vector<std::pair<std::int64_t, Request>> requests) {
    return picture(120, std::move(requests), "cpu-simd", {160, 96}, "cold-collapse");
  };
  const Request trails = view(ShowTrails{TrailsOf::sample});
  const Image without = collapse({});
  EXPECT_GT(changed(collapse({{0, trails}}), without), 3 * changed(collapse({{117, trails}}), without));
}

TEST_F(OverlaysInAPicture, ArrowsAreDrawnOfVelocitiesAtOnceAndOfAccelerationsAfterAStep) {
  const Image without = picture(3, {});
  const Image velocities = picture(3, {{0, view(ShowVectors{Vectors::velocity})}});
  const Image accelerations = picture(3, {{0, view(ShowVectors{Vectors::acceleration})}});
  EXPECT_GT(changed(velocities, without), 300);
  EXPECT_GT(changed(accelerations, without), 100);
  EXPECT_GT(changed(velocities, accelerations), 300);
  const Request paused = Command{SetPaused{true}};
  EXPECT_EQ(
      changed(picture(2, {{0, paused}, {0, view(ShowVectors{Vectors::acceleration})}}), picture(2, {{0, paused}})), 0);
}

TEST_F(OverlaysInAPicture, CellsOfOneLevelAreOthersThanThoseOfAll) {
  const auto cells = [&](int level) { return picture(2, {{0, view(ShowTreeCells{true, level})}}, "cpu-tree"); };
  const Image without = picture(2, {}, "cpu-tree");
  EXPECT_GT(changed(cells(0), without), 200) << "the root";
  EXPECT_GT(changed(cells(2), cells(0)), 200);
  EXPECT_GT(changed(cells(2), cells(CellRequest::every_level)), 200);
  EXPECT_EQ(changed(cells(25), without), 0) << "no tree is so deep";
}

TEST_F(OverlaysInAPicture, WalkNeedsAPickedBodyAndATree) {
  const Request walk = view(ShowWalk{true}), pick = view(PickBody{3});
  const Image without = picture(3, {}, "cpu-tree");
  EXPECT_GT(changed(picture(3, {{1, walk}, {1, pick}}, "cpu-tree"), without), 200);
  EXPECT_EQ(changed(picture(3, {{1, walk}}, "cpu-tree"), without), 0);
  EXPECT_GT(changed(picture(8, {{1, Command{SetPaused{true}}}, {3, walk}, {3, pick}}, "cpu-tree"),
                    picture(8, {{1, Command{SetPaused{true}}}}, "cpu-tree")),
            200)
      << "also while paused";
  EXPECT_EQ(changed(picture(3, {{1, walk}, {1, pick}}), picture(3, {})), 0) << "a direct sum has none";
}

TEST_F(OverlaysInAPicture, LightThemeIsWhiteWithInk) {
  const Image dark = picture(1, {}), light = picture(1, {{0, view(SetTheme{render::Theme::light})}});
  EXPECT_LT(brightness(dark), 60);
  EXPECT_GT(brightness(light), 180);
  for (int channel = 0; channel < 3; ++channel)
    EXPECT_GE(light.rgb[static_cast<std::size_t>(channel)], 254) << "a corner";
  EXPECT_GT(changed(light, picture(1, {{0, view(SetTheme{render::Theme::light})}, {0, view(ShowAxes{true})}})), 100);
  EXPECT_EQ(changed(dark, picture(2, {{0, Command{SetPaused{true}}},
                                      {0, view(SetTheme{render::Theme::light})},
                                      {1, view(SetTheme{render::Theme::dark})}})),
            changed(dark, picture(2, {{0, Command{SetPaused{true}}}})));
}

TEST_F(OverlaysInAPicture, ThemeStaysWhenTheAppearanceChanges) {
  const Request light = view(SetTheme{render::Theme::light});
  EXPECT_GT(brightness(picture(1, {{0, light}, {0, view(SetAppearance{{.colour_map = 3}})}})), 180);
}

TEST_F(OverlaysInAPicture, TrailsAreAsAgreed) {
  const Request disc = Command{LoadScene{{.scene = "disc", .count = 150, .seed = 3}}};
  expect_agreed(picture(24, {{0, disc},
                             {0, Command{SetStepsPerFrame{8}}},
                             {0, view(LookFrom{-1.1f, 1.0f})},
                             {0, view(ShowTrails{TrailsOf::sample})},
                             {2, view(PickBody{42})}}),
                "disc_trails.png");
}

TEST_F(OverlaysInAPicture, AxesAreAsAgreed) {
  expect_agreed(picture(1, {{0, view(ShowAxes{true})}}), "plummer_axes.png");
}

// A picture's description in its file.

TEST_F(OffscreenViewer, APictureSaysWhatIsDrawnOverIt) {
  const auto description = [&](const std::vector<ViewCommand>& commands) {
    ViewOptions asked = options(4);
    asked.setup = {SelectKernel{"cpu-tree"}};
    asked.screenshot_file = path("picture.png");
    asked.existing = Existing::replace;
    for (const ViewCommand& command : commands) asked.script.push_back(at(1, command));
    EXPECT_EQ(run_view(catalog(), asked), 0);
    const std::string picture = read(asked.screenshot_file);
    std::istringstream text{picture.substr(picture.find("{\""))};
    Json json;
    text >> json;  // ends before the checksum
    return json;
  };
  const Json plain = description({});
  EXPECT_TRUE(plain.at("overlays").empty());
  EXPECT_FALSE(plain.contains("picked") || plain.contains("following"));
  EXPECT_EQ(plain.at("exposure"), (Json{{"scale", 1.0}, {"automatic", false}}));
  const auto time_step = plain.at("time").get<double>() / plain.at("step").get<double>();
  EXPECT_GT(time_step, 0);
  const std::vector<ViewCommand> overlays{ShowTrails{TrailsOf::sample, 0.25}, ShowVectors{Vectors::velocity},
                                          ShowTreeCells{true, 3}, ShowWalk{true}, ShowAxes{true}};
  std::vector<ViewCommand> commands = overlays;
  commands.insert(commands.end(), {PickBody{7}, Follow{}, SetAppearance{{.exposure = 2.5f, .auto_exposure = true}}});
  const Json full = description(commands);
  Json expected = Json::array();
  for (const ViewCommand& overlay : overlays) expected.push_back(command_json(overlay));
  EXPECT_EQ(full.at("overlays"), expected);
  EXPECT_EQ(full.at("picked"), 7);
  EXPECT_EQ(full.at("following"), command_json(ViewCommand{Follow{}}));
  EXPECT_EQ(full.at("exposure"), (Json{{"scale", 2.5}, {"automatic", true}}));
}

}  // namespace
}  // namespace orrery::test
