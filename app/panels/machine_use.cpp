#include "app/panels/machine_use.h"

#include <fmt/format.h>
#include <imgui.h>

#include <optional>

#include "app/panels/kit/ui_mark.h"
#include "app/panels/kit/widgets.h"
#include "app/text/progress.h"

namespace orrery {
namespace {

using theme::em;

struct Progressing {
  const char* what;
  double done;  ///< 0 to 1
  std::optional<double> left_s;
  ViewCommand stop;
};

std::optional<double> if_known(double left_s) {
  return left_s > 0 ? std::optional{left_s} : std::nullopt;
}

Progressing progressing(const ViewStatus& view) {
  const SweepStatus& sweep = view.sweep;
  const LessonStatus& lesson = view.lesson;
  if (sweep.active) return {"Sweep", part_of(sweep.done, sweep.total), if_known(sweep.left_s), StopSweep{}};
  if (view.race.active) return {"Race", view.race.done, view.race.left_s, StopRace{}};
  return {"Lesson", part_of(lesson.done, lesson.total), if_known(lesson.left_s), MeasureLesson{false}};
}

}  // namespace

std::string machine_in_use(const ViewStatus& view) {
  const MachineUser* const user = view.machine_user();
  return user ? fmt::format("Not now: {}. {} ends it.", user->state, user->button) : std::string{};
}

void measurement_row(const ViewStatus& view, Requests& out) {
  const Progressing now = progressing(view);
  const std::string left = now.left_s ? fmt::format(", about {} left", duration_text(*now.left_s)) : std::string{};
  ImGui::AlignTextToFramePadding();
  text(fmt::format("{}: {:.0f} %{}", now.what, 100 * now.done, left));
  ui_mark("measurement");
  tooltip("The shown system rests until the end.");
  ImGui::SameLine();
  if (icon_button("measurement.stop", Icon::stop, "Stop", {em(4.6f), ImGui::GetFrameHeight()})) out.push_back(now.stop);
}

}  // namespace orrery
