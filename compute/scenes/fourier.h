#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace orrery {

/// Sums of waves on a cube of points, the same on every machine: no sine, cosine or library of the system.
class FourierCube {
 public:
  struct Complex {
    double re = 0, im = 0;
  };

  /// `side` points in each direction: a power of two.
  explicit FourierCube(int side) : side_{static_cast<std::size_t>(side)}, values_(side_ * side_ * side_) {
    // e^(i pi) halved until it is one step.
    double cosine = -1, sine = 0;
    for (std::size_t points = 2; points < side_; points *= 2) {
      sine = std::sqrt((1 - cosine) / 2);
      cosine = std::sqrt((1 + cosine) / 2);
    }
    // Powers by halves: errors grow with the logarithm of the power.
    roots_.resize(side_ / 2);
    roots_[0] = {1, 0};
    if (side_ >= 4) roots_[1] = {cosine, sine};
    for (std::size_t i = 2; i < roots_.size(); ++i) roots_[i] = product(roots_[i / 2], roots_[(i + 1) / 2]);
  }

  /// Before sum(): the amplitude of the wave with these wave numbers, each in [-side / 2, side / 2). After it: the
  /// value at the point with these coordinates, each taken modulo the side.
  Complex& at(int x, int y, int z) { return values_[(wrapped(x) * side_ + wrapped(y)) * side_ + wrapped(z)]; }
  const Complex& at(int x, int y, int z) const { return const_cast<FourierCube*>(this)->at(x, y, z); }

  /// Replaces amplitudes a_k by the sums over k of a_k exp(2 pi i k x / side).
  void sum() {
    constexpr std::size_t together = 8;  // lines side by side in memory: a cache line of them is read at once
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

  /// One line in place: Cooley and Tukey's, radix 2.
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

}  // namespace orrery
