#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "compute/core/law.h"
#include "compute/core/text.h"
#include "compute/integrators/integrator.h"

namespace orrery {
namespace {

using theme::em;

/// Draws one bar per level, of height log(1 + bodies), so that a few bodies on a deep level remain visible.
void level_bars(const LevelCounts& levels, int count, float time_step) {
  const ImVec2 low = ImGui::GetCursorScreenPos(), size{ImGui::GetContentRegionAvail().x, em(2)};
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float width = size.x / static_cast<float>(level_count);
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const float share = std::log1p(static_cast<float>(levels[level])) / std::log1p(static_cast<float>(count));
    const ImVec2 from{low.x + width * static_cast<float>(level), low.y}, to{from.x + 0.9f * width, low.y + size.y};
    draw.AddRectFilled(from, to, theme::track, em(0.2f));
    draw.AddRectFilled({from.x, to.y - size.y * share}, to, theme::accent, em(0.2f));
    if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(from, to)) {
      show_tooltip(fmt::format("Level {}: {}", level, counted_bodies(levels[level])),
                   fmt::format("Steps of dt / {}, which is {:.4g}. Heights are logarithmic.", 1 << level,
                               std::ldexp(time_step, -static_cast<int>(level))));
    }
  }
  ImGui::Dummy(size);
  ui_mark("levels");
}

}  // namespace

void levels_rows(const Status& status) {
  if (!status.levels) return;
  row_label("Levels",
            "How many bodies have steps of dt, dt / 2, dt / 4 and so on, in the latest step. Colour the bodies by "
            "time-step class to see which.");
  level_bars(*status.levels, status.count, status.time_step);
  double steps = 0;
  for (std::size_t level = 0; level < level_count; ++level) {
    steps += std::ldexp((*status.levels)[level], static_cast<int>(level));
  }
  const int substeps = 1 << deepest_of(*status.levels);
  if (status.kernel && !status.kernel->takes_targets && substeps > 1) {
    wrapped_text(fmt::format("This kernel evaluates all bodies {} times per dt: it cannot evaluate some.", substeps),
                 theme::warn, theme::Font::small);
  } else {
    wrapped_text(fmt::format("{:.2f} evaluations of a body per dt; with equal steps it would take {}.",
                             steps / std::max(status.count, 1), substeps),
                 theme::dim, theme::Font::small);
  }
}
namespace {

constexpr const char* eta_of_leapfrog =
    "\u03b7: a body's own step is at most sqrt(2 \u03b7 L / |a|), where L is the softening or, if it is longer, the "
    "distance at which a body of mean mass pulls as hard. The energy error falls with \u03b7. Ctrl-click to type a "
    "value.";

constexpr const char* eta_of_hermite =
    "\u03b7 of Aarseth's criterion: a body's own step grows with the square root of \u03b7. The energy error falls "
    "with about its square. Ctrl-click to type a value.";

/// Texts for a value that the scene also defines.
struct Field {
  const char* mark;
  const char* label;
  const char* notes;
};

struct DigitsInfo {
  const char* id;
  const char* title;
  const char* notes;
  Digits digits;
};

constexpr DigitsInfo all_digits[] = {
    {"float", "Float", "Floats: every step rounds them to 24 bits, and these errors add up.", Digits::single},
    {"compensated", "Compensated",
     "Floats and their low words, 48 bits: steps lose no digits. Kernels in double precision read all of them.",
     Digits::compensated}};

/// Draws the label of a field. A dot marks a value that differs from the scene's. Returns whether a double click asks
/// to restore the scene's value.
bool field_label(const Field& field, bool differs, std::string_view own) {
  const std::string notes =
      differs ? fmt::format("{}\nThe scene's value: {}. Double-click to restore it.", field.notes, own)
              : fmt::format("{}\nThis is the scene's value.", field.notes);
  return marked_label(field.mark, field.label, notes, differs) && differs;
}

/// Draws a list of descriptors with id, title and notes. Returns the picked one, or null if it is the current one.
/// `own`: id of the scene's descriptor.
template <class Info>
const Info* choose(const Field& field, std::string_view current, std::string_view own, auto&& infos) {
  const char* const mark = field.mark;
  const Info* picked = nullptr;
  const Info* shown = nullptr;
  const Info* own_info = nullptr;
  for (const Info& info : infos) {
    if (current == info.id) shown = &info;
    if (own == info.id) own_info = &info;
  }
  const bool differs = own_info && own_info != shown;
  const bool label_asks = field_label(field, differs, differs ? own_info->title : "");
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const bool restored =
      label_asks || double_clicked(low, {low.x + ImGui::CalcItemWidth(), low.y + ImGui::GetFrameHeight()});
  if (begin_combo(mark, shown ? shown->title : "")) {
    for (const Info& info : infos) {
      if (ImGui::Selectable(info.title, &info == shown) && &info != shown) picked = &info;
      ui_mark(mark, info.id);
      tooltip(info.notes);
    }
    if (restored) ImGui::CloseCurrentPopup();
    ImGui::EndCombo();
  } else if (shown) {
    tooltip(shown->notes);
  }
  return restored && differs ? own_info : picked;
}

/// Draws a slider for the number of the command `C`.
template <class C>
std::optional<float> number(const Field& field, const char* format, float value, float own) {
  static_assert(C::range.contains(C::slider.least) && C::range.contains(C::slider.most));
  const bool differs = value != own;
  const bool restored = field_label(field, differs, fmt::format("{:.6g}", own));
  const auto asked = log_slider(field.mark, value, C::slider, format, std::optional{own});
  return restored ? std::optional{own} : asked;
}

}  // namespace

