#include <GLFW/glfw3.h>
#include <gtest/gtest.h>

#include <chrono>

#include "app/ui_state/camera_commands.h"
#include "app/ui_state/lessons_commands.h"
#include "app/ui_state/window_commands.h"
#include "app/window/keys.h"

namespace orrery {
namespace {

std::optional<Request> requested(KeyPress press, const ViewStatus& view) {
  return request_for(press, {}, view);
}

/// The request of the key, which must be a T.
template <class T>
T lesson_request(KeyPress press, const ViewStatus& view) {
  const auto request = requested(press, view);
  const T* found = request ? command_if<T>(*request) : nullptr;
  EXPECT_NE(found, nullptr) << "the key asks for nothing or something else";
  return found ? *found : T{};
}

TEST(LessonKeys, TwoDigitsInOneGoOpenALessonFromTen) {
  ViewStatus view;
  for (int number = 1; number <= 12; ++number) view.lesson.titles.push_back({number, "A lesson"});
  view.lesson.shown = true;
  EXPECT_EQ(lesson_request<ShowLesson>({.character = U'1'}, view).number, 1);
  view.lesson.listed = false;
  view.lesson.number = 1;
  view.lesson.opened = std::chrono::steady_clock::now();
  for (const char32_t digit : {U'0', U'1', U'2'}) {
    EXPECT_EQ(lesson_request<ShowLesson>({.character = digit}, view).number, 10 + static_cast<int>(digit - U'0'));
  }
  lesson_request<LookFrom>({.character = U'3'}, view);  // there is no lesson 13
  view.lesson.opened -= std::chrono::seconds{2};
  lesson_request<LookFrom>({.character = U'1'}, view);
}

TEST(LessonKeys, LeadThroughALesson) {
  ViewStatus view;
  EXPECT_FALSE(lesson_request<ShowLesson>({.key = GLFW_KEY_F7}, view).number) << "the list";
  EXPECT_FALSE(requested({.key = GLFW_KEY_ENTER}, view));
  view.lesson.shown = true;
  EXPECT_EQ(lesson_request<ShowLesson>({.character = U'4'}, view).number, 4);
  lesson_request<CloseLesson>({.key = GLFW_KEY_F7}, view);
  lesson_request<CloseLesson>({.key = GLFW_KEY_ESCAPE}, view);
  view.lesson.listed = false;
  view.lesson.title = "A lesson";
  view.lesson.choices = {"No.", "Yes."};
  EXPECT_EQ(lesson_request<TurnLessonPage>({.key = GLFW_KEY_ENTER}, view).page, LessonPage::predict);
  EXPECT_FALSE(requested({.key = GLFW_KEY_BACKSPACE}, view)) << "there is no page before";
  lesson_request<LookFrom>({.character = U'1'}, view);
  view.lesson.page = LessonPage::predict;
  EXPECT_EQ(lesson_request<PredictLesson>({.character = U'1'}, view).choice, 0);
  lesson_request<LookFrom>({.character = U'3'}, view);  // there are two choices
  view.lesson.page = LessonPage::measure;
  EXPECT_TRUE(lesson_request<MeasureLesson>({.key = GLFW_KEY_ENTER}, view).on);
  EXPECT_EQ(lesson_request<TurnLessonPage>({.key = GLFW_KEY_BACKSPACE}, view).page, LessonPage::predict);
  view.lesson.measuring = true;
  EXPECT_FALSE(requested({.key = GLFW_KEY_ENTER}, view));
  view.lesson.measuring = false;
  view.lesson.measured = true;
  EXPECT_EQ(lesson_request<TurnLessonPage>({.key = GLFW_KEY_ENTER}, view).page, LessonPage::answer);
  view.lesson.shown = false;
  EXPECT_EQ(lesson_request<TurnLessonPage>({.key = GLFW_KEY_F7}, view).page, LessonPage::measure) << "where it was";
  view.quit_question = {"The recording ends."};
  lesson_request<Quit>({.key = GLFW_KEY_ENTER}, view);
}

}  // namespace
}  // namespace orrery
