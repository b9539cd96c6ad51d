// Force errors of sampled bodies, and the limits that kernels promise for them.
#include "app/lab/force_promise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "compute/core/threads.h"

namespace orrery {
namespace {

constexpr double rounding = 0x1p-24;  // unit roundoff of float

// Ratios to the usual limit that are allowed for the p99 of the errors and for the maximum.
constexpr double direct_p99 = 5, tree_p99 = 10, direct_max = 10, tree_max = 50;

// Bodies that every tree sums directly: at least the body's own leaf cell and the cells that touch it.
constexpr std::ptrdiff_t near_bodies = 64;

// Relative error of the repulsion of distant cells, in units of theta^2: usual and largest. Trees compute this
// repulsion from the cells' masses alone.
constexpr double usual_repulsion = 0.5, largest_repulsion = 4;

double length(double x, double y, double z) {
  return std::sqrt(x * x + y * y + z * z);
}

double nearest_rank(std::vector<double> values, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::ranges::nth_element(values, at);
  return *at;
}

/// Returns the number of bodies that share position and mass with another one. Their equal terms round in one
/// direction.
double repeated_bodies(std::span<const Vec4> bodies) {
  const auto key = [](const Vec4& body) { return std::tuple{body.x, body.y, body.z, body.w}; };
  std::vector<Vec4> sorted{bodies.begin(), bodies.end()};
  std::ranges::sort(sorted, {}, key);
  double repeated = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) repeated += key(sorted[i]) == key(sorted[i - 1]);
  return repeated;
}

double number_of(const Settings& settings, std::string_view name, double otherwise) {
  const std::string text = settings.text_or_none(name);
  return text.empty() || text == "off" ? otherwise : std::stod(text);
}

/// Returns the usual error of a tree's cells as a fraction of the sum of all terms. With `tolerance`, each cell
/// neglects at most that fraction of the total acceleration; the errors add up randomly to a few times the fraction.
/// With `theta`, a cell neglects its next moment: of order theta^2 after the monopole, theta^3 after the quadrupole.
/// Local expansions obey only the tolerance, if there is one.
double cells_share(const KernelInfo& kernel, const Settings& settings) {
  const Settings initial{kernel};
  const double theta = number_of(settings, "theta", 1);
  if (!settings.has("tolerance")) {
    const double growth = theta / number_of(initial, "theta", 1);
    return kernel.tolerance.median * std::max(1.0, growth * growth);
  }
  const std::string order = settings.text_or_none("order");
  const bool monopole = order == "monopole", expands = order == "local" || order == "high";
  const double by_theta = monopole ? 3e-2 * theta * theta : 1.5e-2 * theta * theta * theta;
  const double tolerance = number_of(settings, "tolerance", std::numeric_limits<double>::infinity());
  const double by_tolerance = (monopole ? 10 : 6) * tolerance;
  return expands && std::isfinite(tolerance) ? by_tolerance : std::min(by_theta, by_tolerance);
}

}  // namespace

ForceSample::ForceSample(std::span<const Vec4> bodies, const Law& law, int size)
    : targets_{sample_targets(static_cast<int>(bodies.size()), size)},
      reference_{reference_accelerations(bodies, targets_, law)},
      seconds_{std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count()} {}

ForcePromise::ForcePromise(std::span<const Vec4> bodies, const ForceSample& sample, const Law& law)
    : sample_{sample}, count_{static_cast<double>(bodies.size())}, sizes_(sample.targets().size()) {
  const double repeated = repeated_bodies(bodies);
  for_each_chunk(sample.size(), 8, usable_threads(), nullptr, [&](int first, int last) {
    std::vector<float> terms(bodies.size()), repulsions(bodies.size());
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
      sizes_[i] = sizes_at(bodies, sample.targets()[i], law, repeated, terms, repulsions);
      const Vec3d& pull = sample.reference()[i];
      sizes_[i].pull = length(pull.x, pull.y, pull.z);
    }
  });
}

/// `terms` and `repulsions` are scratch memory for one float per body.
ForcePromise::TermSizes ForcePromise::sizes_at(std::span<const Vec4> bodies, int target, const Law& law,
                                               double repeated, std::vector<float>& terms,
                                               std::vector<float>& repulsions) {
  const Vec4 me = bodies[static_cast<std::size_t>(target)];
  const double eps_sq = static_cast<double>(law.softening) * law.softening;
  const double h = law.id == LawId::attract_repel ? law.repulsion : 0.0;
  TermSizes sizes;
  for (std::size_t j = 0; j < bodies.size(); ++j) {
    const double dx = static_cast<double>(bodies[j].x) - me.x, dy = static_cast<double>(bodies[j].y) - me.y;
    const double dz = static_cast<double>(bodies[j].z) - me.z;
    const double r_sq = dx * dx + dy * dy + dz * dz, inverse_sq = 1 / (r_sq + eps_sq);
    const double attraction = bodies[j].w * std::sqrt(r_sq * inverse_sq) * inverse_sq;
    const double repulsion = h * inverse_sq * attraction;
    sizes.all += attraction + repulsion;
    terms[j] = static_cast<float>(attraction + repulsion);
    repulsions[j] = static_cast<float>(repulsion);
  }
  // An addition loses at most the smaller of the term and one rounding of the sum. Terms that are only a few roundings
  // in size, and equal terms, lose in one direction. A partial sum is half of all terms on average.
  constexpr float few = 8;
  const auto one = static_cast<float>(rounding * sizes.all);
  for (const float term : terms) {
    if (term <= few * one) sizes.lost += std::min(term, one);
  }
  sizes.lost += 0.5 * repeated * rounding * sizes.all;
  if (h > 0 && std::ssize(repulsions) > near_bodies) {
    const auto nearest = repulsions.begin() + near_bodies;
    std::ranges::nth_element(repulsions, nearest, std::greater<>{});
    sizes.far_repulsion = std::accumulate(nearest, repulsions.end(), 0.0);
  }
  return sizes;
}

