// The generated systems as physics: equilibria, orbits, collapses.
#include "compute/diagnostics/conserved.h"
#include "compute/diagnostics/reference.h"
#include "compute/scenes/scene.h"
#include "tests/test.h"

namespace orrery {
namespace {

Conserved conserved_of(const Scene& scene) {
  return conserved(scene.bodies, Law{.softening = scene.softening});
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

template <class Measure>
double median_of(const Bodies& bodies, const Measure& measure) {
  std::vector<double> values;
  for (const Vec4& p : bodies.positions) values.push_back(measure(p));
  return median(std::move(values));
}
double median_distance_from_origin(const Bodies& bodies) {
  return median_of(bodies, [](const Vec4& p) { return std::hypot(p.x, p.y, p.z); });
}
double median_radius_in_plane(const Bodies& bodies) {
  return median_of(bodies, [](const Vec4& p) { return std::hypot(p.x, p.y); });
}
double median_height(const Bodies& bodies) {
  return median_of(bodies, [](const Vec4& p) { return std::abs(p.z); });
}

/// Leapfrog in double precision forces, apart from the program's own.
void integrate(Scene& scene, int steps) {
  const Law law{.softening = scene.softening};
  std::vector<Vec4>&positions = scene.bodies.positions, &velocities = scene.bodies.velocities;
  const auto everyone = sample_targets(scene.bodies.count(), scene.bodies.count());
  auto accelerations = reference_accelerations(positions, everyone, law);
  const auto kick = [&](double dt) {
    for (std::size_t i = 0; i < velocities.size(); ++i) {
      velocities[i].x += static_cast<float>(accelerations[i].x * dt);
      velocities[i].y += static_cast<float>(accelerations[i].y * dt);
      velocities[i].z += static_cast<float>(accelerations[i].z * dt);
    }
  };
  const float dt = scene.time_step;
  for (int step = 0; step < steps; ++step) {
    kick(dt / 2);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      positions[i].x += velocities[i].x * dt;
      positions[i].y += velocities[i].y * dt;
      positions[i].z += velocities[i].z * dt;
    }
    accelerations = reference_accelerations(positions, everyone, law);
    kick(dt / 2);
  }
}

TEST(Plummer, IsInVirialEquilibriumInVirialUnits) {
  const Scene scene = find_scene("plummer").generate(10000, 1);
  const Conserved sums = conserved(scene.bodies, Law{.softening = 1e-4f});
  EXPECT_NEAR(sums.energy(), -0.25, 0.01);
  EXPECT_NEAR(-sums.kinetic / sums.potential, 0.5, 0.01);
  EXPECT_NEAR(median_distance_from_origin(scene.bodies), 0.768, 0.02);  // 1.305 scale lengths
}

TEST(ColdCollapse, IsAUniformSphereAlmostAtRest) {
  const Scene scene = find_scene("cold-collapse").generate(10000, 1);
  const Conserved sums = conserved(scene.bodies, Law{.softening = 1e-4f});
  EXPECT_NEAR(sums.potential, -0.6, 0.01);
  EXPECT_GT(sums.kinetic, 0);
  EXPECT_LT(sums.kinetic, 0.01 * -sums.potential);
  EXPECT_NEAR(median_distance_from_origin(scene.bodies), std::cbrt(0.5), 0.015);
  for (const Vec4& p : scene.bodies.positions) ASSERT_LT(std::hypot(p.x, p.y, p.z), 1.03);
}

TEST(ColdCollapse, ConservesEnergyThroughTheCollapse) {
  Scene scene = find_scene("cold-collapse").generate(500, 1);
  const double before = conserved_of(scene).energy();
  integrate(scene, static_cast<int>(1.5f / scene.time_step));
  EXPECT_NEAR(conserved_of(scene).energy(), before, 0.005 * std::abs(before));
}

/// The share of pairs of bodies that are nearer to each other than `distance`.
double share_of_near_pairs(const Bodies& bodies, double distance) {
  std::size_t near = 0, all = 0;
  const auto& at = bodies.positions;
  for (std::size_t i = 0; i < at.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k, ++all) {
      near += std::hypot(at[i].x - at[k].x, at[i].y - at[k].y, at[i].z - at[k].z) < distance;
    }
  }
  return static_cast<double>(near) / static_cast<double>(all);
}

TEST(Collapse, IsColdAndClumpy) {
  const Scene scene = find_scene("collapse").generate(3000, 1);
  const Conserved sums = conserved_of(scene);
  EXPECT_GT(sums.kinetic, 0.05 * -sums.potential) << "the clumps are in equilibrium";
  EXPECT_LT(sums.kinetic, 0.2 * -sums.potential);
  const Scene uniform = find_scene("cold-collapse").generate(3000, 1);
  EXPECT_GT(share_of_near_pairs(scene.bodies, 0.1), 10 * share_of_near_pairs(uniform.bodies, 0.1));
}

TEST(Collapse, FallsTogetherWithinAFreeFallTimeAndConservesEnergy) {
  Scene scene = find_scene("collapse").generate(600, 1);
  const double energy = conserved_of(scene).energy(), radius = median_distance_from_origin(scene.bodies);
  integrate(scene, static_cast<int>(1.15f / scene.time_step));
  EXPECT_LT(median_distance_from_origin(scene.bodies), 0.55 * radius);
  EXPECT_NEAR(conserved_of(scene).energy(), energy, 0.01 * std::abs(energy));
}

TEST(Disc, IsSupportedByItsRotation) {
  const Scene scene = find_scene("disc").generate(10000, 1);
  const auto targets = sample_targets(10000, 2000);
  const auto pulls = reference_accelerations(scene.bodies.positions, targets, Law{.softening = scene.softening});
  double streaming = 0, circular = 0;
  int counted = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto index = static_cast<std::size_t>(targets[i]);
    const Vec4 &p = scene.bodies.positions[index], &v = scene.bodies.velocities[index];
    const double radius = std::hypot(p.x, p.y);
    if (index >= 6400 || radius < 0.6 || radius > 1.4) continue;  // the disc's bodies come first
    streaming += (p.x * v.y - p.y * v.x) / radius;
    circular += std::sqrt(std::max(0.0, -(p.x * pulls[i].x + p.y * pulls[i].y)));
    ++counted;
  }
  ASSERT_GT(counted, 200);
  EXPECT_GT(streaming / circular, 0.85);
  EXPECT_LT(streaming / circular, 1.0);  // slower by the asymmetric drift
}

