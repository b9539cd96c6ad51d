#pragma once

namespace orrery {

/// Returns the time between the starts of two computations of local densities, in s. A computation takes `cost_s`
/// seconds of processor time. The interval keeps their share of time at 2 %, but is shortened to 1 s for shares up to
/// 25 %.
double density_interval_s(double cost_s);

}  // namespace orrery
