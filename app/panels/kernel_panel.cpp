#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/lab/force_promise.h"
#include "app/panels/kit/format.h"
#include "app/panels/kit/plots.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "app/panels/shown_words.h"
#include "app/ui_state/overlays_commands.h"
#include "compute/integrators/integrator.h"

namespace orrery {
namespace {

using theme::em;

/// Returns why the kernel cannot be chosen now; empty if it can.
std::string hindrance(const KernelInfo& kernel, const Status& status, const BackendStatus& backend) {
  if (!backend.available) return fmt::format("Not available: {}", backend.reason);
  const bool needs_jerks = find_integrator(status.integrator_id).needs_jerks;
  return needs_jerks && !kernel.gives_jerks ? "It gives no jerks, which the integrator needs." : "";
}

void kernel_tooltip(const KernelInfo& kernel, const std::string& hindrance) {
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return;
  tooltip(kernel.notes, fmt::format("{}\n{}", hindrance.empty() ? kernel.id : hindrance, kernel.source));
}

/// Returns "auto: cuda-symmetric, 8 bodies per lane". The part after the comma is what the kernel chose itself; it is
/// left out if a setting was changed.
std::string automatic_name(const Status& status) {
  if (status.choosing) return status.auto_choice->name;
  const bool has_settings = status.chosen.empty() || !status.settings.changes().empty();
  return status.auto_choice->name + (has_settings ? "" : ", " + status.chosen);
}

std::string kernel_name(const Status& status) {
  if (status.auto_choice) return automatic_name(status);
  return status.kernel ? status.kernel->title : status.kernel_id;
}

/// Returns the name without settings, which are shown below it.
std::string brief_name(const Status& status) {
  return status.auto_choice && !status.choosing ? "auto: " + status.kernel_id : std::string{};
}

void automatic_tooltip(const Status& status) {
  tooltip(
      "The fastest kernel on this machine that is accurate enough for these bodies and this law. A short "
      "tuning run finds it.",
      status.auto_choice ? automatic_name(status) + '\n' + status.auto_choice->how : "");
}

void automatic_choice(const Status& status, Requests& out) {
  const bool current = status.auto_choice.has_value();
  if (ImGui::Selectable("Auto", current) && !current) out.push_back(SelectKernel{auto_kernel});
  ui_mark("kernel", auto_kernel);
  automatic_tooltip(status);
}

void kernels_of(Backend backend, const Status& status, const ViewStatus& view, Requests& out) {
  const BackendStatus& machine = view.backend(backend);
  ImGui::Dummy({0, em(0.1f)});
  text(backend == Backend::cuda ? "CUDA" : "CPU", theme::dim, theme::Font::small);
  ImGui::SameLine();
  text(machine.available ? machine.device : "not available here", machine.available ? theme::dim : theme::warn,
       theme::Font::small);
  tooltip(machine.reason);
  for (const KernelPtr& kernel : view.kernels) {
    if (kernel->backend != backend) continue;
    const std::string hindered = hindrance(*kernel, status, machine);
    const bool current = status.kernel_id == kernel->id && !status.auto_choice;
    ImGui::BeginDisabled(!hindered.empty());
    if (ImGui::Selectable(kernel->title, current) && !current) out.push_back(SelectKernel{kernel->id});
    ui_mark("kernel", kernel->id);
    kernel_tooltip(*kernel, hindered);
    ImGui::EndDisabled();
  }
}

void kernel_choice(const KernelInfo* current, const Status& status, const ViewStatus& view, Requests& out) {
  row_label("Kernel", "The method that computes all accelerations.");
  const bool open = begin_combo("kernel", kernel_name(status), ImGuiComboFlags_HeightLargest, brief_name(status));
  if (open) {
    automatic_choice(status, out);
    kernels_of(Backend::cpu, status, view, out);
    kernels_of(Backend::cuda, status, view, out);
    ImGui::EndCombo();
  } else if (status.auto_choice) {
    automatic_tooltip(status);
  } else if (current) {
    kernel_tooltip(*current, hindrance(*current, status, view.backend(current->backend)));
  }
}

using Values = std::span<const char* const>;

/// Returns the padding of each button if all values are side by side in `width`; < 0 if they do not fit.
float padding_per_button(Values values, float width) {
  const float count = static_cast<float>(values.size());
  float words = count - 1;  // starts with the gaps between the buttons
  for (const char* value : values) words += ImGui::CalcTextSize(value).x;
  return (width - words) / count;
}

/// Draws one row of adjacent buttons, with the current value highlighted. Returns the pressed value, or null.
const char* value_buttons(const std::string& mark, Values values, std::string_view current, float room) {
  const char* pressed = nullptr;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {0, ImGui::GetStyle().FramePadding.y});
  ImGui::PushStyleVar(ImGuiStyleVar_FrameRounding, em(0.2f));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const char* value = values[i];
    const ImVec2 size{ImGui::CalcTextSize(value).x + room, 0};
    if (i > 0) ImGui::SameLine(0, 1);
    const bool lit = current == value;
    if (lit ? accent_button(value, size) : ImGui::Button(value, size)) pressed = value;
    ui_mark(mark, value);
  }
  ImGui::PopStyleVar(2);
  return pressed;
}

