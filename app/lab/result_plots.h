// The plots that both the window and the HTML report show.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/lab/measurement.h"
#include "app/text/plot.h"
#include "compute/sim/results.h"

namespace orrery {

/// Returns the body pairs per second, counting n^2 pairs per step for every kernel. Trees evaluate far fewer.
double pairs_per_s(const Measurement& row);

/// Returns the mark of a measurement in a plot of speed over error. Returns none if its speed or error is unknown.
std::optional<PlotMark> speed_error_mark(const Measurement& row);

/// Plots speed over error, with the Pareto front of the marks that are not faint.
Plot speed_error_plot(std::vector<PlotMark> marks);

/// A curve of conserved_plot(): a conserved quantity, or its change since the first probe.
struct ConservedCurve {
  const char* name;  ///< shown in the legend; empty if the plot has only one curve
  PlotInk ink;
  double (*value)(const ConservedProbe& now, const ConservedProbe& first);
};

/// Returns the relative energy error |E - E0| / |E0|.
double energy_drift(const ConservedProbe& now, const ConservedProbe& first);

/// Plots the curves over simulated time.
Plot conserved_plot(std::string title, std::span<const ConservedCurve> curves, std::span<const ConservedProbe> history);

}  // namespace orrery
