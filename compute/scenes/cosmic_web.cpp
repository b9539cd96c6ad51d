#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "compute/scenes/draft.h"
#include "compute/scenes/scene.h"

namespace orrery {
namespace {

/// Sums of waves on a cubic grid, by FFT. Results are the same on every machine: the code calls no sine, cosine or
/// system library.
class FourierCube {
 public:
  struct Complex {
    double re = 0, im = 0;
  };

  /// `side`: number of points in each direction, a power of two.
  explicit FourierCube(int side) : side_{static_cast<std::size_t>(side)}, values_(side_ * side_ * side_) {
    // Halves the angle of e^(i pi) until it is 2 pi / side.
    double cosine = -1, sine = 0;
    for (std::size_t points = 2; points < side_; points *= 2) {
      sine = std::sqrt((1 - cosine) / 2);
      cosine = std::sqrt((1 + cosine) / 2);
    }
    // Computes each root as a product of two with half its exponent: errors grow with the logarithm of the exponent.
    roots_.resize(side_ / 2);
    roots_[0] = {1, 0};
    if (side_ >= 4) roots_[1] = {cosine, sine};
    for (std::size_t i = 2; i < roots_.size(); ++i) roots_[i] = product(roots_[i / 2], roots_[(i + 1) / 2]);
  }

  /// Returns the amplitude of the wave with the wave numbers (x, y, z), each in [-side / 2, side / 2]. After sum(),
  /// returns the value at the grid point (x, y, z), taken modulo the side.
  Complex& at(int x, int y, int z) { return values_[(wrapped(x) * side_ + wrapped(y)) * side_ + wrapped(z)]; }
  const Complex& at(int x, int y, int z) const { return const_cast<FourierCube*>(this)->at(x, y, z); }

  /// Replaces amplitudes a_k by the sums over k of a_k exp(2 pi i k x / side).
  void sum() {
    constexpr std::size_t together = 8;  // adjacent lines that are transformed together, to use whole cache lines
    std::vector<Complex> lines(together * side_);
    const auto along = [&](std::size_t stride, std::size_t across, std::size_t outer) {
      for (std::size_t o = 0; o < side_; ++o) {
        for (std::size_t a = 0; a < side_; a += together) {
          Complex* first = values_.data() + o * outer + a * across;
          const std::size_t count = std::min(together, side_ - a);
          for (std::size_t i = 0; i < side_; ++i) {
            for (std::size_t l = 0; l < count; ++l) lines[l * side_ + i] = first[i * stride + l * across];
          }
          for (std::size_t l = 0; l < count; ++l) transform(lines.data() + l * side_);
          for (std::size_t i = 0; i < side_; ++i) {
            for (std::size_t l = 0; l < count; ++l) first[i * stride + l * across] = lines[l * side_ + i];
          }
        }
      }
    };
    along(side_ * side_, 1, side_);
    along(side_, 1, side_ * side_);
    along(1, side_, side_ * side_);
  }

