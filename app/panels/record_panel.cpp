#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/kit/format.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "app/text/console.h"
#include "app/ui_state/window_commands.h"
#include "compute/snapshots/snapshot_format.h"

namespace orrery {
namespace {

using theme::em;

constexpr float save_width = 4.2f;  // in em

/// Ends a row with a Save button. Returns whether it was pressed, or Enter ended the text.
bool save_button(const char* id, bool entered) {
  ImGui::SameLine();
  ImGui::PushID(id);
  const bool pressed = ImGui::Button("Save", {em(save_width), 0});
  ImGui::PopID();
  ui_mark(id, "save");
  return pressed || entered;
}

void snapshot_row(std::string& file, Requests& out) {
  row_label(
      "Snapshot",
      "The bodies as they are now. Without a name: a new file in orrery-out. Formats: " + snapshot_titles() +
          ". A name that ends in .checkpoint keeps the kernel and the physics as well: 'orrery --resume' continues.",
      em(save_width) + ImGui::GetStyle().ItemSpacing.x);
  if (save_button("snapshot", text_field("snapshot", "bodies.tipsy", file))) out.push_back(SaveSnapshot{path_of(file)});
}

void replay_row(std::string& file, Requests& out) {
  row_label("Replay",
            "How the run went: its start, every change with its step, and checksums of the bodies. 'orrery replay' "
            "computes it again and compares. Without a name: a new file in orrery-out.",
            em(save_width) + ImGui::GetStyle().ItemSpacing.x);
  if (save_button("replay", text_field("replay", "run.replay", file))) out.push_back(SaveReplay{path_of(file)});
}

std::string times_text(int times) {
  return fmt::format("{}x", times);
}

/// Draws the row that saves pictures, also enlarged ones, as a window has too few pixels for print.
void picture_row(PanelState& state, Requests& out) {
  const float sizes = em(3), between = ImGui::GetStyle().ItemSpacing.x;
  row_label(
      "Picture",
      "The window as PNG, with as many pixels or with 2, 4 or 8 times as many on each side. Without a name: a new "
      "file in orrery-out.",
      em(save_width) + sizes + 2 * between);
  const bool entered = text_field("screenshot", "picture.png", state.picture_file);
  ImGui::SameLine();
  ImGui::SetNextItemWidth(sizes);
  if (begin_combo("screenshot.times", times_text(state.picture_times))) {
    for (int times = 1; times <= SaveEnlarged::sizes.most; times *= 2) {
      if (ImGui::Selectable(times_text(times).c_str(), times == state.picture_times)) state.picture_times = times;
      ui_mark("screenshot.times", times_text(times));
    }
    ImGui::EndCombo();
  }
  if (save_button("screenshot", entered)) {
    const std::string file = path_of(state.picture_file);
    state.picture_times > 1 ? out.push_back(SaveEnlarged{state.picture_times, file})
                            : out.push_back(SaveScreenshot{file});
  }
}

void film_row(const FilmStatus& film, std::string& file, Requests& out) {
  const float button = em(6);
  row_label("Film",
            "The window as it is, as MP4. It plays as fast as the window showed it. Without a name: a new file in "
            "orrery-out. Needs the program ffmpeg.",
            button + ImGui::GetStyle().ItemSpacing.x);
  ImGui::BeginDisabled(film.active);
  const bool entered = text_field("film.file", "film.mp4", file);
  ImGui::EndDisabled();
  ImGui::SameLine();
  const ImVec2 size{button, ImGui::GetFrameHeight()};
  if (film.active) {
    if (icon_button("film", Icon::stop, "Stop", size)) out.push_back(StopFilm{});
    text(fmt::format("{} in {}", counted(film.pictures, "picture"), film.file), theme::dim, theme::Font::small);
    tooltip(film.file);
  } else if (icon_button("film", Icon::record, "Film", size) || entered) {
    out.push_back(StartFilm{path_of(file)});
  }
}

}  // namespace

void record_panel(const Status&, const ViewStatus& view, PanelState& state, Requests& out) {
  if (!section("record", "Record and save", true)) return;
  const RecordingStatus& recording = view.recording;

  const float button = em(6);
  row_label("Timings",
            "One row per frame: kernel, settings and times, as CSV. "
            "Without a name: a new file in the folder orrery-out.",
            button + ImGui::GetStyle().ItemSpacing.x);
  ImGui::BeginDisabled(recording.active);
  const bool entered = text_field("record.file", "timings.csv", state.timings_file);
  ImGui::EndDisabled();
  ImGui::SameLine();
  const ImVec2 size{button, ImGui::GetFrameHeight()};
  if (recording.active) {
    if (icon_button("record", Icon::stop, "Stop", size)) out.push_back(StopRecording{});
    text(fmt::format("{} in {}", counted(recording.rows, "row"), recording.file), theme::dim, theme::Font::small);
    tooltip(recording.file);
  } else {
    const bool pressed = icon_button("record", Icon::record, "Record", size);
    if (pressed || entered) out.push_back(StartRecording{path_of(state.timings_file)});
    if (!recording.error.empty()) {
      wrapped_text(recording.error, theme::bad, theme::Font::small);
    } else if (!recording.file.empty()) {
      text(fmt::format("{} written to {}", counted(recording.rows, "row"), recording.file), theme::dim,
           theme::Font::small);
      tooltip(recording.file);
    }
  }
  film_row(view.features.of<FilmStatus>(), state.film_file, out);
  picture_row(state, out);
  snapshot_row(state.snapshot_file, out);
  replay_row(state.replay_file, out);
}
namespace {

struct Light {
  const char* id;
  std::string words, file;
  const char* how_to_stop;
};

std::vector<Light> lights_of(const ViewStatus& view) {
  std::vector<Light> lights;
  if (!view.in_window) return lights;
  if (view.recording.active) {
    lights.push_back({"recording", "recording  " + counted(view.recording.rows, "row"), view.recording.file,
                      "F5 stops the recording."});
  }
  if (const FilmStatus& film = view.features.of<FilmStatus>(); film.active) {
    lights.push_back({"filming", "filming  " + counted(film.pictures, "picture"), film.file, "F6 completes the film."});
  }
  return lights;
}

/// Returns the height of the window around the lights.
float lights_height(std::size_t lights) {
  const ImGuiStyle& style = ImGui::GetStyle();
  const auto lines = static_cast<float>(lights);
  return lines > 0 ? lines * em(1) + (lines - 1) * style.ItemSpacing.y + 2 * style.WindowPadding.y : 0;
}

/// Returns the width of a light without words, with its window.
float dot_width() {
  return em(0.7f) + 2 * ImGui::GetStyle().WindowPadding.x;
}

/// Returns the width from the side column to the right edge, or the whole width if the column leaves too little.
float lights_room(const ViewStatus& view) {
  const float whole = ImGui::GetIO().DisplaySize.x - em(0.75f);
  return whole - (lights_cover_column(view) ? 0 : side_column_width(view));
}

void draw_light(const Light& light, bool with_words) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddCircleFilled({at.x + em(0.35f), at.y + em(0.5f)}, em(0.32f), theme::bad);
  ImGui::BeginGroup();
  ImGui::Dummy({em(0.7f), em(1)});
  if (with_words) {
    ImGui::SameLine(0, em(0.4f));
    text(light.words);
  }
  ImGui::EndGroup();
  ui_mark(light.id);
  tooltip(with_words ? light.file : light.words, light.how_to_stop);
}

}  // namespace

