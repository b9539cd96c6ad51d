#pragma once

namespace orrery {

/// Time from one computation of local densities to the next, in s, if one takes `cost_s` of a processor: at most 2 % of
/// the time, but at least every second as long as that is a quarter of the time.
double density_interval_s(double cost_s);

}  // namespace orrery
