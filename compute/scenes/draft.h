// Tools for scene generators: bodies in double precision, softening, and functions and random numbers that give the
// same results on every machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/vec.h"

namespace orrery::portable {

inline constexpr double pi = 3.141592653589793238;
inline constexpr double ln2 = 0.693147180559945309;

/// Returns e^x, for x in [-700, 700].
inline double exp(double x) {
  const double powers_of_two = std::floor(x / ln2 + 0.5);
  const double rest = x - powers_of_two * ln2;  // |rest| <= ln2 / 2: 14 terms of the series reach 1e-17
  double sum = 1;
  for (int term = 14; term >= 1; --term) sum = 1 + sum * rest / term;
  return std::ldexp(sum, static_cast<int>(powers_of_two));
}

/// Returns the natural logarithm, for finite x > 0.
inline double log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // in [1/2, 1)
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  // log m = 2 artanh(s) with |s| <= 0.172: 10 terms reach 1e-17
  const double s = (mantissa - 1) / (mantissa + 1);
  const double s_sq = s * s;
  double sum = 0;
  for (int odd = 21; odd >= 1; odd -= 2) sum = sum * s_sq + 1.0 / odd;
  return 2 * s * sum + exponent * ln2;
}

/// Returns x^y, for finite x > 0.
inline double pow(double x, double y) {
  return exp(y * log(x));
}

}  // namespace orrery::portable

namespace orrery {

/// Random numbers that are the same on every machine: a 64-bit counter hashed by SplitMix64 (Steele, Lea and Flood
/// 2014), turned into reals by exact operations and portable functions only.
class Random {
 public:
  explicit Random(std::uint64_t seed) : counter_{hash(seed)} {}

  /// Returns a number in (0, 1), both ends excluded, so that its logarithm is finite.
  double uniform() { return (static_cast<double>(next() >> 12) + 0.5) * 0x1p-52; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  /// Returns a normal deviate with mean 0 and standard deviation 1 (Marsaglia's polar method).
  double gaussian() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    for (;;) {
      const double x = uniform(-1, 1);
      const double y = uniform(-1, 1);
      const double r_sq = x * x + y * y;
      if (r_sq >= 1 || r_sq == 0) continue;
      const double scale = std::sqrt(-2 * portable::log(r_sq) / r_sq);
      spare_ = y * scale;
      has_spare_ = true;
      return x * scale;
    }
  }

  /// Returns a vector of three normal deviates with the standard deviation `sigma`.
  Vec3d gaussian_vector(double sigma) {
    const double x = sigma * gaussian();
    const double y = sigma * gaussian();
    const double z = sigma * gaussian();
    return {x, y, z};
  }

  /// Returns a point with a uniform distribution in the unit ball.
  Vec3d in_ball() {
    for (;;) {
      const double x = uniform(-1, 1);
      const double y = uniform(-1, 1);
      const double z = uniform(-1, 1);
      if (x * x + y * y + z * z < 1) return {x, y, z};
    }
  }

  /// Returns a point with a uniform distribution on the sphere of the given radius.
  Vec3d on_sphere(double radius) {
    const Vec3d p = in_ball();
    const double scale = radius / std::sqrt(p.x * p.x + p.y * p.y + p.z * p.z);
    return {p.x * scale, p.y * scale, p.z * scale};
  }

 private:
  static std::uint64_t hash(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  std::uint64_t next() { return hash(counter_ += 0x9e3779b97f4a7c15u); }

  std::uint64_t counter_;
  double spare_ = 0;
  bool has_spare_ = false;
};

/// Body of an unfinished scene, in double precision, so that results are rounded only once.
struct DraftBody {
  double mass;
  Vec3d position;
  Vec3d velocity;
};

using Draft = std::vector<DraftBody>;

/// Draws `count` bodies in parallel, in drafts of at most `most` bodies each. The first draft uses the random numbers
/// of `seed`, each other draft its own. The bodies do not depend on the number of threads.
std::vector<Draft> drawn_in_parallel(int count, std::uint64_t seed, const std::function<DraftBody(Random&)>& draw,
                                     int most = 1 << 24);

/// Returns the bodies rounded to float, with their centre of mass at rest at the origin.
Bodies finished(Draft draft);

/// Does the same for all bodies of several drafts, in their order.
Bodies finished(const std::vector<Draft>& drafts);

/// Returns a softening length for `count` bodies, given one that suits 16,384. It falls as count^(-1/6), half the
/// exponent of the distance between bodies: small systems stay smooth, and large ones have time steps long enough to
/// watch.
inline double softening_for(int count, double at_16384) {
  return at_16384 * std::clamp(portable::pow(16384.0 / count, 1.0 / 6), 0.25, 3.0);
}

}  // namespace orrery
