// The lesson in the window, and its measurement.
#include "app/features/lessons/lessons_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/features/lessons/lesson.h"
#include "app/lab/measurement.h"
#include "app/ui_state/lessons_commands.h"
#include "app/window/session.h"
#include "app/window/window_feature.h"
#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/core/process.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

std::string words_of(const LessonRow& row) {
  std::string words = row.kernel_id;
  for (const auto& [name, value] : row.settings) words += fmt::format(" {}={}", name, value);
  return fmt::format("{}, {}", words, counted_bodies(row.count));
}

std::string words_of(const LessonMachine& machine) {
  return machine.gpu.empty() ? fmt::format("{}, {}", machine.processor, counted(machine.threads, "thread"))
                             : machine.gpu;
}

}  // namespace

const Lesson& LessonControl::lesson() const {
  if (!lesson_) throw UsageError("no lesson is open; 'lesson NUMBER' opens one");
  return *lesson_;
}

const LessonPart& LessonControl::part() const {
  return lesson().part(backends_.status(Backend::cuda).available);
}

void LessonControl::show(const ShowLesson& asked, LessonStatus& status) {
  if (status.measuring) throw UsageError("the lesson is being measured; wait for the end or stop it first");
  if (status.titles.empty()) {
    for (const LessonFile& file : lesson_files()) status.titles.push_back({file.number, file.title()});
  }
  if (asked.number) open(lesson_of(*asked.number, backends_.kernels()), *asked.number, status);
  status.listed = !asked.number;
  status.shown = true;
}

void LessonControl::show(const ShowLessonFile& asked, LessonStatus& status) {
  Lesson read = read_lesson(asked.file, backends_.kernels());
  show(ShowLesson{}, status);
  open(std::move(read), 0, status);
  status.listed = false;
}

void LessonControl::open(Lesson lesson, int number, LessonStatus& status) {
  lesson_ = std::move(lesson);
  const LessonMachine machine = lesson_machine(backends_);
  const LessonPart& shown = part();
  results_.assign(shown.rows.size(), {});
  LessonStatus fresh;
  fresh.titles = std::move(status.titles);
  fresh.shown = true;
  fresh.listed = false;
  fresh.opened = std::chrono::steady_clock::now();
  fresh.number = number;
  fresh.title = lesson_->title;
  fresh.machine = words_of(machine);
  fresh.introduction = lesson_->introduction;
  fresh.scene = lesson_->scene_words;
  fresh.predict = filled(shown.predict, shown, results_, machine);
  fresh.measure = shown.measure;
  fresh.change = shown.change;
  for (const LessonChoice& choice : shown.question.choices) fresh.choices.push_back(choice.text);
  status = std::move(fresh);
  describe(status);
}

void LessonControl::turn(LessonPage page, LessonStatus& status) const {
  (void)lesson();
  status.page = page;
  status.listed = false;
  status.shown = true;
}

void LessonControl::predict(int choice, LessonStatus& status) const {
  const auto choices = static_cast<int>(part().question.choices.size());
  if (choice < 0 || choice >= choices) {
    throw UsageError(
        fmt::format("lesson-predict cannot be {}; the question has the choices 1 to {}", choice + 1, choices));
  }
  if (status.measured) throw UsageError("the lesson is measured already; open it again to predict once more");
  status.predicted = choice;
}

Requests LessonControl::scene_requests(const Status& shown) {
  const LessonRow& first = part().rows.front();
  SceneRequest scene = lesson().scene;
  scene.count = first.count;
  // The kernel is selected first. Otherwise `auto` would choose one for the new scene.
  Requests requests;
  const bool is_lessons = shown.undo_step && shown.scene == scene_;
  if (!is_lessons) requests.emplace_back(Command{ReturnToRun{run_of(trial_of(shown))}});  // UndoReturn restores it
  requests.emplace_back(Command{SelectKernel{first.kernel_id, first.settings}});
  requests.emplace_back(Command{LoadScene{scene}});
  scene_ = scene;
  for (const Command& command : lesson_->physics) requests.emplace_back(command);
  for (const ViewCommand& command : lesson_->picture) requests.emplace_back(command);
  return requests;
}

void LessonControl::start(Simulation& shown, LessonStatus& status) {
  if (measurement_) throw UsageError("the lesson is being measured; wait for the end or stop it first");
  if (shown.status().choosing) throw UsageError("auto is measuring kernels; measure when it has chosen one");
  measurement_.emplace(backends_, lesson(), part());
  pause_.begin(shown);
  status.measured = false;
  status.page = LessonPage::measure;
  describe(status);
}

