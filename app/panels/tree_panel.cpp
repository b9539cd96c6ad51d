#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "app/panels/kit/format.h"
#include "app/panels/kit/slider.h"
#include "app/panels/kit/time_bar.h"
#include "app/panels/kit/ui_mark.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "app/panels/variant.h"

namespace orrery {
namespace {

constexpr std::array<theme::Colour, 6> phase_colours{theme::cyan, theme::warn, theme::violet,
                                                     theme::good, theme::blue, theme::bad};

void number(const std::string& value, const char* caption, const char* notes, const std::string& more = {}) {
  ImGui::TableNextColumn();
  ImGui::BeginGroup();
  text(value, theme::text, theme::Font::strong);
  text(caption, theme::dim, theme::Font::small);
  ImGui::EndGroup();
  tooltip(notes, more);
}

void numbers(const HeldTimes& held, int count) {
  if (!ImGui::BeginTable("tree", 4)) return;
  const TreeReport& tree = *held.tree;
  const double interactions = static_cast<double>(tree.interactions), bodies = count;
  number(format_rate(interactions, ""), "interactions",
         "Interactions of the latest force evaluation, with bodies and with whole cells.",
         fmt::format("{}: {} of the pairs of a direct sum", format_count(tree.interactions),
                     format_percent(interactions / (bodies * bodies))));
  number(interactions_per_body(held, count), "per body", interactions_per_body_words);
  number(format_count(tree.cells), "cells", "Cells of the tree, including its leaves.");
  number(std::to_string(tree.depth), "deepest level",
         "The root has level 0. A cell with a single child may be left out, so a level may have no cells.");
  ImGui::EndTable();
}

/// Which evaluation the phases are of, if the step time above may be of others.
std::string phases_words(const TreeReport& tree, const StepTiming& step) {
  if (tree.phases_age > 0) return fmt::format("Tree, {} earlier", counted(tree.phases_age, "step"));
  if (step.steps > 1) return fmt::format("Tree, 1 of {}", counted(step.steps, "step"));
  return "Tree";
}

void phase_bar(const TreeReport& tree, const StepTiming& step) {
  std::vector<TimePart> parts;
  double total_ms = 0;
  for (const TreePhase& phase : tree.phases) {
    parts.push_back({phase.name, phase.ms, true, phase_colours[parts.size() % phase_colours.size()],
                     "One phase of a force evaluation."});
    total_ms += phase.ms;
  }
  time_head(phases_words(tree, step), parts.empty() ? unknown : format_ms(total_ms));
  time_bar("tree-time", parts, total_ms);
  tooltip("The phases of one force evaluation. On a GPU, the batches whose phases are timed are a sample.");
  time_legend("tree-phases", parts, /*columns=*/2);
}

void cells(int depth, const ShowTreeCells& now, Requests& out) {
  constexpr int every = CellRequest::every_level;
  ShowTreeCells edited = now;
  ImGui::Checkbox("Draw the cells", &edited.on);
  ui_mark("tree.cells");
  tooltip("Draws cells of the tree as boxes, from blue (large) to cyan (small). Read a few times per second.");
  if (edited.on) {
    row_label("Level", "The level whose cells are drawn; all: the larger cells of every level. 0 is the root.");
    const std::string shown = now.level == every ? "all" : "%d";
    filled_slider("##cells-level", edited.level, {every, std::max(depth, now.level)}, shown.c_str(),
                  ImGuiSliderFlags_AlwaysClamp);
    ui_mark("tree.level");
  }
  if (!(edited == now)) out.push_back(edited);
}

}  // namespace

const char* const interactions_per_body_words =
    "Interactions of the latest force evaluation, with other bodies and with whole cells: the average per body.";

std::string interactions_per_body(const HeldTimes& times, int count) {
  if (!times.tree || times.tree->interactions == 0) return unknown;
  return format_count(std::llround(static_cast<double>(times.tree->interactions) / count));
}

void tree_panel(const Status& status, const ViewStatus& view, const HeldTimes& held, Requests& out) {
  const KernelInfo* kernel = status.kernel.get();
  if (!kernel || !kernel->is_tree) return;
  if (!section("tree", "Tree", true)) return;
  const TreeReport report = held.tree.value_or(TreeReport{});
  if (held.tree) {
    numbers(held, status.count);
  } else {
    text("Known after the next step.", theme::dim, theme::Font::small);
  }
  phase_bar(report, held.step);
  cells(report.depth, view.overlays.cells, out);
  bool walk = view.overlays.walk.on;
  if (ImGui::Checkbox("Walk of the picked body", &walk)) out.push_back(ShowWalk{walk});
  ui_mark("tree.walk");
  tooltip(
      "Draws what the picked body meets in the tree: yellow cells count as a whole, the bodies in pink ones are met "
      "one by one.",
      "Neighbouring bodies walk together: it is the walk of its group.");
}

}  // namespace orrery