 private:
  static Complex product(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
  std::size_t wrapped(int i) const { return static_cast<std::size_t>(i) & (side_ - 1); }

  /// Transforms one line in place, by the radix-2 algorithm of Cooley and Tukey.
  void transform(Complex* line) const {
    for (std::size_t i = 1, reversed = 0; i < side_; ++i) {
      std::size_t bit = side_ / 2;
      for (; (reversed & bit) != 0; bit /= 2) reversed ^= bit;
      reversed |= bit;
      if (i < reversed) std::swap(line[i], line[reversed]);
    }
    for (std::size_t half = 1; half < side_; half *= 2) {
      const std::size_t step = side_ / (2 * half);
      for (std::size_t start = 0; start < side_; start += 2 * half) {
        for (std::size_t i = 0; i < half; ++i) {
          Complex &a = line[start + i], &b = line[start + i + half];
          const Complex turned = product(b, roots_[i * step]);
          b = {a.re - turned.re, a.im - turned.im};
          a = {a.re + turned.re, a.im + turned.im};
        }
      }
    }
  }

  std::size_t side_;
  std::vector<Complex> values_, roots_;
};

// Wave numbers count the waves that fit into the diameter of the sphere, which represents 50 Mpc/h.
constexpr double diameter = 50;        // Mpc/h
constexpr double shape = 0.2;          // Omega h, which sets where the spectrum turns over
constexpr int measured_waves = 16;     // waves up to this number, about 3 Mpc/h long, define the amplitude
constexpr double start_density = 0.5;  // rms density contrast of those waves at the start

/// Returns the amplitude of a density wave in a universe of cold dark matter: the square root of the power spectrum of
/// Bardeen, Bond, Kaiser and Szalay 1986, up to a constant factor.
double spectrum_root(double waves) {
  const double k = 2 * portable::pi * waves / diameter;  // h/Mpc
  const double q = k / shape;
  const double sum = 1 + q * (3.89 + q * (16.1 * 16.1 + q * (5.46 * 5.46 * 5.46 + q * 6.71 * 6.71 * 6.71 * 6.71)));
  return std::sqrt(k / std::sqrt(sum)) * portable::log(1 + 2.34 * q) / (2.34 * q);
}

/// Zel'dovich displacement at the start: a sum of periodic waves, in diameters of the sphere. A larger grid adds
/// shorter waves and leaves the others unchanged.
class Displacement {
 public:
  Displacement(int side, std::uint64_t seed, double strength) : side_{side}, xy_{side}, z_{side} {
    const int most = side / 2;
    std::vector<double> amplitudes(static_cast<std::size_t>(most * most));  // indexed by the squared wave number
    for (std::size_t i = 1; i < amplitudes.size(); ++i)
      amplitudes[i] = spectrum_root(std::sqrt(static_cast<double>(i)));
    double measured = 0;  // variance of the density
    for (int x = -measured_waves; x <= measured_waves; ++x) {
      for (int y = -measured_waves; y <= measured_waves; ++y) {
        for (int z = -measured_waves; z <= measured_waves; ++z) {
          const int number_sq = x * x + y * y + z * z;
          if (number_sq == 0 || number_sq > measured_waves * measured_waves) continue;
          const double root = spectrum_root(std::sqrt(static_cast<double>(number_sq)));
          measured += 2 * root * root;
        }
      }
    }
    const double scale = strength * start_density / std::sqrt(measured);

    for (int x = 0; x < most; ++x) {
      for (int y = 1 - most; y < most; ++y) {
        for (int z = 1 - most; z < most; ++z) {
          if (x == 0 && (y < 0 || (y == 0 && z <= 0))) continue;  // the other half of the waves are conjugates
          const int number_sq = x * x + y * y + z * z;
          if (number_sq >= most * most) continue;
          Random random{seed + wave_index(x, y, z)};
          const double factor = scale * amplitudes[static_cast<std::size_t>(number_sq)] /
                                (2 * portable::pi * static_cast<double>(number_sq));
          const double re = factor * random.gaussian(), im = factor * random.gaussian();
          // A density wave of amplitude d displaces by i k d / k^2. The real fields x and y share one complex sum.
          xy_.at(x, y, z) = {-x * im - y * re, x * re - y * im};
          xy_.at(-x, -y, -z) = {-x * im + y * re, -x * re - y * im};
          z_.at(x, y, z) = {-z * im, z * re};
          z_.at(-x, -y, -z) = {-z * im, -z * re};
        }
      }
    }
    xy_.sum();
    z_.sum();
  }

  /// Returns the displacement at a point in units of the diameter, by linear interpolation between the points of the
  /// grid.
  Vec3d at(Vec3d p) const {
    const double gx = p.x * side_, gy = p.y * side_, gz = p.z * side_;
    const double fx = std::floor(gx), fy = std::floor(gy), fz = std::floor(gz);
    const int x = static_cast<int>(fx), y = static_cast<int>(fy), z = static_cast<int>(fz);
    Vec3d sum;
    for (int corner = 0; corner < 8; ++corner) {
      const int cx = corner & 1, cy = corner >> 1 & 1, cz = corner >> 2;
      const double weight =
          (cx == 1 ? gx - fx : 1 - gx + fx) * (cy == 1 ? gy - fy : 1 - gy + fy) * (cz == 1 ? gz - fz : 1 - gz + fz);
      const FourierCube::Complex& xy = xy_.at(x + cx, y + cy, z + cz);
      sum = {sum.x + weight * xy.re, sum.y + weight * xy.im, sum.z + weight * z_.at(x + cx, y + cy, z + cz).re};
    }
    return sum;
  }

