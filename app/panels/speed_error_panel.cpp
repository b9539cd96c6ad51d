#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/lab/result_plots.h"
#include "app/panels/kit/format.h"
#include "app/panels/kit/imgui_versions.h"
#include "app/panels/kit/plots.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "app/panels/shown_words.h"
#include "app/ui_state/window_commands.h"

namespace orrery {
namespace {

using theme::em;

constexpr PlotInk of_cpu = PlotInk::warn, of_cuda = PlotInk::accent;

PlotInk ink_of(const Result& row, std::span<const KernelPtr> kernels) {
  const KernelInfo* kernel = known_kernel(kernels, row.kernel_id);
  return !kernel ? PlotInk::dim : kernel->backend == Backend::cpu ? of_cpu : of_cuda;
}

/// Results with `count` bodies are highlighted, and those on their front have names.
Plot plot_of(const Status& status, const ViewStatus& view, int count) {
  std::vector<PlotMark> marks;
  for (std::size_t i = 0; i < view.results.size(); ++i) {
    const Result& row = view.results[i];
    std::optional<PlotMark> mark = speed_error_mark(row);
    if (!mark) continue;
    mark->row = static_cast<int>(i);
    mark->ink = ink_of(row, view.kernels);
    mark->faint = row.count != count;
    mark->ring = is_present(row, status);
    marks.push_back(*mark);
  }
  Plot plot = speed_error_plot(std::move(marks));
  for (PlotMark& mark : plot.marks) {
    if (mark.front) mark.label = view.results[static_cast<std::size_t>(mark.row)].kernel_id;
  }
  if (plot.marks.empty()) plot.remark = "No error has been measured yet.";
  return plot;
}

void draw_results(const Status& status, const ViewStatus& view, int count, ImVec2 size, Requests& out) {
  const PlotUse use = draw_plot("dot", plot_of(status, view, count), size);
  if (use.hovered) {
    const Result& row = view.results[static_cast<std::size_t>(*use.hovered)];
    show_tooltip(fmt::format("{}  {}", kernel_words(row), row.settings),
                 fmt::format("{}\n{} per step, {}{}\nLatest error: median {}, p99 {}, max {}\n{}", system_words(row),
                             format_ms(row.step_ms.median), format_rate(row.interactions_per_s, "interactions/s"),
                             row.swept ? ", by a sweep" : "", format_error(row.error->median),
                             format_error(row.error->p99), format_error(row.error->max), return_words(row, status)));
  }
  if (use.clicked) return_to(view.results[static_cast<std::size_t>(*use.clicked)], status, out);
}

void count_choice(const Status& status, const ViewStatus& view, LabState& lab) {
  std::set<int> counts;
  for (const Result& row : view.results) counts.insert(row.count);
  row_label("Bodies", "Results with this number are highlighted. The Pareto front is theirs.");
  const std::string present = fmt::format("present: {}", format_count(status.count));
  const std::string chosen = lab.plotted_count > 0 ? format_count(lab.plotted_count) : present;
  if (!begin_combo("plotted", chosen)) return;
  if (ImGui::Selectable(present.c_str(), lab.plotted_count == 0)) lab.plotted_count = 0;
  ui_mark("plotted", "present");
  for (const int count : counts) {
    if (ImGui::Selectable(format_count(count).c_str(), lab.plotted_count == count)) lab.plotted_count = count;
    ui_mark("plotted", fmt::format_int(count).c_str());
  }
  ImGui::EndCombo();
}

void legend(const ViewStatus& view) {
  legend_entry(of_cuda, "CUDA");
  ImGui::SameLine(0, em(0.9f));
  legend_entry(of_cpu, "CPU");
  ImGui::SameLine(0, em(0.9f));
  legend_entry(PlotInk::good, "Pareto front");
  tooltip("No other run is both faster and more accurate than one of these.");
  const auto hidden = std::ranges::count_if(view.results, [](const Result& row) { return !speed_error_mark(row); });
  if (hidden > 0) {
    wrapped_text(fmt::format("Not shown: {} of {}, whose error is not known.", format_count(hidden),
                             counted(std::ssize(view.results), "result")),
                 theme::dim, theme::Font::small);
  }
}

void probe_choice(const ViewStatus& view, Requests& out) {
  const Diagnostics& now = view.diagnostics;
  const auto name = [](int sample) { return sample > 0 ? format_count(sample) : std::string{"automatic"}; };
  row_label("Compare",
            "Number of bodies whose forces are compared with sums in double precision while the system runs. "
            "Automatic: as many as take at most 2 % of the time.");
  const bool open = begin_combo("probe", now.probe ? name(now.sample).c_str() : "off");
  if (!open) return;
  if (ImGui::Selectable("off", !now.probe) && now.probe) out.push_back(SetDiagnostics{.probe = false});
  ui_mark("probe", "off");
  const auto offer = [&](int sample, const char* mark) {
    const bool chosen = now.probe && now.sample == sample;
    if (ImGui::Selectable(name(sample).c_str(), chosen) && !chosen) {
      out.push_back(SetDiagnostics{.probe = true, .sample = sample});
    }
    ui_mark("probe", mark);
  };
  offer(0, "automatic");
  for (const int sample : probe_samples) offer(sample, fmt::format_int(sample).c_str());
  ImGui::EndCombo();
}

void speed_error_content(const Status& status, const ViewStatus& view, PanelState& state, float height, Requests& out) {
  const float room = ImGui::GetContentRegionAvail().x, beside = em(15.5f);
  const bool wide = room >= em(34);
  const int count = state.lab.plotted_count > 0 ? state.lab.plotted_count : status.count;
  draw_results(status, view, count, {wide ? room - beside - em(0.8f) : room, height}, out);
  if (wide) ImGui::SameLine(0, em(0.8f));
  ImGui::BeginChild("beside the plot", {0, wide ? height : em(7)});
  count_choice(status, view, state.lab);
  probe_choice(view, out);
  ImGui::Dummy({0, em(0.2f)});
  legend(view);
  ImGui::EndChild();
}

}  // namespace

const Tab speed_error_tab{"Speed", "Speed and error of every run that you tried.", speed_error_content};

}  // namespace orrery
