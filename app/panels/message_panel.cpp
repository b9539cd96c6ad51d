#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <string>

#include "app/panels/kit/format.h"
#include "app/panels/kit/ui_mark.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "app/text/progress.h"

namespace orrery {
namespace {

using theme::em;

/// A line at the top of the picture, below the info strip. Returns the room it took.
template <class Content>
ImVec2 toast(const char* name, float y, float opacity, Content&& content) {
  const float right = ImGui::GetIO().DisplaySize.x - em(0.75f);
  ImGui::SetNextWindowPos({right, y}, ImGuiCond_Always, {1, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_Alpha, opacity);
  ImVec2 size{0, 0};
  if (ImGui::Begin(name, nullptr, fixed_window | ImGuiWindowFlags_AlwaysAutoResize)) {
    content();
    size = {ImGui::GetWindowSize().x + em(0.75f), ImGui::GetWindowSize().y + em(0.4f)};
  }
  ImGui::End();
  ImGui::PopStyleVar();
  return size;
}

/// The same for an error.
template <class Content>
ImVec2 alarm(const char* name, float y, Content&& content) {
  ImGui::PushStyleColor(ImGuiCol_WindowBg, theme::alarm);
  ImGui::PushStyleColor(ImGuiCol_Border, theme::faded(theme::bad, 0.6f));
  const ImVec2 size = toast(name, y, 1, content);
  ImGui::PopStyleColor(2);
  return size;
}

/// Width of a message that leaves the side column free.
float message_room(const ViewStatus& view) {
  return std::max(ImGui::GetIO().DisplaySize.x - side_column_width(view) - em(5), em(12));
}

void wrapped(const std::string& line, const ViewStatus& view, ImU32 colour) {
  text_in_lines(line, message_room(view), colour);
}

/// Visible while something is recorded, even if all else is hidden.
ImVec2 recording_light(const char* id, const std::string& what, const std::string& file, const char* how_to_stop,
                       float y) {
  return toast(id, y, 1, [&] {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddCircleFilled({at.x + em(0.35f), at.y + em(0.5f)}, em(0.32f), theme::bad);
    ImGui::Dummy({em(0.7f), em(1)});
    ImGui::SameLine(0, em(0.4f));
    text(what);
    ui_mark(id);
    tooltip(file, how_to_stop);
  });
}

/// Why the run stopped, and the ways to continue.
ImVec2 non_finite_toast(const Status& status, const ViewStatus& view, float y, Requests& out) {
  return alarm("Non-finite body", y, [&] {
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

/// Whether to continue where the last window stopped.
ImVec2 last_run_toast(double age_s, const ViewStatus& view, PanelState& state, float y, Requests& out) {
  return toast("Last run", y, 1, [&] {
    const std::string question =
        fmt::format("Continue the run of the last window, saved {} ago?", duration_text(age_s));
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
  float y = side_column_width(view) > 0 ? em(3.6f) : em(0.75f);
  state.messages = {};
  const auto keep = [&](ImVec2 size) {
    y += size.y;
    state.messages = {std::min(state.messages.left, ImGui::GetIO().DisplaySize.x - size.x), y};
  };
  if (view.recording.active && view.in_window) {
    keep(recording_light("recording", "recording  " + counted(view.recording.rows, "row"), view.recording.file,
                         "F5 stops the recording.", y));
  }
  if (view.film.active && view.in_window) {
    keep(recording_light("filming", "filming  " + counted(view.film.pictures, "picture"), view.film.file,
                         "F6 completes the film.", y));
  }
  if (!status.non_finite && !status.last_error.empty() && status.last_error != state.dismissed_error) {
    keep(alarm("Error", y, [&] {
      ImGui::AlignTextToFramePadding();
      wrapped(status.last_error, view, theme::bad);
      ui_mark("error");
      ImGui::SameLine();
      if (ImGui::Button("\u00d7", {em(1.6f), 0})) state.dismissed_error = status.last_error;
      ui_mark("error.dismiss");
    }));
  }

  if (status.non_finite) keep(non_finite_toast(status, view, y, out));
  if (view.last_run_age_s && !state.last_run_declined) {
    keep(last_run_toast(*view.last_run_age_s, view, state, y, out));
  }

  constexpr double shown_s = 5, fading_s = 1;
  const double now = ImGui::GetTime();
  if (state.notice != view.notice) {
    state.notice = view.notice;
    state.noticed_at = now;
  }
  const double left_s = state.noticed_at + shown_s + fading_s - now;
  if (view.in_window && !state.notice.empty() && left_s > 0) {
    toast("Notice", y, static_cast<float>(std::min(left_s / fading_s, 1.0)),
          [&] { wrapped(state.notice, view, theme::text); });
  }
}

}  // namespace orrery
