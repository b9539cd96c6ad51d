// The scene `cosmic-web`: it expands as a flat universe does, and its waves grow as linear theory says.
#include "compute/scenes/cosmic_web.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <vector>

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

}  // namespace
}  // namespace orrery