/// Continues the measurement. Waits for steps in flight, which would disturb it.
void LessonControl::tick(Simulation& shown, LessonStatus& status) {
  if (!measurement_ || !shown.idle() || shown.measuring()) return;
  measurement_->tick();
  if (!measurement_->ended()) return describe(status);
  end(shown, status);
  status.page = LessonPage::answer;
}

void LessonControl::stop(Simulation& shown, LessonStatus& status) {
  if (!measurement_) return;
  measurement_->stop();
  end(shown, status);
}

void LessonControl::end(Simulation& shown, LessonStatus& status) {
  results_ = measurement_->results();
  measurement_.reset();
  status.measured = true;
  describe(status);
  pause_.end(shown);
}

void LessonControl::describe(LessonStatus& status) const {
  const LessonPart& shown = part();
  const LessonResults& results = measurement_ ? measurement_->results() : results_;
  status.rows.clear();
  for (std::size_t i = 0; i < shown.rows.size(); ++i) {
    status.rows.push_back({shown.rows[i].label, words_of(shown.rows[i]), results[i]});
  }
  status.measuring = measurement_.has_value();
  status.present = measurement_ ? measurement_->present() : std::string{};
  status.done = measurement_ ? static_cast<int>(measurement_->done()) : 0;
  status.total = static_cast<int>(shown.rows.size());
  status.left_s = measurement_ ? measurement_->left_s() : 0;
  status.answer = filled(shown.answer, shown, results, lesson_machine(backends_));
  status.verdict.clear();
  status.right.assign(shown.question.choices.size(), false);
  const Judgement judgement = judge(shown, results);
  if (!status.measured) return;
  status.verdict = verdict(judgement);
  if (judgement.known) status.right = judgement.right;
}

namespace {

/// Lessons as a part of the window.
class LessonsWindow final : public WindowFeature {
 public:
  explicit LessonsWindow(Session& session) : session_{session}, control_{session.backends} {}

  void add_to(Handlers& handlers) override { handlers.add(*this, lessons_commands); }

  void carry_out(const ShowLesson& c) { control_.show(c, session_.view.lesson); }

  void carry_out(const ShowLessonFile& c) { control_.show(c, session_.view.lesson); }

  void carry_out(const CloseLesson&) {
    stop();
    session_.view.lesson.shown = false;
  }

  void carry_out(const TurnLessonPage& c) { control_.turn(c.page, session_.view.lesson); }

  void carry_out(const SetLessonScene&) {
    for (const Request& request : control_.scene_requests(session_.lane.status())) session_.carry_out(request);
    session_.view.notice = "the lesson's scene is set; Ctrl+Z returns to the system before";
  }

  void carry_out(const PredictLesson& c) { control_.predict(c.choice, session_.view.lesson); }

  void carry_out(const MeasureLesson& c) {
    if (!c.on) {
      stop();
      return;
    }
    session_.require_machine("a lesson");
    control_.start(session_.lane.simulation(), session_.view.lesson);
    describe();
    if (session_.lockstep) wait();
  }

  void follow() override {
    control_.tick(session_.lane.simulation(), session_.view.lesson);
    describe();
  }

  void add_left_behind(std::vector<std::string>& things) const override {
    if (session_.view.lesson.shown && !session_.view.lesson.listed) things.emplace_back("the lesson");
  }

 private:
  /// Blocks until the lesson is measured. Used in deterministic runs, where drawing would only disturb the measurement.
  void wait() {
    constexpr std::chrono::milliseconds nap{2};
    while (session_.view.lesson.measuring) {
      if (stop_requested()) return stop();
      (void)session_.lane.collect();
      follow();
      std::this_thread::sleep_for(nap);
    }
  }

  void stop() {
    control_.stop(session_.lane.simulation(), session_.view.lesson);
    describe();
  }

  void describe() {
    const LessonStatus& lesson = session_.view.lesson;
    if (lesson.measuring) {
      session_.view.measurement = in_progress(lesson_user, lesson.done, lesson.total, lesson.left_s);
    } else if (session_.view.measurement && session_.view.measurement->user == &lesson_user) {
      session_.view.measurement.reset();
    }
  }

  Session& session_;
  LessonControl control_;
};

}  // namespace

std::unique_ptr<WindowFeature> make_lessons(Session& session) {
  return std::make_unique<LessonsWindow>(session);
}

}  // namespace orrery
