#include "app/lab/divergence/divergence.h"

#include <algorithm>

namespace orrery {

Growth growth_of(const std::vector<DivergenceSample>& samples, double size, Digits digits) {
  std::vector<GrowthPoint> points;
  points.reserve(samples.size());
  for (const DivergenceSample& sample : samples) points.push_back({sample.time, sample.distances.median});
  Growth growth = fit_growth(points, size, digits);
  const auto together = [](const DivergenceSample& sample) { return sample.distances.greatest == 0; };
  if (samples.size() > 1 && std::ranges::all_of(samples, together)) growth.kind = Growth::Kind::identical;
  return growth;
}

}  // namespace orrery
