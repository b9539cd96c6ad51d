#include "compute/diagnostics/reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "compute/core/bodies.h"
#include "compute/core/threads.h"

namespace orrery {
namespace {

template <class PairLaw>
Vec3d acceleration(const PairLaw law, const PreciseColumns& bodies, double x, double y, double z) {
  const double* const xs = bodies.x.data();
  const double* const ys = bodies.y.data();
  const double* const zs = bodies.z.data();
  const double* const masses = bodies.mass.data();
  const std::size_t count = bodies.x.size();
  double ax = 0, ay = 0, az = 0;
#pragma omp simd reduction(+ : ax, ay, az)
  for (std::size_t j = 0; j < count; ++j) {
    const double dx = xs[j] - x, dy = ys[j] - y, dz = zs[j] - z;
    const double s = law.factor(dx, dy, dz, masses[j]);
    ax += s * dx;
    ay += s * dy;
    az += s * dz;
  }
  return {ax, ay, az};
}

double length(double x, double y, double z) {
  return std::sqrt(x * x + y * y + z * z);
}

/// Returns the quantile `share` by the nearest-rank method. `sorted` is ascending and not empty.
double nearest_rank(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

/// Returns an error whose values are NaN and fail every tolerance.
ForceError not_finite(int body) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return {nan, nan, nan, nan, body};
}

/// Returns the entry of `values` for `body`, or nothing if there is none. `values` has one entry for each of `bodies`,
/// or no entries.
template <class Value>
std::optional<Value> entry_of(int body, const std::vector<int>& bodies, const std::vector<Value>& values) {
  const auto at = static_cast<std::size_t>(std::ranges::find(bodies, body) - bodies.begin());
  return at < values.size() ? std::optional{values[at]} : std::nullopt;
}

constexpr std::array<double, WrongDigits::decimals + 1> places{1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7};

void count(WrongDigits& digits, float value, float reference) {
  const double difference = std::abs(static_cast<double>(value) - reference);
  ++digits.counts[static_cast<std::size_t>(first_wrong_decimal(difference))];
  if (!std::isfinite(difference)) ++digits.not_finite;
  if (difference > digits.largest) digits.largest = difference;
}

}  // namespace

std::vector<Vec3d> reference_accelerations(std::span<const Vec4> bodies, std::span<const int> targets, const Law& law,
                                           const std::atomic<bool>* cancelled, std::span<const Vec4> low) {
  const PreciseColumns columns{bodies, low};
  std::vector<Vec3d> accelerations(targets.size());
  visit_pair_law<double>(law, [&](const auto& pair_law) {
    for_each_chunk(static_cast<int>(targets.size()), 8, usable_threads(), cancelled, [&](int first, int last) {
      for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
        if (cancelled && *cancelled) return;
        const auto target = static_cast<std::size_t>(targets[i]);
        accelerations[i] = acceleration(pair_law, columns, columns.x[target], columns.y[target], columns.z[target]);
      }
    });
  });
  return accelerations;
}

std::vector<int> sample_targets(int count, int size, int turn) {
  const std::int64_t samples = std::clamp(size, 0, std::max(count, 0));
  std::vector<int> targets;
  targets.reserve(static_cast<std::size_t>(samples));
  std::uint64_t noise = 1;
  for (std::int64_t i = 0; i < samples; ++i) {  // takes one index from each of `samples` parts, so that none occurs
                                                // twice
    const std::int64_t first = i * count / samples;
    const std::int64_t end = (i + 1) * count / samples;
    noise = noise * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX generator, whose upper bits are good
    targets.push_back(static_cast<int>(first + (static_cast<std::int64_t>(noise >> 33) + turn) % (end - first)));
  }
  return targets;
}

int sample_size(const ComparedBodies& compared, int count) {
  return std::clamp(compared.sample, 0, std::max(count, 0));
}

std::vector<int> targets_of(const ComparedBodies& compared, int count) {
  std::vector<int> targets = sample_targets(count, compared.sample, compared.turn);
  const bool exists = compared.body >= 0 && compared.body < count;
  if (!targets.empty() && exists && !std::ranges::binary_search(targets, compared.body)) {
    targets.push_back(compared.body);
  }
  return targets;
}

std::optional<double> BodyErrors::of(int body) const {
  return entry_of(body, bodies, errors);
}

std::optional<Vec4> BodyErrors::acceleration_of(int body) const {
  return entry_of(body, bodies, accelerations);
}

std::vector<Vec4> entries(std::span<const Vec4> values, std::span<const int> targets) {
  std::vector<Vec4> chosen;
  chosen.reserve(targets.size());
  for (const int target : targets) chosen.push_back(values[static_cast<std::size_t>(target)]);
  return chosen;
}

std::vector<double> target_errors(std::span<const Vec4> target_accelerations, std::span<const Vec3d> reference) {
  std::vector<double> errors;
  errors.reserve(reference.size());
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const Vec4& a = target_accelerations[i];
    const Vec3d& r = reference[i];
    const double difference = length(a.x - r.x, a.y - r.y, a.z - r.z);
    const double size = length(r.x, r.y, r.z);
    errors.push_back(size == 0 ? difference : difference / size);
  }
  return errors;
}

ForceError target_error(std::span<const Vec4> target_accelerations, std::span<const int> targets,
                        std::span<const Vec3d> reference) {
  if (targets.empty()) return not_finite(-1);
  std::vector<double> errors = target_errors(target_accelerations, reference);
  const auto bad = std::ranges::find_if_not(errors, [](double error) { return std::isfinite(error); });
  if (bad != errors.end()) return not_finite(targets[static_cast<std::size_t>(bad - errors.begin())]);
  double square_sum = 0;
  for (const double error : errors) square_sum += error * error;
  const int worst = targets[static_cast<std::size_t>(std::ranges::max_element(errors) - errors.begin())];
  std::ranges::sort(errors);
  return {std::sqrt(square_sum / static_cast<double>(errors.size())), nearest_rank(errors, 0.5),
          nearest_rank(errors, 0.99), errors.back(), worst};
}

ForceError force_error(std::span<const Vec4> accelerations, std::span<const int> targets,
                       std::span<const Vec3d> reference) {
  const auto bad = std::ranges::find_if_not(
      accelerations, [](const Vec4& a) { return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z); });
  if (bad != accelerations.end()) return not_finite(static_cast<int>(bad - accelerations.begin()));
  return target_error(entries(accelerations, targets), targets, reference);
}

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

/// Returns the rank of a float among all floats; zero has rank 0. Without the sign, bit patterns are ordered by
/// magnitude.
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
