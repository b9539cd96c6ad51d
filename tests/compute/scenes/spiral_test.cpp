// The scene `spiral`: arms at its own Q, a lasting disc at Q = 2.
#include "compute/scenes/spiral.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "compute/diagnostics/conserved.h"
#include "compute/diagnostics/reference.h"
#include "compute/scenes/galaxy_model.h"
#include "tests/compute/scenes/evolved.h"

namespace orrery {
namespace {

constexpr double length = spiral_scale_length;

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

/// About the densest point of the disc: the halo need not leave it at the origin.
struct Centre {
  double x, y;
};
Centre centre_of(const Bodies& bodies, int in_disc) {
  std::vector<double> x, y;
  for (int i = 0; i < in_disc; ++i) {
    x.push_back(bodies.positions[static_cast<std::size_t>(i)].x);
    y.push_back(bodies.positions[static_cast<std::size_t>(i)].y);
  }
  return {median(x), median(y)};
}

/// The amplitude of the waves of 2 to 4 arms between 1 and 3 scale lengths, relative to the mean density: the root of
/// the mean square over rings, without the share of shot noise.
double arm_amplitude(const Bodies& bodies, int in_disc) {
  constexpr int rings = 8;
  double power = 0;
  const Centre centre = centre_of(bodies, in_disc);
  double re[rings][3] = {}, im[rings][3] = {}, count[rings] = {};
  for (int i = 0; i < in_disc; ++i) {
    const Vec4& p = bodies.positions[static_cast<std::size_t>(i)];
    const double x = p.x - centre.x, y = p.y - centre.y, radius = std::hypot(x, y);
    const int ring = static_cast<int>(std::floor((radius / length - 1) / 2 * rings));
    if (ring < 0 || ring >= rings) continue;
    ++count[ring];
    const double angle = std::atan2(y, x);
    for (int m = 2; m <= 4; ++m) {
      re[ring][m - 2] += std::cos(m * angle);
      im[ring][m - 2] += std::sin(m * angle);
    }
  }
  for (int ring = 0; ring < rings; ++ring) {
    for (int m = 0; m < 3; ++m) {
      const double sum_sq = re[ring][m] * re[ring][m] + im[ring][m] * im[ring][m];
      power += (sum_sq - count[ring]) / (count[ring] * count[ring]);
    }
  }
  return 2 * std::sqrt(std::max(power, 0.0) / rings);
}

double half_mass_radius(const Bodies& bodies, int in_disc) {
  std::vector<double> radii;
  for (int i = 0; i < in_disc; ++i) {
    const Vec4& p = bodies.positions[static_cast<std::size_t>(i)];
    radii.push_back(std::hypot(p.x, p.y));
  }
  return median(radii);
}

/// One rotation at the half-mass radius of the disc, from the forces on the disc's bodies there.
double rotation_period(const Scene& scene, int in_disc) {
  const double radius = half_mass_radius(scene.bodies, in_disc);
  std::vector<double> angular_sq;
  const auto targets = sample_targets(scene.bodies.count(), std::min(scene.bodies.count(), 4000));
  const auto pulls = reference_accelerations(scene.bodies.positions, targets, Law{.softening = scene.softening});
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] >= in_disc) continue;
    const Vec4& p = scene.bodies.positions[static_cast<std::size_t>(targets[i])];
    const double r = std::hypot(p.x, p.y);
    if (std::abs(r / radius - 1) > 0.1) continue;
    angular_sq.push_back(-(p.x * pulls[i].x + p.y * pulls[i].y) / (r * r));
  }
  return 2 * M_PI / std::sqrt(median(angular_sq));
}

/// The share of an exponential disc's mass within so many scale lengths, up to its edge.
double share_within(double radius) {
  const auto integral = [](double r) { return 1 - (1 + r) * std::exp(-r); };
  return integral(radius) / integral(GalaxyModel::disc_edge);
}

TEST(Spiral, IsInVirialEquilibrium) {
  const Scene scene = spiral_galaxy(10000, 1, spiral_toomre_q);
  const Conserved sums = conserved(scene.bodies, Law{.softening = scene.softening});
  EXPECT_NEAR(-sums.kinetic / sums.potential, 0.5, 0.03);
}

TEST(Spiral, StartsWithTheSameWavesAtAnyNumberOfBodies) {
  for (const int count : {20000, 200000}) {
    const double amplitude = arm_amplitude(spiral_galaxy(count, 1, spiral_toomre_q).bodies, spiral_disc_count(count));
    EXPECT_GT(amplitude, 0.03) << count;
    EXPECT_LT(amplitude, 0.25) << count;
  }
}

TEST(Spiral, GrowsArmsWithinThreeRotations) {
  constexpr int count = 6000;
  const int in_disc = spiral_disc_count(count);
  const Scene scene = spiral_galaxy(count, 1, spiral_toomre_q);
  const double period = rotation_period(scene, in_disc);
  const double before = arm_amplitude(scene.bodies, in_disc);
  test::Evolution evolution{scene};
  evolution.set_time_step(1.5f * scene.time_step);
  double greatest = 0;
  for (int part = 1; part <= 6; ++part) {
    const double now = arm_amplitude(evolution.after(period / 2), in_disc);
    RecordProperty("amplitude_after_" + std::to_string(part) + "_half_rotations", std::to_string(now));
    greatest = std::max(greatest, now);
  }
  RecordProperty("period", std::to_string(period));
  RecordProperty("amplitude_at_start", std::to_string(before));
  EXPECT_GT(greatest, 2 * before);
  EXPECT_GT(greatest, 0.25);
}

/// Rings of equal mass, the outermost left out; several moments are averaged for less shot noise, which is 2 % of a
/// ring at one moment.
TEST(Spiral, KeepsItsProfileOverTwoRotationsAtQ2) {
  constexpr int count = 16000;
  constexpr int rings = 5, moments = 5;
  const int in_disc = spiral_disc_count(count);
  const Scene scene = spiral_galaxy(count, 1, 2);
  const double period = rotation_period(scene, in_disc);
  test::Evolution evolution{scene};
  evolution.set_time_step(2 * scene.time_step);
  double counts[rings] = {};
  Bodies now = evolution.after(1.8 * period);
  for (int moment = 0; moment < moments; ++moment) {
    now = evolution.after(0.04 * period);
    const Centre centre = centre_of(now, in_disc);
    for (int i = 0; i < in_disc; ++i) {
      const Vec4& p = now.positions[static_cast<std::size_t>(i)];
      const int ring =
          static_cast<int>(share_within(std::hypot(p.x - centre.x, p.y - centre.y) / length) * (rings + 1));
      if (ring < rings) counts[ring] += 1.0 / moments;
    }
  }
  std::vector<double> changes;
  for (int ring = 0; ring < rings; ++ring) {
    const double change = counts[ring] * (rings + 1) / in_disc - 1;
    RecordProperty("change_of_ring_" + std::to_string(ring), std::to_string(change));
    changes.push_back(std::abs(change));
  }
  RecordProperty("arm_amplitude", std::to_string(arm_amplitude(now, in_disc)));
  EXPECT_LT(median(changes), 0.08);  // measured: 0.058; the centre gains what the rings lose
}

}  // namespace
}  // namespace orrery
