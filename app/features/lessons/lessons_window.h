#pragma once

#include <optional>
#include <string>

#include "app/features/lessons/lesson_results.h"
#include "app/ui_state/command.h"
#include "app/ui_state/lessons_commands.h"
#include "app/ui_state/status.h"
#include "app/window/session.h"
#include "compute/sim/simulation.h"

namespace orrery {
/// Shows lessons in the window and measures them. While a lesson is measured, the shown simulation is paused. Functions
/// that need an open lesson throw UsageError without one, and then change nothing.
class LessonControl {
 public:
  /// Makes an object without an open lesson. `backends` must outlive it.
  explicit LessonControl(const Backends& backends) : backends_{backends} {}

  /// Shows the list of lessons, or the first page of a lesson. Both overloads throw what parse_lesson() throws.
  void show(const ShowLesson& asked, LessonStatus& status);
  void show(const ShowLessonFile& asked, LessonStatus& status);
  void turn(LessonPage page, LessonStatus& status) const;
  void predict(int choice, LessonStatus& status) const;
  /// Returns commands that load the lesson's scene with the first kernel that it measures. Afterwards, UndoReturn
  /// restores the run that was shown before the first scene of a lesson.
  Requests scene_requests(const Status& shown);

  /// Starts the measurement. Also throws UsageError while `auto` chooses a kernel, and what LessonMeasurement throws.
  void start(Simulation& shown, LessonStatus& status);
  /// Continues the measurement. Call once per frame.
  void tick(Simulation& shown, LessonStatus& status);
  /// Stops the measurement, and keeps the rows that were measured.
  void stop(Simulation& shown, LessonStatus& status);

 private:
  const Lesson& lesson() const;
  const LessonPart& part() const;
  void open(Lesson lesson, int number, LessonStatus& status);
  void describe(LessonStatus& status) const;
  void end(Simulation& shown, LessonStatus& status);

  const Backends& backends_;
  std::optional<Lesson> lesson_;
  std::optional<SceneRequest> scene_;  // scene that a lesson has loaded last
  ShownPause pause_;
  std::optional<LessonMeasurement> measurement_;
  LessonResults results_;  // measurements of part().rows
};

}  // namespace orrery
