// The scene `cosmic-web`: it expands as a flat universe does, and its waves grow as linear theory says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <string>
#include <vector>

#include "compute/scenes/scene.h"
#include "tests/compute/scenes/evolved.h"

namespace orrery {
namespace {

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
  test::Evolution evolution{scene, "0.5"}, control{even, "0.5"};
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
  test::Evolution evolution{scene}, control{even};
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
