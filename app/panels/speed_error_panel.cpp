#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "app/lab/statistics.h"
#include "app/panels/kit/format.h"
#include "app/panels/kit/plots.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "app/panels/shown_words.h"
#include "app/panels/tab.h"
#include "app/ui_state/window_commands.h"

namespace orrery {
namespace {

using theme::em;

constexpr theme::Colour of_cpu = theme::warn, of_cuda = theme::accent;

ImU32 colour_of(const Result& row, std::span<const KernelPtr> kernels) {
  const KernelInfo* kernel = known_kernel(kernels, row.kernel_id);
  return !kernel ? theme::dim : kernel->backend == Backend::cpu ? of_cpu : of_cuda;
}

/// Returns the pairs of bodies per second, with n^2 pairs per step for every kernel. Trees evaluate far fewer.
double speed_of(const Result& row) {
  const double bodies = row.count;
  return row.step_ms.median > 0 ? bodies * bodies / (row.step_ms.median * 1e-3) : 0;
}

bool can_be_shown(const Result& row) {
  return row.error && std::isfinite(row.error->median) && speed_of(row) > 0;
}

struct Plot {
  PlotArea area;
  DecadeAxis error, speed;
  int count;  ///< results with this number of bodies are highlighted

  ImVec2 at(const Result& row) const { return area.at(error.at(row.error->median), speed.at(speed_of(row))); }
};

Plot plot_of(const std::vector<Result>& results, const PlotArea& area, int count) {
  double least_error = DBL_MAX, most_error = 0, least_speed = DBL_MAX, most_speed = 0;
  for (const Result& row : results) {
    if (!can_be_shown(row)) continue;
    if (row.error->median > 0) least_error = std::min(least_error, row.error->median);
    most_error = std::max(most_error, row.error->median);
    least_speed = std::min(least_speed, speed_of(row));
    most_speed = std::max(most_speed, speed_of(row));
  }
  return {area, DecadeAxis::around(least_error, most_error), DecadeAxis::around(least_speed, most_speed), count};
}

/// Finds a place for `label` beside a dot, and stores it in `at`. Returns false if there is no room.
bool place_label(const Plot& plot, ImVec2 dot, const std::string& label, std::vector<ImVec4>& taken, ImVec2& at) {
  ImFont* const font = theme::font(theme::Font::small);
  const ImVec2 size = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, label.c_str());
  const bool left = dot.x + em(0.6f) + size.x > plot.area.high.x;
  const float below = std::min(dot.y + em(0.15f), plot.area.high.y - size.y);  // the front's line goes up from a dot
  at = {left ? dot.x - em(0.6f) - size.x : dot.x + em(0.6f), below};
  const ImVec4 box{at.x, at.y, at.x + size.x, at.y + size.y};
  const bool free = std::ranges::none_of(taken, [&](const ImVec4& other) {
    return box.x < other.z && other.x < box.z && box.y < other.w && other.y < box.w;
  });
  if (free) taken.push_back(box);
  return free;
}

/// Draws the Pareto front of the highlighted count: no other dot is both faster and at least as accurate.
void draw_front(const Plot& plot, const std::vector<Result>& results) {
  std::vector<SpeedError> points;
  std::vector<const Result*> rows;
  for (const Result& row : results) {
    if (row.count != plot.count || !can_be_shown(row)) continue;
    points.push_back({row.error->median, speed_of(row)});
    rows.push_back(&row);
  }
  const std::vector<std::size_t> front = pareto_front(points);
  if (front.empty()) return;
  std::vector<ImVec2> dots;
  std::vector<ImVec4> taken;
  for (const Result* row : rows) {
    const ImVec2 dot = plot.at(*row);
    const float r = dot_radius();
    taken.push_back({dot.x - r, dot.y - r, dot.x + r, dot.y + r});
  }
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  ImFont* const font = theme::font(theme::Font::small);
  for (const std::size_t i : front) {
    const ImVec2 dot = plot.at(*rows[i]);
    dots.push_back(dot);
    ImVec2 label;
    if (place_label(plot, dot, rows[i]->kernel_id, taken, label)) {
      draw.AddText(font, font->FontSize, label, theme::dim, rows[i]->kernel_id.c_str());
    }
  }
  draw_steps(plot.area, dots, plot.area.high.y, theme::faded(theme::good, 0.7f));
}

void dot(int index, const Result& row, const Plot& plot, const Status& status, std::span<const KernelPtr> kernels,
         Requests& out) {
  const float opacity = row.count != plot.count ? 0.25f : 0.9f;
  const auto [clicked, hovered] =
      plot_dot("dot", index, plot.at(row), theme::faded(colour_of(row, kernels), opacity), is_present(row, status));
  if (hovered) {
    tooltip(fmt::format("{}  {}", kernel_words(row), row.settings),
            fmt::format("{}\n{} per step, {}{}\nLatest error: median {}, p99 {}, max {}\n{}", system_words(row),
                        format_ms(row.step_ms.median), format_rate(row.interactions_per_s, "interactions/s"),
                        row.swept ? ", by a sweep" : "", format_error(row.error->median), format_error(row.error->p99),
                        format_error(row.error->max), return_words(row, status)));
  }
  if (clicked) return_to(row, status, out);
}

/// Plots the speed on the vertical axis against the error on the horizontal one.
void plot(const Status& status, const ViewStatus& view, int count, ImVec2 size, Requests& out) {
  const ImVec2 low = ImGui::GetCursorScreenPos();
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const PlotArea area{{low.x + em(3.6f), low.y + em(1.5f)}, {low.x + size.x - em(0.6f), low.y + size.y - em(2.2f)}};
  draw.AddRectFilled(area.low, area.high, theme::track, em(0.3f));
  const Plot shown = plot_of(view.results, area, count);
  const bool any = std::ranges::any_of(view.results, can_be_shown);
  ImFont* const font = theme::font(theme::Font::small);
  draw.AddText(font, font->FontSize, low, theme::dim, "pairs/s, n\u00b2 per step");
  const char* const across = "median error |da|/|a|";
  const float width = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, across).x;
  draw.AddText(font, font->FontSize, {area.high.x - width, area.high.y + em(1.05f)}, theme::dim, across);
  if (any) {
    draw_decades_across(area, shown.error, [](int exponent) { return fmt::format("1e{}", exponent); });
    draw_decades_up(area, shown.speed, [](int exponent) {
      return fmt::format(
          "{:.0f}{}", std::pow(10, (exponent % 3 + 3) % 3),
          std::array{"", " k", " M", " G", " T", " P"}[static_cast<std::size_t>(std::clamp(exponent, 0, 17) / 3)]);
    });
    draw_front(shown, view.results);
    for (std::size_t i = 0; i < view.results.size(); ++i) {
      if (can_be_shown(view.results[i])) {
        dot(static_cast<int>(i), view.results[i], shown, status, view.kernels, out);
      }
    }
  } else {
    draw.AddText({area.low.x + em(0.8f), area.low.y + em(0.6f)}, theme::dim, "No error has been measured yet.");
  }
  ImGui::SetCursorScreenPos(low);
  ImGui::Dummy(size);
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
  legend_entry(theme::good, "Pareto front");
  tooltip("No other run is both faster and more accurate than one of these.");
  const auto hidden = std::ranges::count_if(view.results, [](const Result& row) { return !can_be_shown(row); });
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
  plot(status, view, count, {wide ? room - beside - em(0.8f) : room, height}, out);
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
