// Time per step as bars, the fastest first.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/report/figure.h"
#include "app/report/html.h"
#include "app/report/plots.h"
#include "app/report/svg.h"
#include "app/text/text_style.h"

namespace orrery {
namespace {

constexpr double row_height = 28, top = 6;
constexpr std::size_t most_bars = 40, longest_name = 40;
constexpr double linear_span = 25;  // of the times: beyond it, short bars cannot be seen

bool is_time(double ms) {
  return ms > 0 && std::isfinite(ms);
}

bool has_interval(const ReportRow& row) {
  return is_time(row.low_ms) && is_time(row.high_ms) && row.low_ms <= row.high_ms;
}

std::string name_of(const ReportRow& row) {
  const std::string name = row.name();
  return columns_of(name) <= longest_name ? name : std::string{cut_to(name, longest_name - 1)} + "\u2026";
}

PlotScale scale_of(const std::vector<ReportRow>& rows) {
  double most = 0;
  for (const ReportRow& row : rows) most = std::max({most, row.median_ms, has_interval(row) ? row.high_ms : 0});
  double least = rows.front().median_ms;
  for (const ReportRow& row : rows) least = has_interval(row) ? std::min(least, row.low_ms) : least;
  return most / least > linear_span ? log_scale(least, most, false) : linear_scale(0, most);
}

std::string value_text(const ReportRow& row) {
  return plain_number(row.median_ms) + " ms";
}

void draw_bar(Svg& svg, const SvgPlot& plot, const ReportRow& row, double y) {
  const double begin = plot.left, end = plot.at(row.median_ms, 0).x, middle = y + row_height / 2;
  svg.text({plot.left - 9, middle + 4}, name_of(row), "name end");
  const std::string backend = row.on_gpu ? "gpu" : "cpu";
  svg.rectangle({begin, y + 7}, end - begin, row_height - 14, backend + " bar");
  double right = end;
  if (has_interval(row)) {
    const double low = plot.at(row.low_ms, 0).x, high = plot.at(row.high_ms, 0).x;
    svg.line({low, middle}, {high, middle}, "whisker");
    for (const double x : {low, high}) svg.line({x, middle - 5}, {x, middle + 5}, "whisker");
    right = std::max(right, high);
  }
  svg.text({right + 8, middle + 4}, value_text(row), "value");
}

}  // namespace

std::string time_figure(const ReportGroup& group) {
  std::vector<ReportRow> rows;
  std::ranges::copy_if(group.rows, std::back_inserter(rows),
                       [](const ReportRow& row) { return is_time(row.median_ms); });
  if (rows.empty()) return paragraph_of("There is no plot of times: no time per step was measured.");
  std::ranges::stable_sort(rows, {}, &ReportRow::median_ms);
  const std::size_t measured = rows.size();
  if (measured > most_bars) rows.erase(rows.begin() + most_bars, rows.end());

  double names = 0, values = 0;
  for (const ReportRow& row : rows) {
    names = std::max(names, Svg::text_width(name_of(row)));
    values = std::max(values, Svg::text_width(value_text(row)));
  }
  const double bottom = top + row_height * static_cast<double>(rows.size()), height = bottom + 46;
  const SvgPlot plot{.left = names + 16,
                     .top = top,
                     .right = plot_width - values - 20,
                     .bottom = bottom,
                     .across = scale_of(rows),
                     .up = {}};
  Svg svg{plot_width, height, "Time per step of each kernel, " + group.title};
  plot.draw_across(svg, "time per step (ms)");
  for (std::size_t i = 0; i < rows.size(); ++i) draw_bar(svg, plot, rows[i], top + row_height * static_cast<double>(i));
  svg.line({plot.left, top}, {plot.left, bottom}, "axis");

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
  return figure(std::move(svg).finish(), caption);
}

}  // namespace orrery
