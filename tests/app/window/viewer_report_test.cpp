// Pages of a running view.
#include "app/ui_state/report_commands.h"
#include "app/ui_state/window_commands.h"
#include "app/window/run_view.h"
#include "compute/core/error.h"
#include "tests/app/report/page_check.h"
#include "tests/app/window/offscreen_viewer.h"

namespace orrery {
namespace {

using test::holds;
using test::OffscreenViewer;

TEST_F(OffscreenViewer, ThePageHasThePictureTheResultsAndTheConservation) {
  ViewOptions o = options(40);
  o.script = {{.frame = 0, .request = Command{MeasureConserved{}}, .line = 1},
              {.frame = 20, .request = Command{MeasureConserved{}}, .line = 2},
              {.frame = 39, .request = ViewCommand{SaveReport{path("a.html")}}, .line = 3}};
  EXPECT_EQ(run_view(test::catalog(), o), 0);
  const std::string page = read(path("a.html"));
  test::expect_page(page);
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
    o.script = {{.frame = 2,
                 .request = ViewCommand{SaveScreenshot{path(with_page ? "with2.png" : "without2.png")}},
                 .line = 2}};
    if (with_page) {
      o.script.insert(o.script.begin(), {.frame = 2, .request = ViewCommand{SaveReport{path("b.html")}}, .line = 1});
    }
    EXPECT_EQ(run_view(test::catalog(), o), 0);
  }
  EXPECT_EQ(read(path("with.png")), read(path("without.png")));
  EXPECT_EQ(read(path("with2.png")), read(path("without2.png"))) << "in the same frame, after the page";
}

TEST_F(OffscreenViewer, ASceneHasItsPicture) {
  const ReportPicture picture =
      picture_scene(test::catalog(), {.scene = "plummer", .count = 300}, {200, 120}, render::Theme::light, {});
  EXPECT_EQ(picture.png.substr(1, 3), "PNG");
  EXPECT_TRUE(holds(picture.words, "plummer with 300 bodies, in its first state")) << picture.words;
  const ReportPicture none =
      picture_scene(test::catalog(), {.scene = {}, .file = "/none.bin"}, {200, 120}, render::Theme::light, {});
  EXPECT_TRUE(none.png.empty());
  EXPECT_TRUE(holds(none.words, "There is no picture: ") && holds(none.words, "/none.bin")) << none.words;
}

}  // namespace
}  // namespace orrery