/// Draws the items of an open list. Returns the value that was picked, or null.
const char* value_items(const std::string& mark, Values values, const std::string& current) {
  const char* pressed = nullptr;
  for (const char* value : values) {
    if (ImGui::Selectable(value, current == value)) pressed = value;
    ui_mark(mark, value);
  }
  return pressed;
}

const char* value_combo(const std::string& mark, Values values, const std::string& current) {
  if (!begin_combo(mark.c_str(), current, ImGuiComboFlags_HeightLargest)) return nullptr;
  const char* const pressed = value_items(mark, values, current);
  ImGui::EndCombo();
  return pressed;
}

/// Draws a setting as buttons if they fit, else as a list. Returns the picked value if it is new, else null.
const char* value_row(const char* name, const char* notes, const std::string& mark, Values values,
                      const std::string& current) {
  ImGui::PushID(name);
  row_label(name, notes);
  const float room = padding_per_button(values, ImGui::GetContentRegionAvail().x);
  const bool buttons = room >= em(0.3f);
  const char* pressed = buttons ? value_buttons(mark, values, current, room) : value_combo(mark, values, current);
  ImGui::PopID();
  return pressed && current != pressed ? pressed : nullptr;
}

/// Draws a list of the setting's recommended values, with a field above it for any other number.
void number_row(const Tunable& tunable, const std::string& mark, Values values, const std::string& present,
                std::string& typed, Requests& out) {
  ImGui::PushID(tunable.name);
  row_label(tunable.name, tunable.notes);
  if (begin_combo(mark.c_str(), present, ImGuiComboFlags_HeightLargest)) {
    if (ImGui::IsWindowAppearing()) typed.clear();
    const bool refused = !tunable.allows(typed);
    ImGui::SetNextItemWidth(em(9));
    if (text_field((mark + ".other").c_str(), "another number", typed, refused) && !refused) {
      out.push_back(SetTunable{tunable.name, *tunable.allowed(typed)});
      ImGui::CloseCurrentPopup();
    }
    text(tunable.numbers_text(), theme::dim, theme::Font::small);
    if (const char* picked = value_items(mark, values, present); picked && present != picked) {
      out.push_back(SetTunable{tunable.name, picked});
    }
    ImGui::EndCombo();
  }
  ImGui::PopID();
}

