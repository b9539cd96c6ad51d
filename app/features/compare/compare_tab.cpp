#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "app/features/compare/compare.h"
#include "app/features/workshop/workshop.h"
#include "app/panels/kit/format.h"
#include "app/panels/kit/plots.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "compute/integrators/integrator.h"
#include "compute/kernels/kernel.h"

namespace orrery {
namespace {

using theme::em;
using SampleValue = std::optional<double> (*)(const DivergenceSample&);

struct DistanceCurve {
  const char* name;
  PlotInk ink;
  SampleValue value;
};

constexpr std::array distance_curves{
    DistanceCurve{"rms", PlotInk::violet, [](const DivergenceSample& s) { return std::optional{s.distances.rms}; }},
    DistanceCurve{"median", PlotInk::good, [](const DivergenceSample& s) { return std::optional{s.distances.median}; }},
};

constexpr std::array energy_curves{
    DistanceCurve{"A", PlotInk::run_a, [](const DivergenceSample& s) { return s.energy_error[0]; }},
    DistanceCurve{"B", PlotInk::run_b, [](const DivergenceSample& s) { return s.energy_error[1]; }},
};

struct ComparisonChart {
  const char *id, *title, *notes;
  std::array<DistanceCurve, 2> curves;
};

constexpr ComparisonChart distance_chart{
    "compare.distance", "distance of A from B over time",
    "The distance of each body of A from the same body of B, in units of length: the root of the mean square, and the "
    "median. The line is the fitted exponential.",
    distance_curves};

constexpr ComparisonChart energy_chart{
    "compare.energy", "energy error over time",
    "|E - E0| / |E0| of both runs since they had the same state. Up to 32,768 bodies.", energy_curves};

Plot plot_of(const ComparisonChart& chart, const CompareStatus& compare) {
  Plot plot{.across = {.from_zero = true, .tight = true},
            .up = {.title = chart.title, .logarithmic = true, .label = scientific}};
  for (const DistanceCurve& curve : chart.curves) {
    PlotLine line{.name = curve.name, .ink = curve.ink};
    for (const DivergenceSample& sample : compare.samples) {
      const double value = curve.value(sample).value_or(0);
      if (value > 0 && std::isfinite(value)) line.points.push_back({sample.time, value});
    }
    plot.lines.push_back(std::move(line));
  }
  plot.fit();
  if (compare.time > 0) plot.across.high = compare.time;  // the same for all charts
  const Growth& growth = compare.growth;
  if (&chart == &distance_chart && growth.kind == Growth::Kind::exponential) {
    const auto at = [&](double time) {
      return PlotPoint{time, growth.at_zero * std::exp(time / growth.e_folding_time)};
    };
    plot.lines.push_back(
        {.ink = PlotInk::text, .stroke = PlotStroke::limit, .points = {at(growth.begin), at(growth.end)}});
  }
  return plot;
}

void draw_chart(const ComparisonChart& chart, const CompareStatus& compare, ImVec2 size) {
  const PlotUse use = draw_plot(fmt::format("chart.{}", chart.id).c_str(), plot_of(chart, compare), size);
  if (!use.x || compare.samples.empty()) return tooltip(chart.notes);
  const DivergenceSample& sample = *std::ranges::min_element(
      compare.samples, {}, [&](const DivergenceSample& s) { return std::abs(s.time - *use.x); });
  std::string words =
      fmt::format("after {:.4g} units of time, step {} of A", sample.time, format_count(sample.steps[0]));
  for (const DistanceCurve& curve : chart.curves) {
    const std::optional<double> value = curve.value(sample);
    words += fmt::format("\n{} {}", curve.name, value ? format_error(*value) : unknown);
  }
  tooltip(chart.notes, words);
}

template <class Value>
struct Choice {
  Value value;
  const char* title;
};

constexpr std::array time_steps{Choice<double>{1, "as A"},  Choice<double>{0.1, "1/10"},  Choice<double>{0.25, "1/4"},
                                Choice<double>{0.5, "1/2"}, Choice<double>{2, "2 times"}, Choice<double>{4, "4 times"}};

constexpr double small_nudge = 1e-6;

constexpr std::array nudges{Choice<double>{0, "none"}, Choice<double>{small_nudge, "1e-6"},
                            Choice<double>{1e-5, "1e-5"}, Choice<double>{1e-4, "1e-4"}, Choice<double>{1e-3, "1e-3"}};

template <class Choices, class Value>
void choice_row(const char* id, const char* label, const char* notes, const Choices& choices, Value& chosen) {
  row_label(label, notes);
  const auto shown = std::ranges::find(choices, chosen, &Choice<Value>::value);
  const std::string other = fmt::format("{:.3}", chosen);  // a value that a script set, not among the choices
  if (!begin_combo(id, shown != choices.end() ? shown->title : other.c_str())) return;
  for (const auto& choice : choices) {
    if (ImGui::Selectable(choice.title, choice.value == chosen)) chosen = choice.value;
    ui_mark(id, choice.title);
  }
  ImGui::EndCombo();
}

/// Returns the kernel with this versioned_id(); null if there is none, or if a newer version has replaced it.
const KernelInfo* present_kernel(const ViewStatus& view, const std::string& id) {
  const auto found = std::ranges::find(view.kernels, id, [](const KernelPtr& kernel) { return versioned_id(*kernel); });
  return found == view.kernels.end() ? nullptr : found->get();
}

/// Returns the kernel's title, with the version if it is from a kernel file: "My kernel v3".
std::string title_of(const KernelInfo& kernel) {
  return kernel.file_version > 0 ? fmt::format("{} v{}", kernel.title, kernel.file_version) : kernel.title;
}

/// Lists the versions of the open kernel file that newer ones have replaced, to choose from.
void earlier_versions(const ViewStatus& view, CompareDraft& draft) {
  for (const WorkshopVersion& version : view.features.of<WorkshopStatus>().versions) {
    if (version.kernel.empty() || present_kernel(view, version.kernel)) continue;
    if (ImGui::Selectable(version.kernel.c_str(), draft.kernel == version.kernel)) draft.kernel = version.kernel;
    ui_mark("compare.kernel", version.kernel);
    tooltip("An earlier version of the kernel file.", version.time);
  }
}

void kernel_row(const ViewStatus& view, CompareDraft& draft) {
  row_label("Kernel", "The kernel of B.");
  const KernelInfo* const present = present_kernel(view, draft.kernel);
  const std::string shown = present ? title_of(*present) : draft.kernel.empty() ? "as A" : draft.kernel;
  if (!begin_combo("compare.kernel", shown.c_str(), ImGuiComboFlags_HeightLargest)) return;
  if (ImGui::Selectable("as A", draft.kernel.empty())) draft.kernel.clear();
  for (const KernelPtr& kernel : view.kernels) {
    const bool available = view.backend(kernel->backend).available;
    const std::string id = versioned_id(*kernel);
    if (ImGui::Selectable(title_of(*kernel).c_str(), draft.kernel == id,
                          available ? 0 : ImGuiSelectableFlags_Disabled)) {
      draft.kernel = id;
    }
    ui_mark("compare.kernel", id);
    tooltip(kernel->notes, available ? id : "Not available here.");
  }
  earlier_versions(view, draft);
  ImGui::EndCombo();
}

void integrator_row(CompareDraft& draft) {
  std::vector<Choice<std::string>> choices{{"", "as A"}};
  for (const IntegratorInfo* integrator : integrators()) choices.push_back({integrator->id, integrator->title});
  choice_row("compare.integrator", "Integrator", "The integrator of B.", choices, draft.integrator);
}

void nudge_row(double present, CompareDraft& draft) {
  double chosen = present;
  choice_row("compare.nudge", "Nudge",
             "Moves each body of B at the start by so much, in a random direction. If nothing else differs, 1e-6.",
             nudges, chosen);
  if (chosen != present) draft.nudge = chosen;
}

/// Returns the settings as text: "block=256 unroll=8".
std::string text_of(const Settings::Values& settings) {
  std::string text;
  for (const auto& [name, value] : settings) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

/// Copies a running comparison into the draft, if it did not begin in this tab but in a script, for example.
void follow_comparison(const Status& status, const ViewStatus& view, CompareDraft& draft) {
  const CompareWith& with = view.features.of<CompareStatus>().with;
  if (!view.features.of<CompareStatus>().active || with == draft.running) return;
  const KernelInfo* const kernel = present_kernel(view, *with.kernel);
  draft = {.running = with,
           .kernel = *with.kernel,
           .settings = kernel ? Settings{*kernel, with.settings}.changes() : text_of(with.settings),
           .integrator = with.integrator,
           .time_step_factor = with.time_step ? *with.time_step / status.time_step : 1,
           .nudge = with.nudge};
}

/// Returns whether B equals A except for its nudge. Without a nudge, both runs would stay equal, and the plots empty.
bool is_as_a(const CompareWith& with, const Status& status) {
  if (!status.kernel || with.kernel != versioned_id(*status.kernel) || with.time_step) return false;
  Settings::Values settings = Settings{*status.kernel}.values();
  for (const auto& [name, value] : with.settings) settings[name] = value;
  return settings == status.settings.values() && (with.integrator.empty() || with.integrator == status.integrator_id);
}

CompareWith asked_for(const CompareDraft& draft, const Status& status) {
  CompareWith with{.kernel = !draft.kernel.empty() ? draft.kernel
                             : status.kernel       ? versioned_id(*status.kernel)
                                                   : status.kernel_id,
                   .settings = draft.kernel.empty() ? status.settings.values() : Settings::Values{},
                   .integrator = draft.integrator,
                   .time_step = {}};
  if (draft.time_step_factor != 1) with.time_step = static_cast<float>(draft.time_step_factor * status.time_step);
  std::string typed = draft.settings;
  std::ranges::replace(typed, ',', ' ');
  for (const auto& [name, value] : Settings::values_of(typed)) with.settings[name] = value;
  with.nudge = draft.nudge.value_or(is_as_a(with, status) ? small_nudge : 0);
  return with;
}

void layout_row(const CompareStatus& compare, Requests& out) {
  row_label("Show", "The two runs side by side, or one over the other in two colours.");
  const auto choice = [&](const char* label, CompareLayout layout) {
    if (ImGui::RadioButton(label, compare.layout == layout)) out.push_back(SetCompareLayout{layout});
    ui_mark("compare.layout", label);
  };
  choice("side", CompareLayout::side);
  ImGui::SameLine();
  choice("over", CompareLayout::over);
}

void buttons(const Status& status, const ViewStatus& view, CompareDraft& draft, Requests& out) {
  const bool active = view.features.of<CompareStatus>().active;
  const float room = ImGui::GetContentRegionAvail().x, gap = ImGui::GetStyle().ItemSpacing.x;
  const ImVec2 size{active ? (room - gap) / 2 : room, 0};
  ImGui::BeginDisabled(view.measuring());
  if (accent_button(active ? "Start anew" : "Compare from here", size)) {
    draft.running = asked_for(draft, status);  // follow_comparison() then leaves the draft as chosen
    out.push_back(draft.running);
  }
  ui_mark("compare.start");
  ImGui::EndDisabled();
  tooltip("B starts from the present state of A. Both then run to equal times.",
          view.measuring() ? machine_in_use(view) : std::string{});
  if (!active) return;
  ImGui::SameLine();
  if (ImGui::Button("End", size)) out.push_back(CompareWith{});
  ui_mark("compare.end");
}

void second_run(const Status& status, const ViewStatus& view, CompareDraft& draft, Requests& out) {
  follow_comparison(status, view, draft);
  kernel_row(view, draft);
  row_label("Settings",
            "Settings of the kernel of B, such as theta=0.5 leaf=8. Others have their initial values, or those of A.");
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
  (void)text_field("compare.settings", "initial", draft.settings);
  integrator_row(draft);
  choice_row("compare.dt", "dt", "The time step of B. One time step must be a whole multiple of the other.", time_steps,
             draft.time_step_factor);
  nudge_row(asked_for(draft, status).nudge, draft);
  layout_row(view.features.of<CompareStatus>(), out);
  buttons(status, view, draft, out);
}

/// Draws the text that explains a comparison before it begins.
void explanation(const Status& status, const CompareDraft& draft) {
  const CompareWith with = asked_for(draft, status);
  if (is_as_a(with, status) && with.nudge > 0) {
    wrapped_text(
        "Choose what differs in B: a kernel, a setting, the integrator or the time step. Nothing differs yet, so B "
        "starts with a small nudge, and the plots show how fast close orbits part.",
        theme::text);
    ui_mark("compare.as-a");
  }
  wrapped_text(
      "B runs the same bodies a second time from their present state, beside A, the run of the window. Both have equal "
      "times. The distance of each body from itself in the other run shows how rounding, a kernel's error, the "
      "integrator or the time step changes the orbits; colour the bodies by it under Appearance.",
      theme::dim);
}

void findings(const CompareStatus& compare) {
  for (const std::size_t which : {0, 1}) {
    const ComparedRun& run = compare.runs[which];
    text(which == 0 ? "A" : "B", theme::run_colours[which], theme::Font::strong);
    ImGui::SameLine();
    const std::string speed = run.step_ms > 0 ? fmt::format("{} per step, {}", format_ms(run.step_ms),
                                                            format_rate(run.interactions_per_s, "/s"))
                                              : std::string{unknown};
    wrapped_text(fmt::format("{}: {}", run.name, speed), theme::text, theme::Font::small);
  }
  const bool known = compare.growth.kind == Growth::Kind::exponential;
  if (known) text(fmt::format("e-folding time {:.3g}", compare.growth.e_folding_time), theme::good);
  ui_mark("compare.growth");
  wrapped_text(growth_words(compare.growth), theme::dim, theme::Font::small);
}

void compare_content(const Status& status, const ViewStatus& view, PanelState& state, float height, Requests& out) {
  const CompareStatus& compare = view.features.of<CompareStatus>();
  const float room = ImGui::GetContentRegionAvail().x, gap = em(0.8f);
  const bool wide = room >= em(46);
  const float column = wide ? em(15) : room, rest = wide ? (room - 2 * column - 3 * gap) / 2 : room;
  const ImVec2 chart_size{rest, wide ? std::max(height, em(11)) : em(8)};
  const auto next_column = [&] {
    if (wide) ImGui::SameLine(0, gap);
  };
  ImGui::BeginChild("second run", {column, wide ? chart_size.y : em(13)});
  second_run(status, view, state.lab.drafts.of<CompareDraft>(), out);
  ImGui::EndChild();
  if (!compare.active) {
    next_column();
    ImGui::BeginChild("explanation", {wide ? room - column - gap : room, wide ? chart_size.y : em(6)});
    explanation(status, state.lab.drafts.of<CompareDraft>());
    ImGui::EndChild();
    return;
  }
  next_column();
  ImGui::BeginChild("findings", {column, wide ? chart_size.y : em(9)});
  findings(compare);
  ImGui::EndChild();
  next_column();
  draw_chart(distance_chart, compare, chart_size);
  next_column();
  draw_chart(energy_chart, compare, chart_size);
}

/// Returns a caption that fits into `width` pixels. Shortens the name; the time is complete or left out.
std::string caption_of(const ComparedRun& run, float width) {
  const std::string time = run.step_ms > 0 ? fmt::format("   {} per step", format_ms(run.step_ms)) : std::string{};
  const float room = width - ImGui::CalcTextSize(time.c_str()).x;
  return room < em(5) ? shortened(run.name, width) : shortened(run.name, room) + time;
}

/// Draws "A" or "B" in its colour, then the run, in at most `most` pixels. Returns the y coordinate of the lower end.
float caption(std::size_t which, ImVec2 at, float most, const ComparedRun& run) {
  ImGui::SetNextWindowPos(at);
  ImGui::SetNextWindowSizeConstraints({0, 0}, {std::max(most, em(4)), FLT_MAX});
  if (ImGui::Begin(which == 0 ? "Run A" : "Run B", nullptr, base_window | ImGuiWindowFlags_AlwaysAutoResize)) {
    text(which == 0 ? "A" : "B", theme::run_colours[which], theme::Font::strong);
    ui_mark("compare.caption", which == 0 ? "A" : "B");
    ImGui::SameLine();
    text(caption_of(run, most - em(3.2f)), theme::text);
  }
  const float end = ImGui::GetWindowPos().y + ImGui::GetWindowSize().y;
  ImGui::End();
  return end;
}

/// Draws the captions of A and B over the picture. Returns the y coordinate of their lower end.
float compare_captions(const ViewStatus& view, const PanelState& state) {
  const CompareStatus& compare = view.features.of<CompareStatus>();
  if (!compare.active) return 0;
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const bool side = compare.layout == CompareLayout::side;
  const float margin = em(0.75f), top = stage_top(view);
  const float left = compare.left * display.x, split = side ? compare.split * display.x : display.x;
  const float column = side_column_width(view) + margin;
  if (side) {
    ImGui::GetBackgroundDrawList()->AddLine({split, 0}, {split, display.y - state.lab.covered}, theme::slate,
                                            em(0.08f));
  }
  const ImVec2 place_of_b = side ? ImVec2{split + margin, top} : ImVec2{column, top + em(2.2f)};
  const float end_of_b = caption(1, place_of_b, display.x - place_of_b.x - margin, compare.runs[1]);
  const float end_of_a = caption(0, {side ? left + margin : column, top}, split - left - 2 * margin, compare.runs[0]);
  return side ? end_of_a : end_of_b;
}

}  // namespace

const Tab compare_tab{"Compare", "Two runs from the same bodies, and how they diverge.", compare_content,
                      compare_captions};

}  // namespace orrery
