// Scenes that need minutes of steps: spiral grows arms, collision has them, antennae draw tails, cosmic-web grows as
// theory says.
#include <complex>

#include "compute/diagnostics/conserved.h"
#include "compute/diagnostics/reference.h"
#include "compute/scenes/galaxy.h"
#include "compute/scenes/scene.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backends.h"
#include "tests/test.h"

namespace orrery {
namespace {

/// A scene that steps with cpu-tree: fast enough here for tens of thousands of bodies.
class Evolution {
 public:
  explicit Evolution(const Scene& scene, const char* theta = "0.8")
      : simulation_{test::backends(), {.scene = "two-body"}, test::find_kernel("cpu-tree")} {
    simulation_.set_bodies(scene.bodies);
    test::apply(simulation_, SetTunable{"theta", theta}, SetSoftening{scene.softening});
    set_time_step(scene.time_step);
  }

  void set_time_step(float time_step) {
    simulation_.apply(SetTimeStep{time_step});
    time_step_ = time_step;
  }

  /// Steps until `duration` later, to the nearest step.
  Bodies after(double duration) {
    const long steps = std::lround(duration / static_cast<double>(time_step_));
    if (steps > 0) simulation_.run(static_cast<int>(steps));
    return simulation_.bodies();
  }

 private:
  Simulation simulation_;
  float time_step_ = 0;
};

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

/// A body of a disc, in the disc's plane and in its scale lengths.
struct PlanePoint {
  double x, y;
};

/// About the densest point of the disc: the halo need not leave it at the origin.
PlanePoint centre_of(const std::vector<PlanePoint>& disc) {
  std::vector<double> x, y;
  for (const PlanePoint& p : disc) {
    x.push_back(p.x);
    y.push_back(p.y);
  }
  return {median(x), median(y)};
}

/// The amplitude of the waves of 2 to 4 arms between 1 and 3 scale lengths, relative to the mean density: the root of
/// the mean square over rings, without the share of shot noise.
double arm_amplitude(const std::vector<PlanePoint>& disc) {
  constexpr int rings = 8;
  double power = 0;
  const PlanePoint centre = centre_of(disc);
  double re[rings][3] = {}, im[rings][3] = {}, count[rings] = {};
  for (const PlanePoint& p : disc) {
    const double x = p.x - centre.x, y = p.y - centre.y;
    const int ring = static_cast<int>(std::floor((std::hypot(x, y) - 1) / 2 * rings));
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

constexpr double length = spiral_scale_length;

std::vector<PlanePoint> disc_in_plane(const Bodies& bodies, int in_disc) {
  std::vector<PlanePoint> points;
  for (int i = 0; i < in_disc; ++i) {
    const Vec4& p = bodies.positions[static_cast<std::size_t>(i)];
    points.push_back({p.x / length, p.y / length});
  }
  return points;
}

double arm_amplitude(const Bodies& bodies, int in_disc) {
  return arm_amplitude(disc_in_plane(bodies, in_disc));
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
  Evolution evolution{scene};
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
  const PlanePoint centre = centre_of(disc);
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
  Evolution evolution{scene};
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
  Evolution evolution{scene};
  evolution.set_time_step(3 * scene.time_step);
  std::array<double, rings> first{}, later{};
  add_to_rings(scene.bodies, in_disc, first);
  add_to_rings(evolution.after(0.2 * rotation_period(scene, in_disc)), in_disc, later);
  RecordProperty("change_of_the_inmost_ring", std::to_string(later[0] / first[0] - 1));
  EXPECT_GT(later[0] / first[0], 0.97);
}

constexpr double heavier_length = 0.32;  // scale length of its disc

/// The disc of the heavier galaxy, seen along its axis.
std::vector<PlanePoint> heavier_disc(const Bodies& bodies, const GalaxyDesign& design) {
  constexpr double cos_x = 0.96, sin_x = 0.28, cos_z = 0.8, sin_z = 0.6;  // its tilt
  const int in_disc = disc_count(design, 3 * bodies.count() / 4);
  std::vector<PlanePoint> disc;
  for (int i = 0; i < in_disc; ++i) {
    const Vec4& p = bodies.positions[static_cast<std::size_t>(i)];
    const double x = p.x * cos_z + p.y * sin_z, along_y = p.y * cos_z - p.x * sin_z;
    disc.push_back({x / heavier_length, (along_y * cos_x + p.z * sin_x) / heavier_length});
  }
  return disc;
}

TEST(Collision, OfManyBodiesGrowsArmsBeforeTheDiscsMeet) {
  const Scene scene = find_scene("collision").generate(20000, 1);
  const double at_start = arm_amplitude(heavier_disc(scene.bodies, cold_disc_design));
  Evolution evolution{scene};
  evolution.set_time_step(2 * scene.time_step);
  const double later = arm_amplitude(heavier_disc(evolution.after(1.5), cold_disc_design));
  RecordProperty("at_start", std::to_string(at_start));
  RecordProperty("later", std::to_string(later));
  EXPECT_GT(at_start, 0.1);
  EXPECT_GT(later, 0.3);
}

TEST(Collision, OfAMillionBodiesStartsWithWaves) {
  const Scene scene = find_scene("collision").generate(1 << 20, 1);
  EXPECT_GT(arm_amplitude(heavier_disc(scene.bodies, cold_disc_design)), 0.1);
}

/// The share of the discs' bodies that are farther than `limit` from the centre of mass of all.
double share_beyond(const Bodies& bodies, double limit) {
  const int count = bodies.count(), half = (count + 1) / 2;
  int beyond = 0, all = 0;
  for (int i = 0; i < count; ++i) {
    const bool first = i < half;
    if ((first ? i : i - half) >= disc_count(warm_disc_design, first ? half : count - half)) continue;
    const Vec4& p = bodies.positions[static_cast<std::size_t>(i)];
    ++all;
    if (std::hypot(p.x, p.y, p.z) > limit) ++beyond;
  }
  return static_cast<double>(beyond) / all;
}

TEST(Antennae, HaveTailsByTheTime10) {
  const Scene scene = find_scene("antennae").generate(6000, 1);
  constexpr double half_mass_radius = 1.68 * 0.25;  // of an exponential disc
  EXPECT_LT(share_beyond(scene.bodies, 8 * half_mass_radius), 0.005);
  Evolution evolution{scene};
  evolution.set_time_step(0.01f);
  double share = 0;
  for (int time = 2; time <= 10; time += 2) {
    share = share_beyond(evolution.after(2), 8 * half_mass_radius);
    RecordProperty("share_at_" + std::to_string(time), std::to_string(share));
  }
  EXPECT_GT(share, 0.1);
}

/// When the radius is `factor` times that of the start, since the start. A flat universe: the radius goes as t^(2/3).
double time_at(double factor) {
  const double hubble = std::sqrt(2 / std::pow(cosmic_web_radius, 3));
  return 2 / (3 * hubble) * (std::pow(factor, 1.5) - 1);
}

double rms_radius(const Bodies& bodies) {
  double sum = 0;
  for (const Vec4& p : bodies.positions) sum += p.x * p.x + p.y * p.y + p.z * p.z;
  return std::sqrt(sum / bodies.count());
}

/// The waves of the density that fit `least` to `most` times into the diameter, of bodies `factor` times apart.
std::vector<std::complex<double>> waves(const Bodies& bodies, double factor, int least, int most) {
  std::vector<std::complex<double>> sums;
  const double unit = M_PI / (cosmic_web_radius * factor);
  for (int x = 0; x <= most; ++x) {
    for (int y = -most; y <= most; ++y) {
      for (int z = -most; z <= most; ++z) {
        const int number_sq = x * x + y * y + z * z;
        if (number_sq < least * least || number_sq > most * most || (x == 0 && (y < 0 || (y == 0 && z < 0)))) continue;
        if ((x + 2 * y + 3 * z) % 5 != 0) continue;  // enough of them
        double re = 0, im = 0;
        for (const Vec4& p : bodies.positions) {
          const double angle = unit * (x * double{p.x} + y * double{p.y} + z * double{p.z});
          re += std::cos(angle);
          im += std::sin(angle);
        }
        sums.emplace_back(re, im);
      }
    }
  }
  return sums;
}

TEST(CosmicWeb, FillsASphereEvenlyBeforeItsWaves) {
  const Scene scene = cosmic_web(20000, 1, 0);
  EXPECT_NEAR(rms_radius(scene.bodies), std::sqrt(0.6) * cosmic_web_radius, 0.002 * cosmic_web_radius);
  for (std::size_t i = 0; i < scene.bodies.positions.size(); ++i) {
    const Vec4 &p = scene.bodies.positions[i], &v = scene.bodies.velocities[i];
    ASSERT_LT(std::hypot(p.x, p.y, p.z), 1.02 * cosmic_web_radius);
    ASSERT_NEAR(v.x, p.x * std::sqrt(2 / std::pow(cosmic_web_radius, 3)), 1e-4);
  }
}

TEST(CosmicWeb, WavesOfManyBodiesAreThoseOfFew) {
  const auto few = waves(cosmic_web(20000, 1, 1).bodies, 1, 3, 5),
             many = waves(cosmic_web(60000, 1, 1).bodies, 1, 3, 5);
  double product = 0, few_sq = 0, many_sq = 0;
  for (std::size_t i = 0; i < few.size(); ++i) {
    product += (few[i] * std::conj(many[i])).real();
    few_sq += std::norm(few[i]);
    many_sq += std::norm(many[i]);
  }
  EXPECT_GT(product / std::sqrt(few_sq * many_sq), 0.95);
}

TEST(CosmicWeb, GrowsAsLinearTheorySays) {
  constexpr int count = 16000;
  constexpr double strength = 0.1;  // rms density 0.05 to 0.1: linear
  const Scene even = cosmic_web(count, 1, 0), scene = cosmic_web(count, 1, strength);
  Evolution evolution{scene, "0.5"}, control{even, "0.5"};
  double reached = 1;
  std::vector<std::complex<double>> start;
  for (const double factor : {1.0, 1.5, 2.0}) {
    const double duration = time_at(factor) - time_at(reached);
    reached = factor;
    const Bodies now = evolution.after(duration), plain = control.after(duration);
    std::vector<std::complex<double>> amplitudes = waves(now, factor, 4, 8);
    const auto without = waves(plain, factor, 4, 8);
    for (std::size_t i = 0; i < amplitudes.size(); ++i) amplitudes[i] -= without[i];
    if (start.empty()) start = amplitudes;
    double product = 0, start_sq = 0;
    for (std::size_t i = 0; i < start.size(); ++i) {
      product += (amplitudes[i] * std::conj(start[i])).real();
      start_sq += std::norm(start[i]);
    }
    const double radius = rms_radius(plain) / rms_radius(even.bodies), growth = product / start_sq;
    RecordProperty("radius_at_" + std::to_string(factor), std::to_string(radius));
    RecordProperty("growth_at_" + std::to_string(factor), std::to_string(growth));
    EXPECT_NEAR(radius, factor, 0.01 * factor);
    EXPECT_NEAR(growth, factor, 0.05 * factor);
  }
}

/// The sizes of the groups of bodies that are less than `link` apart from another one of their group, largest first
/// ("friends of friends", Davis et al. 1985).
std::vector<int> group_sizes(const Bodies& bodies, float link) {
  const std::vector<Vec4>& at = bodies.positions;
  std::vector<int> waiting;
  std::vector<bool> grouped(at.size(), false);
  std::vector<int> sizes;
  for (int first = 0; first < bodies.count(); ++first) {
    if (grouped[static_cast<std::size_t>(first)]) continue;
    grouped[static_cast<std::size_t>(first)] = true;
    waiting = {first};
    int members = 0;
    while (!waiting.empty()) {
      const Vec4 me = at[static_cast<std::size_t>(waiting.back())];
      waiting.pop_back();
      ++members;
      for (std::size_t other = 0; other < at.size(); ++other) {
        if (grouped[other]) continue;
        const float x = at[other].x - me.x, y = at[other].y - me.y, z = at[other].z - me.z;
        if (x * x + y * y + z * z > link * link) continue;
        grouped[other] = true;
        waiting.push_back(static_cast<int>(other));
      }
    }
    sizes.push_back(members);
  }
  std::ranges::sort(sizes, std::greater{});
  return sizes;
}

/// Haloes are groups of at least 20 bodies that are linked by a fifth of the mean distance, which finds what is about
/// 200 times as dense as the mean.
struct Haloes {
  int number = 0;
  double share = 0;  ///< of all mass
};

Haloes haloes(const Bodies& bodies, double factor) {
  const double spacing = cosmic_web_radius * factor * std::cbrt(4 * M_PI / 3 / bodies.count());
  Haloes found;
  for (const int size : group_sizes(bodies, static_cast<float>(0.2 * spacing))) {
    if (size < 20) break;
    ++found.number;
    found.share += static_cast<double>(size) / bodies.count();
  }
  return found;
}

/// At the time for which the scene's first view has room.
TEST(CosmicWeb, FormsHaloesAfterItsLinearGrowth) {
  constexpr int count = 4000;
  constexpr double linear = 2, late = 5;  // times the radius at the start
  const Scene scene = cosmic_web(count, 1, 1), even = cosmic_web(count, 1, 0);
  Evolution evolution{scene}, control{even};
  evolution.set_time_step(2 * scene.time_step);
  control.set_time_step(2 * even.time_step);
  EXPECT_EQ(haloes(scene.bodies, 1).number, 0);
  EXPECT_LT(haloes(evolution.after(time_at(linear)), linear).share, 0.02);
  const Haloes web = haloes(evolution.after(time_at(late) - time_at(linear)), late);
  RecordProperty("haloes", web.number);
  RecordProperty("share_in_haloes", std::to_string(web.share));
  EXPECT_GT(web.share, 0.06);
  EXPECT_GT(web.number, 5) << "not one lump";
  EXPECT_LT(haloes(control.after(time_at(late)), late).share, 0.01) << "without waves";
}

}  // namespace
}  // namespace orrery
