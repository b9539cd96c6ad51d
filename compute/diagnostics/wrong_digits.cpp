#include "compute/diagnostics/wrong_digits.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace orrery {
namespace {

constexpr std::array<double, WrongDigits::decimals + 1> places{1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7};

void count(WrongDigits& digits, float value, float reference) {
  const double difference = std::abs(static_cast<double>(value) - reference);
  ++digits.counts[static_cast<std::size_t>(first_wrong_decimal(difference))];
  if (!std::isfinite(difference)) ++digits.not_finite;
  if (difference > digits.largest) digits.largest = difference;
}

}  // namespace

int first_wrong_decimal(double difference) {
  const double size = std::abs(difference);
  for (int decimal = 0; decimal <= WrongDigits::decimals; ++decimal) {
    if (!(size < places[static_cast<std::size_t>(decimal)])) return decimal;
  }
  return WrongDigits::none;
}

WrongDigits wrong_digits(std::span<const Vec4> positions, std::span<const Vec4> reference) {
  WrongDigits digits;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    count(digits, positions[i].x, reference[i].x);
    count(digits, positions[i].y, reference[i].y);
    count(digits, positions[i].z, reference[i].z);
  }
  if (digits.not_finite > 0) digits.largest = std::numeric_limits<double>::quiet_NaN();
  return digits;
}

namespace {

/// The place of a float on the line of all floats. Their bit patterns are ordered by magnitude, with the sign apart.
std::int64_t place(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto magnitude = static_cast<std::int64_t>(bits & 0x7fffffffu);
  return bits >> 31 ? -magnitude : magnitude;
}

void count(UlpHistogram& histogram, float value, double reference) {
  const bool reference_fits = std::abs(reference) <= std::numeric_limits<float>::max();
  if (!std::isfinite(value) || !reference_fits) {
    ++histogram.not_finite;
    return;
  }
  const std::int64_t distance = ulp_distance(value, static_cast<float>(reference));
  ++histogram.counts[static_cast<std::size_t>(UlpHistogram::class_of(distance))];
}

}  // namespace

std::int64_t ulp_distance(float a, float b) {
  return std::abs(place(a) - place(b));
}

int UlpHistogram::class_of(std::int64_t distance) {
  return distance == 0 ? 0 : 1 + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(distance - 1)));
}

std::int64_t UlpHistogram::least(int index) {
  return index < 2 ? index : most(index - 1) + 1;
}

std::int64_t UlpHistogram::most(int index) {
  return index == 0 ? 0 : std::int64_t{1} << (index - 1);
}

UlpHistogram ulp_histogram(std::span<const Vec4> accelerations, std::span<const int> targets,
                           std::span<const Vec3d> reference) {
  UlpHistogram histogram;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Vec4& a = accelerations[static_cast<std::size_t>(targets[i])];
    count(histogram, a.x, reference[i].x);
    count(histogram, a.y, reference[i].y);
    count(histogram, a.z, reference[i].z);
  }
  return histogram;
}

}  // namespace orrery