TEST(Disc, IsInVirialEquilibrium) {
  const Conserved sums = conserved_of(find_scene("disc").generate(10000, 1));
  EXPECT_NEAR(-sums.kinetic / sums.potential, 0.5, 0.03);
}

TEST(Disc, HoldsTogetherForARotation) {
  Scene scene = find_scene("disc").generate(1200, 1);
  const Conserved before = conserved_of(scene);
  const double radius = median_radius_in_plane(scene.bodies), height = median_height(scene.bodies);
  integrate(scene, static_cast<int>(5 / scene.time_step));
  EXPECT_NEAR(median_radius_in_plane(scene.bodies), radius, 0.12 * radius);
  EXPECT_LT(median_height(scene.bodies), 2 * height);
  EXPECT_GT(median_height(scene.bodies), 0.6 * height);
  const Conserved after = conserved_of(scene);
  EXPECT_NEAR(after.energy(), before.energy(), 1e-3 * std::abs(before.energy()));
  EXPECT_NEAR(after.angular_momentum.z, before.angular_momentum.z, 1e-3 * before.angular_momentum.z);
}

/// One of two galaxies.
struct Half {
  double mass = 0;
  Vec3d centre, velocity, spin;  // spin: about its own centre
};

Half half_of(const Bodies& bodies, std::size_t first, std::size_t end) {
  Half found;
  for (std::size_t i = first; i < end; ++i) {
    const Vec4 &p = bodies.positions[i], &v = bodies.velocities[i];
    const double m = p.w;
    found.mass += m;
    found.centre = {found.centre.x + m * p.x, found.centre.y + m * p.y, found.centre.z + m * p.z};
    found.velocity = {found.velocity.x + m * v.x, found.velocity.y + m * v.y, found.velocity.z + m * v.z};
  }
  const double m = found.mass;
  found.centre = {found.centre.x / m, found.centre.y / m, found.centre.z / m};
  found.velocity = {found.velocity.x / m, found.velocity.y / m, found.velocity.z / m};
  for (std::size_t i = first; i < end; ++i) {
    const Vec4 &p = bodies.positions[i], &v = bodies.velocities[i];
    const double x = p.x - found.centre.x, y = p.y - found.centre.y, z = p.z - found.centre.z;
    const double vx = v.x - found.velocity.x, vy = v.y - found.velocity.y, vz = v.z - found.velocity.z;
    found.spin.x += p.w * (y * vz - z * vy);
    found.spin.y += p.w * (z * vx - x * vz);
    found.spin.z += p.w * (x * vy - y * vx);
  }
  return found;
}