 private:
  /// Returns a number that is unique to a wave and does not depend on the grid.
  static std::uint64_t wave_index(int x, int y, int z) {
    constexpr int offset = 512;
    const auto part = [](int i) { return static_cast<std::uint64_t>(i + offset); };
    return (part(x) << 20 | part(y) << 10 | part(z)) * 0x9e3779b97f4a7c15u;
  }

  int side_;
  FourierCube xy_, z_;
};

/// Quasirandom points that fill a cube evenly for any count: multiples of the powers of 1/g with g^4 = g + 1 (Roberts
/// 2018). They are exact, as 64-bit fractions.
class EvenPoints {
 public:
  explicit EvenPoints(Random& random) {
    for (std::uint64_t& part : at_) part = static_cast<std::uint64_t>(random.uniform() * 0x1p63);
  }
  /// Returns the next point, with coordinates in (-1/2, 1/2).
  Vec3d next() {
    static constexpr std::uint64_t steps[3] = {0xd1b54a32d192ed03u, 0xabc98388fb8fac03u, 0x8cb92ba72f3d8dd7u};
    double out[3];
    for (int i = 0; i < 3; ++i) out[i] = (static_cast<double>((at_[i] += steps[i]) >> 12) + 0.5) * 0x1p-52 - 0.5;
    return {out[0], out[1], out[2]};
  }

 private:
  std::uint64_t at_[3];
};

Scene generate(int count, std::uint64_t seed) {
  return cosmic_web(count, seed, 1);
}

}  // namespace

Scene cosmic_web(int count, std::uint64_t seed, double strength) {
  // Grid cells are about as large as the distance between bodies. Shorter waves would only make the bodies uneven.
  const int side = count < 30000 ? 32 : count < 240000 ? 64 : 128;
  const Displacement displacement{side, seed, strength};
  Random random{seed};
  EvenPoints points{random};

  // The sphere expands like part of a flat universe without dark energy: at its escape speed.
  constexpr double length = 2 * cosmic_web_radius;
  const double hubble = std::sqrt(2 / (cosmic_web_radius * cosmic_web_radius * cosmic_web_radius));
  Draft draft;
  draft.reserve(static_cast<std::size_t>(count));
  while (static_cast<int>(draft.size()) < count) {
    const Vec3d p = points.next();
    if (p.x * p.x + p.y * p.y + p.z * p.z > 0.25) continue;
    const Vec3d d = displacement.at(p);  // grows with the radius, so it enters the velocity twice
    const Vec3d x{length * (p.x + d.x), length * (p.y + d.y), length * (p.z + d.z)};
    draft.push_back({1.0 / count,
                     x,
                     {hubble * (x.x + length * d.x), hubble * (x.y + length * d.y), hubble * (x.z + length * d.z)}});
  }
  // Softening: a third of the mean distance at the start, a twentieth of it when the radius has grown sevenfold.
  const double spacing = cosmic_web_radius * portable::pow(4 * portable::pi / 3 / count, 1.0 / 3);
  const double softening = std::min(spacing / 3, 0.02);
  const double time_step = 0.002 * std::clamp(portable::pow(16384.0 / count, 1.0 / 6), 0.1, 1.5);
  return {"cosmic-web", finished(std::move(draft)), static_cast<float>(time_step), static_cast<float>(softening)};
}

extern const SceneInfo scene_cosmic_web;

constinit const SceneInfo scene_cosmic_web{
    .id = "cosmic-web",
    .title = "Cosmic web",
    .notes =
        "An expanding sphere with the density waves of cold dark matter (Zel'dovich), which become filaments and "
        "haloes.",
    .default_count = 16384,
    .fixed_count = 0,
    .min_count = 1,
    .random = true,
    .generate = generate,
};

}  // namespace orrery
