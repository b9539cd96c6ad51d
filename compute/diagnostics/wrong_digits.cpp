#include "compute/diagnostics/wrong_digits.h"

#include <cmath>
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

}  // namespace orrery