/// Expects that they approach each other with no energy to spare and none missing. Returns their angular momentum.
double expect_parabola(const Half& a, const Half& b) {
  const double x = b.centre.x - a.centre.x, y = b.centre.y - a.centre.y;
  const double vx = b.velocity.x - a.velocity.x, vy = b.velocity.y - a.velocity.y;
  EXPECT_NEAR((vx * vx + vy * vy) / 2 * std::hypot(x, y), 1, 0.05);
  EXPECT_LT(x * vx + y * vy, 0) << "they part";
  return x * vy - y * vx;
}

TEST(CollisionScene, IsTwoGalaxiesOfMasses3To1OnAParabolicOrbit) {
  for (const std::size_t count : {8000u, 20000u}) {  // the second of cold discs
    SCOPED_TRACE(count);
    const Scene scene = find_scene("collision").generate(static_cast<int>(count), 1);
    const Half a = half_of(scene.bodies, 0, 3 * count / 4), b = half_of(scene.bodies, 3 * count / 4, count);
    EXPECT_NEAR(a.mass, 0.75, 1e-5);
    EXPECT_NEAR(b.mass, 0.25, 1e-5);
    const double angular_momentum = expect_parabola(a, b);
    EXPECT_NEAR(angular_momentum * angular_momentum / 2, 0.7, 0.1);  // the closest distance of a parabola
    EXPECT_GT(conserved_of(scene).angular_momentum.z, a.mass * b.mass * angular_momentum)
        << "discs turn with the orbit";
  }
}

TEST(Antennae, AreTwoEqualGalaxiesOnAParabolaThatTheyTurnWith) {
  constexpr std::size_t count = 40000;
  const Bodies bodies = find_scene("antennae").generate(count, 1).bodies;
  const Half a = half_of(bodies, 0, count / 2), b = half_of(bodies, count / 2, count);
  EXPECT_GT(expect_parabola(a, b), 0);
  for (const Half& galaxy : {a, b}) {
    EXPECT_NEAR(galaxy.mass, 0.5, 1e-5);
    const double spin = std::hypot(galaxy.spin.x, galaxy.spin.y, galaxy.spin.z);
    EXPECT_GT(galaxy.spin.z, 0.7 * spin) << "they turn against the orbit";
  }
}

TEST(TwoBody, ClosesItsOrbit) {
  Scene scene = load_scene({.scene = "two-body"});
  const double semi_major_axis = -0.75 * 0.25 / (2 * conserved_of(scene).energy());
  EXPECT_NEAR(semi_major_axis, 1, 1e-5);
  const Bodies start = scene.bodies;
  constexpr int steps = 1257;
  scene.time_step = static_cast<float>(2 * M_PI / steps);
  integrate(scene, steps);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(scene.bodies.positions[i].x, start.positions[i].x, 2e-3);
    EXPECT_NEAR(scene.bodies.positions[i].y, start.positions[i].y, 2e-3);
  }
}

}  // namespace
}  // namespace orrery