/// Draws the accuracy of `auto`. Any other value from a script or the command line is added to the row.
void accuracy_row(const Status& status, Requests& out) {
  constexpr std::array<std::pair<const char*, double>, 6> usual{
      {{"exact", 0}, {"1e-6", 1e-6}, {"1e-5", 1e-5}, {"1e-4", 1e-4}, {"5e-4", 5e-4}, {"1e-3", 1e-3}}};
  const auto text_of = [&](double accuracy) {
    const auto found = std::ranges::find(usual, accuracy, &std::pair<const char*, double>::second);
    return found != usual.end() ? found->first : fmt::format("{:g}", accuracy);
  };
  const std::string current = text_of(status.accuracy);
  std::vector<const char*> values;
  for (const auto& [text, accuracy] : usual) values.push_back(text);
  if (std::ranges::find(values, current) == values.end()) values.push_back(current.c_str());
  const char* picked = value_row(
      "Accuracy",
      "The force error |da|/|a| that Auto allows: a median of at most this, and a p99 of at most 5 times this. "
      "With a few thousand bodies or more, a tree may be the fastest. Exact allows only direct sums of full fp32 "
      "accuracy.",
      "accuracy", values, current);
  const auto found = std::ranges::find_if(usual, [&](const auto& each) { return each.first == picked; });
  if (found != usual.end()) out.push_back(SetAccuracy{found->second});
}

void tunable_row(const Tunable& tunable, const Status& status, PanelState& state, Requests& out) {
  if (!status.settings.has(tunable.name)) return;
  const std::string& present = status.settings.text(tunable.name);
  const std::vector<std::string> texts = tunable.values_with(present);
  std::vector<const char*> values;
  for (const std::string& value : texts) values.push_back(value.c_str());
  const std::string mark = fmt::format("tunable.{}", tunable.name);
  if (tunable.numbers) {
    number_row(tunable, mark, values, present, state.setting, out);
  } else if (const char* picked = value_row(tunable.name, tunable.notes, mark, values, present)) {
    out.push_back(SetTunable{tunable.name, picked});
  }
}

/// Names the kernel that is being compiled or, if the kernel stays the same, the settings that will change.
std::string compiling_words(const KernelInSight& next, const Status& status) {
  if (status.kernel_id != next.kernel->id) return fmt::format("compiling {} ...", next.kernel->title);
  std::string changes;
  for (const auto& [name, value] : next.settings.values()) {
    if (status.settings.text_or_none(name) != value) changes += fmt::format(" {}={}", name, value);
  }
  if (changes.empty()) changes = fmt::format(" version {}", next.kernel->file_version);
  return fmt::format("compiling{} ...", changes);
}

void compiling_row(const Status& status) {
  if (!status.preparing) return;
  text(compiling_words(*status.preparing, status), theme::warn, theme::Font::small);
  ui_mark("kernel.compiling");
  tooltip("It is compiled beside the steps. The present kernel runs with its settings until then.");
}

/// Names the setting that has no effect under the current force law.
void law_row(const Status& status) {
  const std::string note = law_note(*status.kernel, status.settings, status.law.id);
  if (note.empty()) return;
  wrapped_text(note, theme::warn, theme::Font::small);
  ui_mark("kernel.law_note");
}

/// Returns the text beside the section's title: what the kernel chose itself or, while the section is folded, the
/// kernel.
std::string remark_of(const Status& status, float room) {
  const bool open = is_open("kernel", true);
  std::string remark = open ? status.chosen : kernel_name(status);
  const std::string brief = open ? std::string{} : brief_name(status);
  if (theme::text_width(remark, theme::Font::small) > room && !brief.empty()) remark = brief;
  ImGui::PushFont(theme::font(theme::Font::small));
  remark = shortened(remark, room);
  ImGui::PopFont();
  return remark;
}

}  // namespace

void kernel_panel(const Status& status, const ViewStatus& view, PanelState& state, Requests& out) {
  if (!section("kernel", "Kernel", true, remark_of(status, ImGui::GetContentRegionAvail().x - em(6)))) return;
  const KernelInfo* current = status.kernel.get();
  kernel_choice(current, status, view, out);
  compiling_row(status);
  if (status.auto_choice) accuracy_row(status, out);
  if (!current || status.choosing) return;
  constexpr std::string_view first = "block";  // shown first, as users try this setting first
  for (const Tunable& tunable : current->tunables) {
    if (tunable.name == first) tunable_row(tunable, status, state, out);
  }
  for (const Tunable& tunable : current->tunables) {
    if (tunable.name != first) tunable_row(tunable, status, state, out);
  }
  law_row(status);
}
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

/// Names the evaluation whose phases are shown, as the step time above may belong to other evaluations.
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
