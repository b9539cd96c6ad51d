// The plots of a report.
#include "app/features/report/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "app/features/report/html.h"
#include "app/features/report/svg.h"
#include "app/lab/result_plots.h"
#include "app/text/table.h"

namespace orrery {
namespace {

/// Formats a tick: plain digits from 0.001 to 99,999, else "10⁻⁷" or "2.0×10⁻⁷".
std::string tick_label(double value, int digits) {
  const double size = std::abs(value);
  if (size == 0 || (size >= 1e-3 && size < 1e5)) return plain_number(value, digits);
  const std::string text = power_of_ten(value);
  constexpr std::string_view one = "1.0\u00d7";
  return text.starts_with(one) ? text.substr(one.size()) : text;
}

std::string key_of(const Plot& plot) {
  const auto on_cpu = std::ranges::count(plot.marks, true, &PlotMark::square);
  if (on_cpu == 0) return "Circles are kernels on the GPU";
  return on_cpu < std::ssize(plot.marks) ? "Squares are kernels on the CPU, circles are kernels on the GPU"
                                         : "Squares are kernels on the CPU";
}

const char* front_words(const Plot& plot) {
  if (plot.marks.size() == 1) return "With one result alone there is nothing to compare.";
  if (std::ranges::count(plot.marks, true, &PlotMark::front) == 1) {
    return "The filled mark is both the fastest and the most accurate.";
  }
  return "Filled marks on the dashed line are the Pareto front: no other result is at least as good in both and better "
         "in one.";
}

// Limits of the bar plot of time per step.

constexpr std::size_t most_bars = 40, longest_name = 40;
constexpr double linear_span = 25;  // largest ratio of times on a linear axis; larger ones need a logarithmic axis

bool is_time(double ms) {
  return ms > 0 && std::isfinite(ms);
}

bool has_interval(const ReportRow& row) {
  return is_time(row.step_ms.low) && is_time(row.step_ms.high) && row.step_ms.low <= row.step_ms.high;
}

std::string name_of(const ReportRow& row) {
  const std::string name = row.name();
  return columns_of(name) <= longest_name ? name : std::string{cut_to(name, longest_name - 1)} + "\u2026";
}

/// Returns a plot with a bar for each row, from top to bottom.
Plot bars_of(const std::vector<ReportRow>& rows) {
  Plot plot{.across = {.title = "time per step (ms)", .label = tick_label}, .up = {}};
  const auto least = [](const ReportRow& row) { return has_interval(row) ? row.step_ms.low : row.step_ms.median; };
  const auto most = [](const ReportRow& row) {
    return has_interval(row) ? std::max(row.step_ms.high, row.step_ms.median) : row.step_ms.median;
  };
  plot.across.logarithmic =
      most(std::ranges::max(rows, {}, most)) > linear_span * least(std::ranges::min(rows, {}, least));
  plot.across.from_zero = !plot.across.logarithmic;
  const auto count = static_cast<double>(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ReportRow& row = rows[i];
    const double y = count - 0.5 - static_cast<double>(i);
    const auto add = [&](PlotStroke stroke, PlotInk ink, PlotPoint from, PlotPoint to) {
      plot.lines.push_back({.ink = ink, .stroke = stroke, .points = {from, to}});
    };
    add(PlotStroke::bar, row.on_gpu ? PlotInk::accent : PlotInk::warn, {0, y}, {row.step_ms.median, y});
    if (has_interval(row)) {
      const auto& [median, min, low, high] = row.step_ms;
      add(PlotStroke::thin, PlotInk::text, {low, y}, {high, y});
      for (const double x : {low, high}) add(PlotStroke::thin, PlotInk::text, {x, y - 0.18}, {x, y + 0.18});
    }
    plot.up.names.push_back({y, name_of(row)});
    plot.notes.push_back({{most(row), y}, plain_number(row.step_ms.median) + " ms"});
  }
  plot.fit();
  plot.up.low = 0;
  plot.up.high = count;
  return plot;
}

}  // namespace

std::string speed_error_figure(const ReportGroup& group) {
  constexpr const char* reason = "the time or the force error is not a positive number, or was not measured";
  std::vector<PlotMark> marks;
  for (const ReportRow& row : group.rows) {
    std::optional<PlotMark> mark = speed_error_mark(row);
    if (!mark || !(mark->at.x > 0)) continue;
    mark->ink = row.on_gpu ? PlotInk::accent : PlotInk::warn;
    mark->square = !row.on_gpu;
    mark->label = row.name();
    marks.push_back(std::move(*mark));
  }
  if (marks.empty()) {
    return paragraph_of("There is no plot of speed over accuracy: no result has both a time and a force error.");
  }
  Plot plot = speed_error_plot(std::move(marks));
  plot.across.title = "median force error |\u0394a|/|a|";
  plot.across.label = tick_label;
  const auto [drawing, unnamed] = svg_of(plot, 430, "Speed over median force error, " + group.title);
  std::string caption = fmt::format(
      "Speed over accuracy, {}. Higher is faster, further left is more accurate, and both axes are logarithmic. {}. {}",
      group.title, key_of(plot), front_words(plot));
  if (unnamed > 0) caption += fmt::format(" {} marks have no name, for want of room; the table has all.", unnamed);
  caption += left_out(group.rows.size() - plot.marks.size(), group.rows.size(), "results", reason);
  return figure(drawing, caption);
}

std::string time_figure(const ReportGroup& group) {
  std::vector<ReportRow> rows;
  std::ranges::copy_if(group.rows, std::back_inserter(rows),
                       [](const ReportRow& row) { return is_time(row.step_ms.median); });
  if (rows.empty()) return paragraph_of("There is no plot of times: no time per step was measured.");
  std::ranges::stable_sort(rows, {}, [](const ReportRow& row) { return row.step_ms.median; });
  const std::size_t measured = rows.size();
  if (measured > most_bars) rows.erase(rows.begin() + most_bars, rows.end());

  const Plot plot = bars_of(rows);
  const double height = 28 * static_cast<double>(rows.size()) + 40;
  std::string caption = fmt::format("Time per step, {}, the fastest first. A bar ends at the median{}.", group.title,
                                    std::ranges::any_of(rows, has_interval)
                                        ? "; the thin line across its end is the 95 % interval of the median"
                                        : "; no 95 % interval was measured");
  if (plot.across.logarithmic) {
    caption += " The axis is logarithmic: compare the ends of the bars with the axis, not their lengths.";
  }
  if (measured > most_bars) {
    caption += fmt::format(" These are the {} fastest of {}; the table has all.", most_bars, measured);
  }
  caption += left_out(group.rows.size() - measured, group.rows.size(), "results", "their time was not measured");
  return figure(svg_of(plot, height, "Time per step of each kernel, " + group.title).html, caption);
}

std::string curve_figure(const ReportCurve& curve) {
  const std::string title = fmt::format("<h3>{}</h3>\n", html(curve.title));
  Plot plot = curve.plot;
  plot.across.label = plot.up.label = tick_label;
  plot.across.tight = plot.up.from_zero = true;
  plot.fit();
  const std::vector<PlotPoint>& points = plot.lines.front().points;
  const auto missing = static_cast<std::size_t>(
      std::ranges::count_if(points, [](const PlotPoint& point) { return std::isnan(point.y); }));
  if (missing == points.size()) return title + paragraph_of(curve.missing);
  return title + figure(svg_of(plot, 300, curve.words).html,
                        curve.words + left_out(missing, points.size(), "values", "they are not finite numbers"));
}

}  // namespace orrery
