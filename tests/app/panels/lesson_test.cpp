#include "app/ui_state/lessons_commands.h"
#include "tests/app/panels/panels_fixture.h"
#include "tests/app/support/test.h"

namespace orrery::test {
namespace {

LessonStatus shown_lesson() {
  LessonStatus lesson;
  lesson.titles = {{1, "The double loop"}, {2, "Rows in parallel"}};
  lesson.shown = true;
  lesson.listed = false;
  lesson.number = 1;
  lesson.title = "The double loop";
  lesson.introduction = {{.text = "Words with `code`, **weight** and " + std::string(200, 'w') + "."}};
  lesson.predict = {{.text = "How long?"}};
  lesson.choices = {"Not long.", "Long.", "Very long."};
  lesson.right = {false, false, false};
  lesson.rows = {{"small", "cpu-serial, 16 bodies", {}}, {"large", "cpu-serial, 32 bodies", {}}};
  lesson.change = {{.kind = TextBlock::Kind::bullet, .text = "Something."}};
  return lesson;
}

TEST_F(Panels, ListTheLessons) {
  settle();
  EXPECT_FALSE(seen("lesson.open.1"));
  view.lesson = shown_lesson();
  view.lesson.listed = true;
  settle();
  EXPECT_EQ(only<ShowLesson>(click("lesson.open.2")).number, 2);
  only<CloseLesson>(click("lesson.close"));
}

TEST_F(Panels, OpenTheLessonsFromTheListOfKeys) {
  view.help = true;
  settle();
  const Requests asked = click("help.lessons");
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_FALSE(request<ShowLesson>(asked, 1).number);
}

TEST_F(Panels, TurnThePagesOfALesson) {
  view.lesson = shown_lesson();
  settle();
  only<SetLessonScene>(click("lesson.scene"));
  EXPECT_FALSE(seen("lesson.scene.undo"));
  status.undo_step = 5;
  settle();
  only<UndoReturn>(click("lesson.scene.undo"));
  EXPECT_EQ(only<TurnLessonPage>(click("lesson.next")).page, LessonPage::predict);
  EXPECT_EQ(only<TurnLessonPage>(click("lesson.page.answer")).page, LessonPage::answer);
  EXPECT_FALSE(only<ShowLesson>(click("lesson.list")).number);
  view.lesson.page = LessonPage::change;
  settle();
  EXPECT_EQ(only<ShowLesson>(click("lesson.next")).number, 2) << "the next lesson";
  EXPECT_EQ(only<TurnLessonPage>(click("lesson.back")).page, LessonPage::answer);
  view.lesson.number = 2;
  settle();
  EXPECT_TRUE(click("lesson.next").empty()) << "the last lesson";
}

TEST_F(Panels, PredictBeforeMeasuring) {
  view.lesson = shown_lesson();
  view.lesson.page = LessonPage::predict;
  settle();
  EXPECT_EQ(only<PredictLesson>(click("lesson.choice.2")).choice, 1);
  view.lesson.measured = true;
  settle();
  EXPECT_TRUE(click("lesson.choice.2").empty()) << "too late";
}

TEST_F(Panels, MeasureALessonAndStop) {
  view.lesson = shown_lesson();
  view.lesson.page = LessonPage::measure;
  settle();
  EXPECT_TRUE(only<MeasureLesson>(click("lesson.measure")).on);
  view.lesson.measuring = true;
  view.lesson.total = 2;
  settle();
  EXPECT_FALSE(seen("lesson.measure"));
  EXPECT_TRUE(seen("lesson.progress"));
  EXPECT_FALSE(only<MeasureLesson>(click("lesson.stop")).on);
}

TEST_F(Panels, AnswerALessonWhateverWasMeasured) {
  view.lesson = shown_lesson();
  view.lesson.page = LessonPage::answer;
  view.lesson.answer = {{.text = "It took long."},
                        {.kind = TextBlock::Kind::table, .rows = {{"what", "here"}, {"time", "1 ms"}}},
                        {.kind = TextBlock::Kind::code, .text = "for each body\n"}};
  settle();
  EXPECT_FALSE(seen("lesson.choice.1")) << "nothing is measured";
  view.lesson.measured = true;
  settle();
  EXPECT_TRUE(seen("lesson.choice.1"));
  Measurement& small = view.lesson.rows[0].measurement;
  small.step_ms = {.median = 1, .min = 0.9, .low = 0.9, .high = 1.1};
  small.interactions_per_s = 1e9;
  small.error = ForceError{.rms = 1e-7, .median = 1e-7, .p99 = 1e-7, .max = 1e-7};
  view.lesson.rows[1].measurement.problem.text = "it failed";
  view.lesson.right = {false, true, false};
  view.lesson.verdict = "time large / small = 4.00. So b is right.";
  view.lesson.predicted = 1;
  settle();
  EXPECT_TRUE(seen("lesson.choice.2"));
}

TEST_F(Panels, FitALessonIntoASmallWindow) {
  view.lesson = shown_lesson();
  for (const auto& [width, height] :
       {std::pair{800.0f, 600.0f}, std::pair{640.0f, 480.0f}, std::pair{200.0f, 150.0f}}) {
    resize(width, height, 1);
    settle();
    ASSERT_TRUE(seen("lesson.next")) << width;
    EXPECT_GE(ui_marked("lesson.next").x0, 0) << width;
    EXPECT_LE(ui_marked("lesson.next").x1, width);
    EXPECT_LE(ui_marked("lesson.next").y1, height);
    EXPECT_LE(ui_marked("lesson.close").x1, width);
  }
}

}  // namespace
}  // namespace orrery::test
