#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <string>

#include "app/panels/kit/format.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/panels.h"
#include "app/panels/sections.h"
#include "app/text/console.h"
#include "app/ui_state/window_commands.h"

namespace orrery {
namespace {

using theme::em;

/// Returns whether messages have room beside a lesson, or no lesson is shown.
bool beside_lesson(const ViewStatus& view) {
  const float lesson = lesson_width(view);
  return lesson <= 0 || ImGui::GetIO().DisplaySize.x - side_column_width(view) - lesson >= em(20);
}

/// Returns the right end of the messages, in pixels from the left of the window.
float right_end(const ViewStatus& view) {
  return ImGui::GetIO().DisplaySize.x - (beside_lesson(view) ? lesson_width(view) : 0) - em(0.75f);
}

/// Returns the width of a message that does not cover the side column.
float message_room(const ViewStatus& view) {
  return std::max(right_end(view) - side_column_width(view) - em(4.25f), em(12));
}

/// Draws messages one below the other, clear of the card of a picked body.
class MessageColumn {
 public:
  MessageColumn(const ViewStatus& view, const CardPlace& card)
      : right_{right_end(view)},
        y_{stage_top(view) + heads(view)},
        card_{card},
        in_front_{view.quit_question.empty()} {}

  /// Draws a message.
  template <class Content>
  void add(const char* name, float opacity, Content&& content) {
    const ImGuiWindow* const before = ImGui::FindWindowByName(name);  // its first frame is hidden and sets its size
    if (before) keep_clear_of_card(before->Size);
    ImGui::SetNextWindowPos({right_, y_}, ImGuiCond_Always, {1, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_Alpha, opacity);
    if (ImGui::Begin(name, nullptr, fixed_window | ImGuiWindowFlags_AlwaysAutoResize)) {
      content();
      y_ += ImGui::GetWindowSize().y + gap();
    }
    if (in_front_) ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
    ImGui::End();
    ImGui::PopStyleVar();
  }

  /// Adds an error message.
  template <class Content>
  void add_alarm(const char* name, Content&& content) {
    ImGui::PushStyleColor(ImGuiCol_WindowBg, theme::alarm);
    ImGui::PushStyleColor(ImGuiCol_Border, theme::faded(theme::bad, 0.6f));
    add(name, 1, content);
    ImGui::PopStyleColor(2);
  }

 private:
  static float gap() { return em(0.4f); }
  /// Height of the title and buttons of a lesson or the help, which may be at the top.
  static float heads(const ViewStatus& view) {
    if (!beside_lesson(view)) return em(5);
    return view.help ? em(2.4f) : 0;
  }
  void keep_clear_of_card(ImVec2 size) {
    const ImVec2 high{card_.low.x + card_.size().x, card_.low.y + card_.size().y};
    const bool drawn = card_.width > 0, beside = right_ - size.x > high.x || right_ < card_.low.x;
    if (!drawn || beside || y_ + size.y < card_.low.y || y_ > high.y) return;
    const float below = high.y + gap();
    if (below + size.y <= ImGui::GetIO().DisplaySize.y) y_ = below;
  }

  float right_, y_;
  const CardPlace& card_;
  bool in_front_;
};

void wrapped(const std::string& line, const ViewStatus& view, ImU32 colour) {
  text_in_lines(line, message_room(view), colour);
}

/// Explains why the run stopped, and offers ways to continue.
void non_finite_message(const Status& status, const ViewStatus& view, MessageColumn& column, Requests& out) {
  column.add_alarm("Non-finite body", [&] {
    const NonFinite& body = *status.non_finite;
    wrapped(!status.last_error.empty() ? status.last_error
                                       : fmt::format("Stopped after step {}: body {} is not finite.",
                                                     format_count(body.step), format_count(body.body)),
            view, theme::bad);
    ui_mark("non-finite");
    if (status.checkpoint_step) {
      const std::string label = fmt::format("Restore step {}", format_count(*status.checkpoint_step));
      if (ImGui::Button((label + "###restore").c_str())) out.push_back(RestoreCheckpoint{});
      ui_mark("non-finite.restore");
      tooltip("Restores the latest checkpoint. All its bodies are finite.");
      ImGui::SameLine();
    }
    if (ImGui::Button("Reset")) out.push_back(Reset{});
    ui_mark("non-finite.reset");
    tooltip("Back to the first state and the physics of this scene", reset_words);
    text("R restarts with the present physics. F frames the bodies.", theme::dim, theme::Font::small);
    ui_mark("non-finite.keys");
  });
}

/// Asks whether to continue the run of the last window.
void last_run_message(double age_s, const ViewStatus& view, PanelState& state, MessageColumn& column, Requests& out) {
  column.add("Last run", 1, [&] {
    const std::string run = view.last_run_words.empty() ? std::string{} : fmt::format(" ({})", view.last_run_words);
    const std::string question =
        fmt::format("Continue the run of the last window{}, saved {} ago?", run, duration_text(age_s));
    const float answer = em(6), decline = em(1.6f), gap = ImGui::GetStyle().ItemSpacing.x;
    const bool in_one_line = ImGui::CalcTextSize(question.c_str()).x + answer + decline + 2 * gap <= message_room(view);
    if (in_one_line) ImGui::AlignTextToFramePadding();
    wrapped(question, view, theme::text);
    ui_mark("last-run");
    if (in_one_line) ImGui::SameLine();
    if (accent_button("Continue", {answer, 0})) out.push_back(ContinueLastRun{});
    ui_mark("last-run.continue");
    ImGui::SameLine();
    if (ImGui::Button("\u00d7", {decline, 0})) state.last_run_declined = true;
    ui_mark("last-run.decline");
    tooltip("Its file stays until a later run is saved.");
  });
}

}  // namespace

void message_panel(const Status& status, const ViewStatus& view, PanelState& state, Requests& out) {
  if (status.last_error.empty() || !out.empty()) state.dismissed_error.clear();
  MessageColumn column{view, state.card};
  if (!status.non_finite && !status.last_error.empty() && status.last_error != state.dismissed_error) {
    column.add_alarm("Error", [&] {
      ImGui::AlignTextToFramePadding();
      wrapped(status.last_error, view, theme::bad);
      ui_mark("error");
      ImGui::SameLine();
      if (ImGui::Button("\u00d7", {em(1.6f), 0})) state.dismissed_error = status.last_error;
      ui_mark("error.dismiss");
    });
  }

  if (view.measuring() && view.in_window) column.add("Measurement", 1, [&] { measurement_row(view, out); });
  if (status.non_finite) non_finite_message(status, view, column, out);
  if (view.last_run_age_s && !state.last_run_declined) {
    last_run_message(*view.last_run_age_s, view, state, column, out);
  }

  constexpr double shown_s = 5, fading_s = 1;
  const double now = ImGui::GetTime();
  if (state.notice != view.notice) {
    state.notice = view.notice;
    state.noticed_at = now;
  }
  const double left_s = state.noticed_at + shown_s + fading_s - now;
  if (view.in_window && !state.notice.empty() && left_s > 0) {
    column.add("Notice", static_cast<float>(std::min(left_s / fading_s, 1.0)), [&] {
      wrapped(state.notice, view, theme::text);
      ui_mark("notice");
    });
  }
}

void quit_panel(const ViewStatus& view, Requests& out) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({display.x / 2, display.y / 2}, ImGuiCond_Always, {0.5f, 0.5f});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {em(1.2f), em(0.9f)});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyleColorVec4(ImGuiCol_PopupBg));
  if (ImGui::Begin("Quit", nullptr, fixed_window | ImGuiWindowFlags_AlwaysAutoResize)) {
    text("Quit Orrery?", theme::accent, theme::Font::strong);
    const float width = std::clamp(display.x - em(4), em(12), em(26));
    for (const std::string& line : view.quit_question) text_in_lines(line, width);
    ImGui::Dummy({0, em(0.2f)});
    if (accent_button("Quit", {em(6), 0})) out.push_back(Quit{});
    ui_mark("quit.quit");
    tooltip("Enter");
    ImGui::SameLine();
    if (ImGui::Button("Cancel", {em(6), 0})) out.push_back(CancelQuit{});
    ui_mark("quit.cancel");
    tooltip("Esc");
  }
  ImGui::End();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
}

}  // namespace orrery
