// The plots that both the window and a report show.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/lab/measurement.h"
#include "app/text/plot.h"
#include "compute/sim/results.h"

namespace orrery {

/// Returns the pairs of bodies per second, with n^2 pairs per step for every kernel. Trees evaluate far fewer.
double pairs_per_s(const Measurement& row);

/// The place of a measurement in a plot of speed over error; none if one of the two is not known.
std::optional<PlotMark> speed_error_mark(const Measurement& row);

/// Plots speed over error, with the Pareto front of the marks that are not faint.
Plot speed_error_plot(std::vector<PlotMark> marks);

/// A conserved quantity, or its drift since the first sums.
struct ConservedCurve {
  const char* name;  ///< in the legend; empty if the chart has only one curve
  PlotInk ink;
  double (*value)(const ConservedProbe& now, const ConservedProbe& first);
};

/// |E - E0| / |E0|
double energy_drift(const ConservedProbe& now, const ConservedProbe& first);

/// Plots the curves over simulated time.
Plot conserved_plot(std::string title, std::span<const ConservedCurve> curves, std::span<const ConservedProbe> history);

}  // namespace orrery
