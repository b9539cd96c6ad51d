#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "app/lab/result_plots.h"
#include "app/panels/kit/format.h"
#include "app/panels/kit/plots.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "app/ui_state/window_commands.h"

namespace orrery {
namespace {

using theme::em;
using History = std::span<const ConservedProbe>;

double length(const Vec3d& v) {
  return std::hypot(v.x, v.y, v.z);
}
double distance(const Vec3d& a, const Vec3d& b) {
  return length({a.x - b.x, a.y - b.y, a.z - b.z});
}

double momentum_drift(const ConservedProbe& now, const ConservedProbe& first) {
  return distance(now.sums.momentum, first.sums.momentum);
}
double angular_drift(const ConservedProbe& now, const ConservedProbe& first) {
  return distance(now.sums.angular_momentum, first.sums.angular_momentum) / length(first.sums.angular_momentum);
}
double virial_ratio(const ConservedProbe& now, const ConservedProbe&) {
  return now.sums.virial_ratio();
}

constexpr ConservedCurve drift_of_energy[] = {{"", PlotInk::accent, energy_drift}};
constexpr ConservedCurve energies[] = {
    {"kinetic", PlotInk::warn, [](const ConservedProbe& p, const ConservedProbe&) { return p.sums.kinetic; }},
    {"potential", PlotInk::accent, [](const ConservedProbe& p, const ConservedProbe&) { return p.sums.potential; }},
    {"total", PlotInk::good, [](const ConservedProbe& p, const ConservedProbe&) { return p.sums.energy(); }},
};
constexpr ConservedCurve drift_of_momentum[] = {{"", PlotInk::accent, momentum_drift}};
constexpr ConservedCurve drift_of_angular_momentum[] = {{"", PlotInk::accent, angular_drift}};
constexpr ConservedCurve virial[] = {{"", PlotInk::accent, virial_ratio}};

struct Chart {
  const char* id;
  const char* title;
  const char* notes;
  std::span<const ConservedCurve> curves;
  bool from_zero;       ///< whether the vertical axis includes 0
  double top_of_zeros;  ///< upper end of the vertical axis, before its margin, if all values are 0
};
constexpr double rounding = 1e-7;  // relative rounding error of fp32, in which bodies are stored
constexpr std::array charts{
    Chart{"energy", "energy drift", "|E - E0| / |E0|: how far the total energy has moved from the first one measured.",
          drift_of_energy, true, rounding},
    Chart{"energies", "energies", "Kinetic and potential energy and their sum, in units of G = 1.", energies, false, 1},
    Chart{"momentum", "momentum drift", "|P - P0|, in units of G = 1.", drift_of_momentum, true, rounding},
    Chart{"angular", "angular momentum drift", "|L - L0| / |L0|, about the origin.", drift_of_angular_momentum, true,
          rounding},
    Chart{"virial", "virial ratio", "2 K / |W| about the centre of mass: 1 for a system in equilibrium.", virial, true,
          1},
};

std::string number_words(double value) {
  if (!std::isfinite(value)) return "not defined";  // division by 0, as for a single body
  const double size = std::abs(value);
  return size == 0 || (size >= 0.01 && size < 10000) ? fmt::format("{:.3g}", value) : format_error(value);
}

void draw_chart(const Chart& chart, History history, ImVec2 size) {
  Plot plot = conserved_plot(chart.title, chart.curves, history);
  const auto words = [&](const ConservedCurve& curve, const ConservedProbe& probe) {
    return number_words(curve.value(probe, history.front()));
  };
  plot.across.label = nullptr;
  plot.up.from_zero = chart.from_zero;
  plot.up.if_zero = chart.top_of_zeros;
  plot.fit();
  if (!history.empty() && chart.curves.size() == 1) plot.remark = words(chart.curves.front(), history.back());
  const PlotUse use = draw_plot(fmt::format("chart.{}", chart.id).c_str(), plot, size);
  if (!use.x || history.empty()) return tooltip(chart.notes);
  const ConservedProbe& probe =
      *std::ranges::min_element(history, {}, [&](const ConservedProbe& p) { return std::abs(p.sim_time - *use.x); });
  std::string numbers = fmt::format("t = {:.4g}, step {}", probe.sim_time, format_count(probe.step));
  for (const ConservedCurve& curve : chart.curves) {
    numbers += fmt::format("\n{}{}{}", curve.name, *curve.name ? " " : "", words(curve, probe));
  }
  tooltip(chart.notes, numbers);
}

struct Interval {
  const char* name;
  double seconds;
};
constexpr std::array intervals{Interval{"off", 0}, Interval{"0.5 s", 0.5}, Interval{"2 s", 2}, Interval{"10 s", 10},
                               Interval{"60 s", 60}};

std::string seconds_words(double seconds) {
  return fmt::format("{:.3g} s", seconds);
}

void interval_choice(const ViewStatus& view, Requests& out) {
  const double now = view.diagnostics.conserved_interval_s;
  row_label("Measure",
            "The interval between sums of energy, momentum and angular momentum in double precision. The "
            "potential needs all pairs: 10^12 for a million bodies, each time.");
  const auto* chosen = std::ranges::find(intervals, now, &Interval::seconds);
  const std::string preview = chosen == intervals.end() ? "every " + seconds_words(now)
                              : now > 0                 ? std::string{"every "} + chosen->name
                                                        : std::string{chosen->name};
  if (!begin_combo("conserved", preview)) return;
  for (const Interval& interval : intervals) {
    if (ImGui::Selectable(interval.name, interval.seconds == now) && interval.seconds != now) {
      out.push_back(SetDiagnostics{.conserved_interval_s = interval.seconds});
    }
    ui_mark("conserved", interval.name);
  }
  ImGui::EndCombo();
}

void withheld(double forecast_s, Requests& out) {
  wrapped_text(fmt::format("All pairs would take the GPU about {}, so they are not summed automatically.",
                           seconds_words(forecast_s)),
               theme::warn, theme::Font::small);
  if (ImGui::Button("Measure once anyway", {ImGui::GetContentRegionAvail().x, 0})) out.push_back(MeasureConserved{});
  ui_mark("conserved.once");
  tooltip("After the next steps. The run waits for it.");
}

void cost(const Status& status, const ViewStatus& view, Requests& out) {
  const double asked = view.diagnostics.conserved_interval_s, in_force = view.conserved_interval_s;
  if (status.conserved) {
    const std::string words = fmt::format("Took {}{}", format_ms(status.conserved->ms),
                                          cost_share(status.conserved->ms, view.conserved_gap_s));
    wrapped_text(words + ".", theme::dim, theme::Font::small);
  }
  if (asked > 0 && in_force > asked) {
    wrapped_text(fmt::format("Every {} instead, so that it takes at most 10 % of the time.", seconds_words(in_force)),
                 theme::warn, theme::Font::small);
  }
  constexpr int large = 1 << 17;
  if (view.conserved_withheld_s) {
    withheld(*view.conserved_withheld_s, out);
  } else if (asked > 0 && status.count >= large && !status.conserved) {
    wrapped_text("All pairs in double precision: this may take a long time.", theme::warn, theme::Font::small);
  }
  const auto& history = view.conserved_history;
  if (asked <= 0 && history.empty()) {
    wrapped_text("Choose an interval to measure the conserved quantities.", theme::dim, theme::Font::small);
  } else if (!history.empty()) {
    wrapped_text(fmt::format("t = {:.4g} to {:.4g}, {}", history.front().sim_time, history.back().sim_time,
                             counted(std::ssize(history), "time")),
                 theme::dim, theme::Font::small);
  }
}

void conservation_content(const Status& status, const ViewStatus& view, PanelState&, float height, Requests& out) {
  const float room = ImGui::GetContentRegionAvail().x, gap = em(0.8f);
  const bool wide = room >= em(34);
  const int across = wide ? 3 : 1;
  const ImVec2 size{(room - gap * static_cast<float>(across - 1)) / static_cast<float>(across),
                    wide ? (height - em(0.25f)) / 2 : em(5.5f)};
  int at = 0;
  const auto cell = [&] {
    if (at++ % across > 0) ImGui::SameLine(0, gap);
  };
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ImGui::GetStyle().ItemSpacing.x, em(0.25f)});
  cell();
  ImGui::BeginChild("interval", size);
  interval_choice(view, out);
  cost(status, view, out);
  ImGui::EndChild();
  for (const Chart& chart : charts) {
    cell();
    draw_chart(chart, view.conserved_history, size);
  }
  ImGui::PopStyleVar();
}

}  // namespace

const Tab conservation_tab{"Drift", "Drift of the conserved quantities over simulated time.", conservation_content};

}  // namespace orrery
