// The scene `spiral`: arms at its own Q, a lasting disc at Q = 2.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "compute/diagnostics/conserved.h"
#include "compute/diagnostics/reference.h"
#include "compute/scenes/galaxy.h"
#include "tests/compute/scenes/arms.h"
#include "tests/compute/scenes/evolved.h"

namespace orrery {
namespace {

constexpr double length = spiral_scale_length;

std::vector<test::PlanePoint> disc_in_plane(const Bodies& bodies, int in_disc) {
  std::vector<test::PlanePoint> points;
  for (int i = 0; i < in_disc; ++i) {
    const Vec4& p = bodies.positions[static_cast<std::size_t>(i)];
    points.push_back({p.x / length, p.y / length});
  }
  return points;
}

double arm_amplitude(const Bodies& bodies, int in_disc) {
  return test::arm_amplitude(disc_in_plane(bodies, in_disc));
}

double half_mass_radius(const Bodies& bodies, int in_disc) {
  std::vector<double> radii;
  for (int i = 0; i < in_disc; ++i) {
    const Vec4& p = bodies.positions[static_cast<std::size_t>(i)];
    radii.push_back(std::hypot(p.x, p.y));
  }
  return test::median(radii);
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
  return 2 * M_PI / std::sqrt(test::median(angular_sq));
}

/// The share of an exponential disc's mass within so many scale lengths, up to its edge.
double share_within(double radius) {
  const auto integral = [](double r) { return 1 - (1 + r) * std::exp(-r); };
  return integral(radius) / integral(GalaxyModel::disc_edge);
}

TEST(Spiral, IsInVirialEquilibrium) {
  const Scene scene = spiral_galaxy(10000, 1, spiral_toomre_q);
  const Conserved sums = conserved(scene.bodies, Law{.softening = scene.softening});
  RecordProperty("virial_ratio", std::to_string(-sums.kinetic / sums.potential));
  EXPECT_NEAR(-sums.kinetic / sums.potential, 0.5, 0.01);
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

constexpr int rings = 5;  // of equal mass; the outermost, of as much, is left out

void add_to_rings(const Bodies& bodies, int in_disc, std::array<double, rings>& counts) {
  const auto disc = disc_in_plane(bodies, in_disc);
  const test::PlanePoint centre = test::centre_of(disc);
  for (const auto& [x, y] : disc) {
    const auto ring = static_cast<std::size_t>(share_within(std::hypot(x - centre.x, y - centre.y)) * (rings + 1));
    if (ring < rings) ++counts[ring];
  }
}

/// Several moments are averaged for less shot noise, which is 1 % of a ring at one moment. Fewer bodies heat the disc
/// by their encounters.
TEST(Spiral, KeepsItsProfileOverTwoRotationsAtQ2) {
  constexpr int count = 48000, moments = 5;
  const int in_disc = spiral_disc_count(count);
  const Scene scene = spiral_galaxy(count, 1, 2);
  const double period = rotation_period(scene, in_disc);
  test::Evolution evolution{scene};
  evolution.set_time_step(3 * scene.time_step);
  std::array<double, rings> first{}, last{};
  add_to_rings(scene.bodies, in_disc, first);
  Bodies now = evolution.after(1.8 * period);
  for (int moment = 0; moment < moments; ++moment) {
    now = evolution.after(0.04 * period);
    add_to_rings(now, in_disc, last);
  }
  for (std::size_t ring = 0; ring < rings; ++ring) {
    const double change = last[ring] / (moments * first[ring]) - 1;
    RecordProperty("change_of_ring_" + std::to_string(ring), std::to_string(change));
    EXPECT_LT(std::abs(change), 0.05) << "ring " << ring;  // at most 0.038, 0.017, 0.045, 0.022 for the seeds 1 to 4
  }
  RecordProperty("arm_amplitude", std::to_string(arm_amplitude(now, in_disc)));
}

/// Before a body has moved through the disc: velocities that are too fast or too slow for the pulls would show in the
/// inmost ring, which lost 5 %, and in the height of the disc, which grew by a sixth.
TEST(Spiral, StartsWithoutATransientAtQ2) {
  constexpr int count = 48000;
  const int in_disc = spiral_disc_count(count);
  const Scene scene = spiral_galaxy(count, 1, 2);
  test::Evolution evolution{scene};
  evolution.set_time_step(3 * scene.time_step);
  std::array<double, rings> first{}, later{};
  add_to_rings(scene.bodies, in_disc, first);
  add_to_rings(evolution.after(0.2 * rotation_period(scene, in_disc)), in_disc, later);
  RecordProperty("change_of_the_inmost_ring", std::to_string(later[0] / first[0] - 1));
  EXPECT_GT(later[0] / first[0], 0.97);
}

}  // namespace
}  // namespace orrery
