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

/// A file name, which may stay empty, and a button that saves to it.
template <class Save>
void save_row(const char* label, std::string_view notes, const char* id, const char* hint, std::string& file,
              Requests& out) {
  const float button = em(4.2f);
  row_label(label, notes, button + ImGui::GetStyle().ItemSpacing.x);
  bool pressed = text_field(id, hint, file);
  ImGui::SameLine();
  ImGui::PushID(id);
  pressed |= ImGui::Button("Save", {button, 0});
  ImGui::PopID();
  ui_mark(id, "save");
  if (pressed) out.push_back(Save{path_of(file)});
}

void film_row(const FilmStatus& film, std::string& file, Requests& out) {
  const float button = em(6);
  row_label("Film", "The window as it is, as MP4. Without a name: a new file in orrery-out. Needs the program ffmpeg.",
            button + ImGui::GetStyle().ItemSpacing.x);
  ImGui::BeginDisabled(film.active);
  const bool entered = text_field("film.file", "film.mp4", file);
  ImGui::EndDisabled();
  ImGui::SameLine();
  const ImVec2 size{button, ImGui::GetFrameHeight()};
  if (film.active) {
    if (icon_button("film", Icon::stop, "Stop", size)) out.push_back(StopFilm{});
    text(fmt::format("{} pictures in {}", format_count(film.pictures), film.file), theme::dim, theme::Font::small);
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
    text(fmt::format("{} rows in {}", format_count(recording.rows), recording.file), theme::dim, theme::Font::small);
    tooltip(recording.file);
  } else {
    const bool pressed = icon_button("record", Icon::record, "Record", size);
    if (pressed || entered) out.push_back(StartRecording{path_of(state.timings_file)});
    if (!recording.error.empty()) {
      ImGui::PushTextWrapPos(0);
      text(recording.error, theme::bad, theme::Font::small);
      ImGui::PopTextWrapPos();
    } else if (!recording.file.empty()) {
      text(fmt::format("{} rows written to {}", format_count(recording.rows), recording.file), theme::dim,
           theme::Font::small);
      tooltip(recording.file);
    }
  }
  film_row(view.film, state.film_file, out);
  save_row<SaveScreenshot>("Picture", "The window as it is, as PNG. Without a name: a new file in orrery-out.",
                           "screenshot", "picture.png", state.picture_file, out);
  save_row<SaveSnapshot>(
      "Snapshot",
      "The bodies as they are now. Without a name: a new file in orrery-out. Formats: " + snapshot_titles() +
          ". A name that ends in .checkpoint keeps the kernel and the physics as well: 'orrery --resume' continues.",
      "snapshot", "bodies.tipsy", state.snapshot_file, out);
}

}  // namespace orrery
