#include "app/lab/pareto.h"

#include <algorithm>
#include <cmath>

namespace orrery {

std::vector<std::size_t> pareto_front(std::span<const SpeedError> points) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (std::isfinite(points[i].error) && std::isfinite(points[i].rate)) order.push_back(i);
  }
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const SpeedError &p = points[a], &q = points[b];
    if (p.error != q.error) return p.error < q.error;
    return p.rate != q.rate ? p.rate > q.rate : a < b;
  });
  std::vector<std::size_t> front;
  for (const std::size_t i : order) {
    const bool faster = front.empty() || points[i].rate > points[front.back()].rate;
    const bool equal =
        !front.empty() && points[i].rate == points[front.back()].rate && points[i].error == points[front.back()].error;
    if (faster || equal) front.push_back(i);
  }
  return front;
}

}  // namespace orrery
