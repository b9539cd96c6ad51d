#include <fmt/format.h>
#include <imgui.h>

#include <string>
#include <string_view>

#include "app/panels/kit/format.h"
#include "app/panels/kit/path_entry.h"
#include "app/panels/kit/ui_mark.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "compute/snapshots/snapshot_format.h"

namespace orrery {
namespace {

using theme::em;

constexpr float save_width = 4.2f;  // in em

/// Ends a row with a button that saves to `file`. Whether it, or Enter in the text, was pressed.
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

/// The window has too few pixels for print.
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
  film_row(view.film, state.film_file, out);
  picture_row(state, out);
  snapshot_row(state.snapshot_file, out);
  replay_row(state.replay_file, out);
}

}  // namespace orrery