ForcePromise::Limit ForcePromise::limit(const KernelInfo& kernel, const Settings& settings,
                                        const TermSizes& sizes) const {
  const double least = count_ * std::numeric_limits<float>::min();  // smaller terms may be flushed to zero
  if (kernel.reads_low_words) {                                     // double sums: only the result is rounded to float
    const double usual = kernel.tolerance.median * sizes.pull + count_ * 0x1p-52 * sizes.all + least;
    return {usual, direct_max * usual};
  }
  // The rounding errors of a sum grow as a random walk.
  const double rounded = 0.5 * rounding * std::sqrt(count_) * sizes.all + sizes.lost + least;
  if (!kernel.is_tree) {
    const double usual = kernel.tolerance.median * sizes.all + rounded;
    const bool states_its_own = !kernel.full_fp32 || kernel.file_text;
    return {usual, states_its_own ? std::max(usual, kernel.tolerance.max * sizes.all + direct_max * rounded)
                                  : direct_max * usual};
  }
  constexpr double direct_part = 5e-6;  // relative rounding error of a pair or a cell
  const double theta = number_of(settings, "theta", 1), repulsion = theta * theta * sizes.far_repulsion;
  const double usual =
      (cells_share(kernel, settings) + direct_part) * sizes.all + usual_repulsion * repulsion + rounded;
  const double largest = std::min(kernel.tolerance.max, tree_max * cells_share(kernel, settings)) * sizes.all;
  return {usual, std::max(usual, largest + largest_repulsion * repulsion + direct_max * rounded)};
}

ForceVerdict ForcePromise::judge(const KernelInfo& kernel, const Settings& settings,
                                 std::span<const Vec4> accelerations, bool sample_only) const {
  ForceVerdict verdict{.error = sample_only ? sample_.error_of_these(accelerations) : sample_.error(accelerations),
                       .allowed = {}};
  ForceError& error = verdict.error;
  if (!std::isfinite(error.max)) {  // errors with NaN cannot be sorted
    verdict.failure = sizes_.empty() ? "no body was compared" : "some accelerations are not finite";
    return verdict;
  }
  const double p99_times = kernel.is_tree ? tree_p99 : direct_p99;
  const std::vector<double> errors = target_errors(entries(accelerations, sample_.targets()), sample_.reference());
  std::vector<double> of_usual, of_largest, usual, largest;  // errors / limits, and limits / |a|
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    const Limit limits = limit(kernel, settings, sizes_[i]);
    const double size = sizes_[i].pull == 0 ? 1 : sizes_[i].pull;  // the same convention as in target_errors()
    usual.push_back(limits.usual / size);
    largest.push_back(limits.largest / size);
    of_usual.push_back(errors[i] / usual.back());
    of_largest.push_back(errors[i] / largest.back());
  }
  const auto allowed = [](double found, double part, double otherwise) { return part > 0 ? found / part : otherwise; };
  const auto worst = std::ranges::max_element(of_largest);
  verdict.allowed = {
      .median = allowed(error.median, nearest_rank(of_usual, 0.5), nearest_rank(usual, 0.5)),
      .p99 = allowed(error.p99, nearest_rank(of_usual, 0.99) / p99_times, p99_times * nearest_rank(usual, 0.99)),
      .max = allowed(error.max, *worst, nearest_rank(largest, 0.5))};
  const auto exceeds = [&](const std::string& name, double found, double most) {
    if (found <= most || !verdict.failure.empty()) return;
    verdict.failure = fmt::format("the {} is {:.2g}, allowed is {:.2g}", name, found, most);
  };
  exceeds("median error", error.median, verdict.allowed.median);
  exceeds("p99 of the error", error.p99, verdict.allowed.p99);
  const auto at = static_cast<std::size_t>(worst - of_largest.begin());
  exceeds(fmt::format("error of body {}", sample_.targets()[at]), errors[at], largest[at]);
  return verdict;
}

std::string law_note(const KernelInfo& kernel, const Settings& settings, LawId law) {
  const std::string order = settings.text_or_none("order");
  if (law != LawId::attract_repel || !kernel.is_tree || (order != "local" && order != "high")) return {};
  return fmt::format("{}: under attract-repel, order={} acts as order=quadrupole: the repulsion has no expansions",
                     kernel.id, order);
}

}  // namespace orrery