bool lights_cover_column(const ViewStatus& view) {
  const float beside = ImGui::GetIO().DisplaySize.x - side_column_width(view) - em(0.75f);
  return !lights_of(view).empty() && beside < dot_width();
}

float strip_end(const ViewStatus& view) {
  return side_column_width(view) > 0 && info_fits(view) ? em(3.6f) : em(0.75f);
}

float stage_top(const ViewStatus& view) {
  const float height = lights_height(lights_of(view).size());
  return strip_end(view) + (height > 0 ? height + em(0.4f) : 0);
}

void light_panel(const ViewStatus& view) {
  const std::vector<Light> lights = lights_of(view);
  if (lights.empty()) return;
  float words = 0;
  for (const Light& light : lights) words = std::max(words, ImGui::CalcTextSize(light.words.c_str()).x);
  const bool with_words = dot_width() + em(0.4f) + words <= lights_room(view);
  ImGui::SetNextWindowPos({ImGui::GetIO().DisplaySize.x - em(0.75f), strip_end(view)}, ImGuiCond_Always, {1, 0});
  if (ImGui::Begin("Lights", nullptr, fixed_window | ImGuiWindowFlags_AlwaysAutoResize)) {
    for (const Light& light : lights) draw_light(light, with_words);
  }
  ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
  ImGui::End();
}

}  // namespace orrery
