#include "app/features/lessons/lessons_window.h"

#include "app/ui_state/lessons_commands.h"
#include "app/ui_state/window_commands.h"
#include "compute/core/error.h"
#include "tests/app/lessons/lesson_text.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

/// A shown simulation that runs, and a lesson in a file.
struct LessonBesideAWindow : testing::Test {
  LessonBesideAWindow() { std::ofstream{file()} << lesson_text(); }

  std::string file() const { return (folder_ / "mine.md").string(); }

  void frames() {
    while (status.measuring) {
      (void)shown.collect();
      control.tick(shown, status);
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  }

  const TemporaryFolder folder_;
  Simulation shown{backends(), {.scene = "plummer", .count = 40}, find_kernel("cpu-simd")};
  LessonStatus status;
  LessonControl control{backends()};
};

TEST_F(LessonBesideAWindow, GoesFromTheFirstPageToTheAnswer) {
  control.show(ShowLessonFile{file()}, status);
  EXPECT_TRUE(status.shown);
  EXPECT_FALSE(status.listed);
  EXPECT_EQ(status.number, 0);
  EXPECT_EQ(status.title, "A lesson");
  EXPECT_EQ(status.titles.size(), 12u);
  EXPECT_EQ(status.choices.size(), 3u);
  expect_lacks(status.predict[0].text, {"{"});
  control.predict(1, status);
  control.start(shown, status);
  EXPECT_TRUE(status.measuring);
  EXPECT_TRUE(shown.status().paused);
  EXPECT_THROW(control.start(shown, status), UsageError);
  EXPECT_THROW(control.show(ShowLesson{2}, status), UsageError);
  frames();
  EXPECT_FALSE(shown.status().paused) << "it goes on";
  EXPECT_TRUE(status.measured);
  EXPECT_EQ(status.page, LessonPage::answer);
  EXPECT_EQ(status.predicted, 1);
  expect_holds(status.verdict, {"big / small = "});
  // A busy machine may leave it open; then the verdict says so, and marks no answer.
  const bool decided = status.verdict.find(" is right.") != std::string::npos;
  EXPECT_TRUE(decided || status.verdict.find("Not decided on this machine") != std::string::npos) << status.verdict;
  EXPECT_EQ(std::ranges::count(status.right, true), decided ? 1 : 0) << status.verdict;
  ASSERT_EQ(status.rows.size(), 3u);
  for (const LessonRowStatus& row : status.rows) EXPECT_GT(row.measurement.step_ms.median, 0) << row.label;
  expect_lacks(status.answer[0].text, {"not measured"});
  EXPECT_THROW(control.predict(0, status), UsageError) << "too late";
}

TEST_F(LessonBesideAWindow, KnowsNoAnswerIfItIsStopped) {
  control.show(ShowLessonFile{file()}, status);
  control.start(shown, status);
  control.stop(shown, status);
  EXPECT_FALSE(status.measuring);
  expect_holds(status.verdict, {"stays open"});
  EXPECT_EQ(status.right, std::vector<bool>(3, false));
  expect_holds(status.answer[0].text, {"(not measured)"});
  EXPECT_FALSE(shown.status().paused);
  control.start(shown, status);
  frames();
  expect_lacks(status.verdict, {"stays open"});
}

TEST_F(LessonBesideAWindow, SetsTheScene) {
  control.show(ShowLessonFile{file()}, status);
  const Requests requests = control.scene_requests(shown.status());
  ASSERT_EQ(requests.size(), 5u);
  EXPECT_TRUE(command_if<ReturnToRun>(requests[0])) << "to which UndoReturn comes back";
  EXPECT_TRUE(command_if<SelectKernel>(requests[1]));
  const auto* load = command_if<LoadScene>(requests[2]);
  ASSERT_TRUE(load);
  EXPECT_EQ(load->request, (SceneRequest{.scene = "plummer", .count = 16}));
  EXPECT_TRUE(command_if<SetSoftening>(requests[3]));
  EXPECT_TRUE(command_if<SetAppearance>(requests[4]));
}

TEST_F(LessonBesideAWindow, TheSystemBeforeItsSceneCanBeBroughtBack) {
  shown.run(3);
  const Status before = shown.status();
  const Bodies bodies = shown.bodies();
  control.show(ShowLessonFile{file()}, status);
  for (int times = 0; times < 2; ++times) {  // the second time, the lesson's own scene is shown
    for (const Request& request : control.scene_requests(shown.status())) {
      if (const auto* command = std::get_if<Command>(&request)) shown.apply(*command);
    }
    shown.run(2);
    EXPECT_EQ(shown.status().count, 16);
  }
  shown.apply(UndoReturn{});
  EXPECT_EQ(shown.status().scene, before.scene);
  EXPECT_EQ(shown.status().step, 3);
  EXPECT_EQ(shown.status().kernel_id, before.kernel_id);
  EXPECT_EQ(shown.bodies(), bodies);
}

TEST_F(LessonBesideAWindow, RefusesWhatNeedsALesson) {
  EXPECT_THROW((void)control.scene_requests(shown.status()), UsageError);
  EXPECT_THROW(control.start(shown, status), UsageError);
  EXPECT_THROW(control.predict(0, status), UsageError);
  EXPECT_THROW(control.turn(LessonPage::answer, status), UsageError);
  EXPECT_THROW(control.show(ShowLesson{13}, status), UsageError);
  EXPECT_FALSE(status.measuring || shown.status().paused);
  control.show(ShowLesson{}, status);
  EXPECT_TRUE(status.shown && status.listed);
  control.show(ShowLesson{3}, status);
  EXPECT_THROW(control.predict(6, status), UsageError);
  EXPECT_FALSE(status.predicted);
}

}  // namespace
}  // namespace orrery::test
