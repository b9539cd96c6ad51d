#pragma once

#include <cmath>

/// exp, log and pow from additions, multiplications and exact functions alone, accurate to about 1e-15 (relative for
/// exp and pow, absolute near 1 for log). The C library's may differ in the last bit between versions and processors,
/// and a scene must be the same bodies on every machine.
namespace orrery::portable {

inline constexpr double pi = 3.141592653589793238;
inline constexpr double ln2 = 0.693147180559945309;

/// x in [-700, 700].
inline double exp(double x) {
  const double powers_of_two = std::floor(x / ln2 + 0.5);
  const double rest = x - powers_of_two * ln2;  // |rest| <= ln2 / 2: 14 terms of the series reach 1e-17
  double sum = 1;
  for (int term = 14; term >= 1; --term) sum = 1 + sum * rest / term;
  return std::ldexp(sum, static_cast<int>(powers_of_two));
}

/// x > 0 and finite.
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

/// x > 0 and finite.
inline double pow(double x, double y) {
  return exp(y * log(x));
}

}  // namespace orrery::portable
