#include "app/window/next_kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/ui_state/window_commands.h"
#include "app/window/step_statistics.h"
#include "compute/core/names.h"
#include "compute/core/threads.h"
#include "compute/integrators/integrator.h"
#include "compute/integrators/time_step_levels.h"

namespace orrery {
namespace {

constexpr double scalar_pairs_per_s = 4e8, simd_pairs_per_s = 2e9;  // of one thread of a processor of some years ago

double pairs(int count) {
  return static_cast<double>(count) * count;
}

/// Number of evaluations of all bodies per step. With block steps, evaluations of some bodies add up; a kernel that
/// takes no targets evaluates all bodies each time.
double evaluations_of(const std::string& integrator_id, const KernelInfo& kernel, const Status& status) {
  const IntegratorInfo& integrator = find_integrator(integrator_id);
  if (!integrator.block_steps || kernel.takes_targets) return integrator.evaluations_per_step;
  return 1 << (status.levels ? deepest_of(*status.levels) : most_leapfrog_level);
}

/// Whether the row's steps have as many evaluations as those of `status`.
bool same_steps(const Result& row, const Status& status) {
  return row.integrator_id == status.integrator_id && (!status.block_steps || row.eta == status.eta);
}

/// One of those that `auto` may choose uses the processor's vector units.
double guess_s(const KernelInfo& kernel, const Status& status) {
  if (kernel.is_tree || kernel.backend != Backend::cpu) return 0;
  const double rate = kernel.candidates.empty() ? scalar_pairs_per_s : simd_pairs_per_s;
  const int threads = kernel.tunable("threads") ? usable_threads() : 1;
  return evaluations_of(status.integrator_id, kernel, status) * pairs(status.count) * kernel.pairs_per_interaction /
         (rate * threads);
}

}  // namespace

double forecast_step_s(const KernelInfo& kernel, const Status& status, std::span<const Result> results) {
  double least_s = 0;
  for (const Result& row : results) {
    if (row.kernel_id != kernel.id || row.kernel_revision != kernel.revision || !(row.step_ms.median > 0)) continue;
    const bool same = same_steps(row, status);
    if (!same && find_integrator(row.integrator_id).block_steps) continue;
    const double growth = static_cast<double>(status.count) / row.count;
    const double evaluations =
        same ? 1
             : evaluations_of(status.integrator_id, kernel, status) / evaluations_of(row.integrator_id, kernel, status);
    const double s = row.step_ms.median * 1e-3 * evaluations * (kernel.is_tree ? growth : growth * growth);
    least_s = least_s > 0 ? std::min(least_s, s) : s;
  }
  return least_s > 0 ? least_s : guess_s(kernel, status);
}

std::map<std::string, double, std::less<>> evaluation_times(std::span<const KernelPtr> kernels, const Status& status,
                                                            std::span<const Result> results) {
  Status one_evaluation = status;
  one_evaluation.integrator_id = leapfrog.id;
  one_evaluation.block_steps = false;
  std::map<std::string, double, std::less<>> times;
  for (const KernelPtr& kernel : kernels) {
    const double s = forecast_step_s(*kernel, one_evaluation, results);
    if (s > 0) times.emplace(kernel->id, s);
  }
  return times;
}

NextKernel next_kernel(const Status& status, const ViewStatus& view, std::span<const Result> results,
                       Direction direction) {
  std::vector<const KernelInfo*> stops{nullptr};  // `auto`
  const bool needs_jerks = find_integrator(status.integrator_id).needs_jerks;
  for (const KernelPtr& kernel : view.kernels) {
    const bool suits = kernel->gives_jerks || !needs_jerks;
    if (suits && view.backend(kernel->backend).available) stops.push_back(kernel.get());
  }
  const auto is_present = [&](const KernelInfo* stop) {
    return stop ? !status.auto_choice && status.kernel_id == stop->id : status.auto_choice.has_value();
  };
  const auto size = std::ssize(stops);
  const std::ptrdiff_t by = direction == Direction::forward ? 1 : -1;
  auto present = std::ranges::find_if(stops, is_present) - stops.begin();
  if (present == size) present = by > 0 ? -1 : 0;  // before the first, or after the last
  NextKernel next;
  for (std::ptrdiff_t i = 1; i <= size; ++i) {
    const KernelInfo* const stop = stops[static_cast<std::size_t>(((present + by * i) % size + size) % size)];
    next.id = stop ? stop->id : auto_kernel;
    if (!stop || is_present(stop) || forecast_step_s(*stop, status, results) <= NextKernel::longest_step_s) break;
    next.slow.push_back(next.id);
  }
  return next;
}

std::string NextKernel::notice() const {
  if (slow.empty()) return {};
  return fmt::format("passed over {}: more than {} s per step; the list Kernel has them", joined(slow), longest_step_s);
}

}  // namespace orrery