void physics_panel(const Status& status, const ViewStatus&, Requests& out) {
  if (!section("physics", "Physics", true)) return;
  const Law &law = status.law, &own = status.scene_physics.law;
  std::vector<IntegratorInfo> known;
  for (const IntegratorInfo* integrator : integrators()) known.push_back(*integrator);
  if (const auto* asked =
          choose<IntegratorInfo>({"integrator", "Integrator", "The method that advances the bodies by one step."},
                                 status.integrator_id, status.scene_physics.integrator_id, known)) {
    out.push_back(SelectIntegrator{asked->id});
  }
  if (const auto* asked = choose<LawInfo>({"law", "Law", "The force between two bodies."}, law_info(law.id).id,
                                          law_info(own.id).id, laws())) {
    out.push_back(SelectLaw{asked->id});
  }
  if (const auto dt =
          number<SetTimeStep>({"dt", "Time step", "dt of one step, in units of G = 1. Ctrl-click to type a value."},
                              "%.5g", status.time_step, status.scene_physics.time_step)) {
    out.push_back(SetTimeStep{*dt});
  }
  if (status.block_steps) {
    if (const auto eta = number<SetEta>(
            {"eta", "Accuracy", find_integrator(status.integrator_id).needs_jerks ? eta_of_hermite : eta_of_leapfrog},
            "%.4g", status.eta, status.scene_physics.eta)) {
      out.push_back(SetEta{*eta});
    }
    levels_rows(status);
  }
  if (const auto* asked =
          choose<DigitsInfo>({"digits", "Digits", "What is kept of positions and velocities from step to step."},
                             word_of(status.digits), word_of(status.scene_physics.digits), all_digits)) {
    out.push_back(SetDigits{asked->digits});
  }
  if (const auto softening = number<SetSoftening>(
          {"softening", "Softening", "\u03b5, a length: forces stop growing below it. Ctrl-click to type a value."},
          "%.4g", law.softening, own.softening)) {
    out.push_back(SetSoftening{*softening});
  }
  if (law.id == LawId::attract_repel) {
    if (const auto repulsion = number<SetRepulsion>(
            {"repulsion", "Repulsion",
             "H, a length squared: the strength of the repelling part. Ctrl-click to type a value."},
            "%.5g", law.repulsion, own.repulsion)) {
      out.push_back(SetRepulsion{*repulsion});
    }
    if (const auto drag =
            number<SetDrag>({"drag", "Drag", "D, mass per time: slows bodies down. Ctrl-click to type a value."},
                            "%.7g", law.drag, own.drag)) {
      out.push_back(SetDrag{*drag});
    }
  }
  row_label("Steps/frame", "Steps per frame. Ctrl-click to type a value.");
  if (const auto asked = log_slider("steps-per-frame", status.steps_per_frame, SetStepsPerFrame::range, "%d")) {
    out.push_back(SetStepsPerFrame{*asked});
  }
}

}  // namespace orrery
