#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "app/ui_state/command.h"
#include "compute/sim/command_row.h"

namespace orrery {

inline constexpr int lesson_pages = 5;

/// Pages of a lesson, in order.
enum class LessonPage { read, predict, measure, answer, change };

template <>
struct EnumWords<LessonPage> {
  static constexpr std::array<std::pair<LessonPage, std::string_view>, lesson_pages> all() {
    return {{{LessonPage::read, "read"},
             {LessonPage::predict, "predict"},
             {LessonPage::measure, "measure"},
             {LessonPage::answer, "answer"},
             {LessonPage::change, "change"}}};
  }
};

struct ShowLesson {
  std::optional<int> number;  ///< number of the lesson; empty: shows the list

  static constexpr Range<int> numbers{1, 99};
};

struct ShowLessonFile {
  std::string file;
};

struct CloseLesson {};

struct TurnLessonPage {
  LessonPage page;
};

struct SetLessonScene {};

/// Answers the lesson's question with a choice, counted from 0.
struct PredictLesson {
  int choice;

  static constexpr Range<int> choices{1, 6};  ///< as shown to users, counted from 1
};

struct MeasureLesson {
  bool on = true;
};

inline constexpr MachineUser lesson_user{
    "a lesson", "a lesson is being measured", "Stop in the lesson", "lesson-measure off", "Lesson", [] {
      return Request{MeasureLesson{false}};
    }};

/// Commands for lessons.
inline constexpr std::tuple lessons_commands{
    command_row<ShowLesson>(
        "lesson", "Opens a lesson, or the list of lessons.",
        Argument<&ShowLesson::number>{{.name = "number", .range = ShowLesson::numbers, .word = "list"}}),
    command_row<ShowLessonFile>("lesson-file", "Opens a lesson of your own.",
                                Argument<&ShowLessonFile::file>{{.name = "file", .form = Form::file}}),
    command_row<CloseLesson>("close-lesson", "Closes the lesson or the list of lessons."),
    command_row<TurnLessonPage>("lesson-page", "Turns to a page of the lesson.",
                                Argument<&TurnLessonPage::page>{{.name = "page"}}),
    command_row<SetLessonScene>("lesson-scene", "Loads the scene of the lesson, with its first kernel."),
    command_row<PredictLesson>(
        "lesson-predict", "Predicts the answer to the lesson's question.",
        Argument<&PredictLesson::choice>{{.name = "choice", .range = PredictLesson::choices, .first = 1}}),
    command_row<MeasureLesson>("lesson-measure", "Measures what the lesson compares; off: stops that.",
                               Argument<&MeasureLesson::on>{{.name = "on", .optional = true}})};

}  // namespace orrery
