// A picture's description in its file.
#include <sstream>

#include "app/commands/command_text.h"
#include "app/ui_state/camera_commands.h"
#include "app/ui_state/overlays_commands.h"
#include "app/ui_state/window_commands.h"
#include "tests/app/window/offscreen_viewer.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

using test::at;
using test::OffscreenViewer;

TEST_F(OffscreenViewer, APictureSaysWhatIsDrawnOverIt) {
  const auto description = [&](const std::vector<ViewCommand>& commands) {
    ViewOptions asked = options(4);
    asked.setup = {SelectKernel{"cpu-tree"}};
    asked.screenshot_file = path("picture.png");
    asked.existing = Existing::replace;
    for (const ViewCommand& command : commands) asked.script.push_back(at(1, command));
    EXPECT_EQ(run_view(test::catalog(), asked), 0);
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
}  // namespace orrery
