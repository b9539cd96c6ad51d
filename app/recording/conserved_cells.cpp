#include "app/recording/conserved_cells.h"

#include <cmath>

#include "app/text/csv.h"

namespace orrery {

std::vector<std::string> conserved_cells(const ConservedProbe& probe, double drift) {
  constexpr int digits = 12;  // drifts are small differences of what is written here
  const Conserved& sums = probe.sums;
  return {std::to_string(probe.step),
          csv_number(probe.sim_time, digits),
          csv_number(sums.kinetic, digits),
          csv_number(sums.potential, digits),
          csv_number(sums.energy(), digits),
          csv_number(drift),
          csv_number(sums.momentum.x, digits),
          csv_number(sums.momentum.y, digits),
          csv_number(sums.momentum.z, digits),
          csv_number(sums.angular_momentum.x, digits),
          csv_number(sums.angular_momentum.y, digits),
          csv_number(sums.angular_momentum.z, digits),
          csv_number(2 * sums.kinetic / std::abs(sums.potential))};
}

}  // namespace orrery
