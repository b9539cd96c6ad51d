// A lesson in a running view.
#include <fstream>

#include "app/ui_state/lessons_commands.h"
#include "app/ui_state/window_commands.h"
#include "compute/core/error.h"
#include "tests/app/lessons/lesson_text.h"
#include "tests/app/window/offscreen_viewer.h"

namespace orrery {
namespace {

using test::at;
using test::OffscreenViewer;

TEST_F(OffscreenViewer, ALessonIsOpenedMeasuredAndAnswered) {
  std::ofstream{path("mine.md")} << test::lesson_text();
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
  EXPECT_EQ(run_view(test::catalog(), o), 0);
  EXPECT_GT(read(path("answer.png")).size(), 1000u);
  EXPECT_NE(read(path("answer.png")), read(path("closed.png")));
}

TEST_F(OffscreenViewer, ALessonThatIsNotOpenIsRefused) {
  for (const Request& request : {Request{MeasureLesson{}}, Request{SetLessonScene{}}, Request{PredictLesson{0}},
                                 Request{TurnLessonPage{LessonPage::answer}}, Request{ShowLesson{13}}}) {
    ViewOptions o = options(3);
    o.script = {at(1, request)};
    EXPECT_THROW(run_view(test::catalog(), o), UsageError);
  }
}

}  // namespace
}  // namespace orrery
