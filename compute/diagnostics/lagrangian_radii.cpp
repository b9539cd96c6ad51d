#include "compute/diagnostics/lagrangian_radii.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace orrery {

std::vector<double> lagrangian_radii(const Bodies& bodies, std::span<const double> shares) {
  double mass = 0;
  Vec3d centre;
  for (const Vec4& p : bodies.positions) {
    mass += p.w;
    centre.x += double{p.w} * p.x;
    centre.y += double{p.w} * p.y;
    centre.z += double{p.w} * p.z;
  }
  std::vector<double> radii(shares.size(), std::numeric_limits<double>::quiet_NaN());
  if (!(mass > 0) || !std::isfinite(centre.x + centre.y + centre.z)) return radii;
  std::vector<std::pair<double, double>> squares_and_masses;
  squares_and_masses.reserve(bodies.positions.size());
  for (const Vec4& p : bodies.positions) {
    const double x = p.x - centre.x / mass, y = p.y - centre.y / mass, z = p.z - centre.z / mass;
    squares_and_masses.emplace_back(x * x + y * y + z * z, p.w);
  }
  std::ranges::sort(squares_and_masses);
  std::size_t share = 0;
  double within = 0;
  for (const auto& [square, of_body] : squares_and_masses) {
    within += of_body;
    while (share < shares.size() && within >= shares[share] * mass) radii[share++] = std::sqrt(square);
  }
  while (share < shares.size()) radii[share++] = std::sqrt(squares_and_masses.back().first);  // rounding of `within`
  return radii;
}

}  // namespace orrery
