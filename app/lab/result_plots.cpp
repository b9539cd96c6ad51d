#include "app/lab/result_plots.h"

#include <cmath>
#include <utility>

#include "app/lab/statistics.h"

namespace orrery {

double pairs_per_s(const Measurement& row) {
  const double bodies = row.count;
  return row.step_ms.median > 0 ? bodies * bodies / (row.step_ms.median * 1e-3) : 0;
}

std::optional<PlotMark> speed_error_mark(const Measurement& row) {
  const double rate = pairs_per_s(row);
  if (!row.error || !std::isfinite(row.error->median) || !(rate > 0)) return {};
  return PlotMark{.at = {row.error->median, rate}};
}

Plot speed_error_plot(std::vector<PlotMark> marks) {
  Plot plot{.across = {.title = "median error |da|/|a|", .logarithmic = true, .label = scientific},
            .up = {.title = "pairs/s, n\u00b2 per step",
                   .logarithmic = true,
                   .label = [](double value, int) { return with_prefix(value); }},
            .marks = std::move(marks)};
  std::vector<PlotMark*> compared;
  std::vector<SpeedError> points;
  for (PlotMark& mark : plot.marks) {
    if (mark.faint) continue;
    compared.push_back(&mark);
    points.push_back({mark.at.x, mark.at.y});
  }
  for (const std::size_t i : pareto_front(points)) compared[i]->front = true;
  plot.fit();
  plot.add_front(0, PlotInk::good);
  return plot;
}

double energy_drift(const ConservedProbe& now, const ConservedProbe& first) {
  return std::abs((now.sums.energy() - first.sums.energy()) / first.sums.energy());
}

Plot conserved_plot(std::string title, std::span<const ConservedCurve> curves,
                    std::span<const ConservedProbe> history) {
  Plot plot{.across = {.tight = true}, .up = {.title = std::move(title)}};
  for (const ConservedCurve& curve : curves) {
    PlotLine line{.name = curve.name, .ink = curve.ink};
    for (const ConservedProbe& probe : history) {
      const double value = curve.value(probe, history.front());
      line.points.push_back({probe.sim_time, std::isfinite(value) ? value : Measurement::unknown});
    }
    plot.lines.push_back(std::move(line));
  }
  return plot;
}

}  // namespace orrery
