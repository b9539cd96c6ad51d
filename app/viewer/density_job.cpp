#include "app/viewer/density_job.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "compute/core/start_thread.h"
#include "compute/core/team.h"
#include "compute/diagnostics/local_density.h"

namespace orrery {

void DensityJob::start(std::vector<Vec4> positions) {
  positions_ = std::move(positions);
  cancelled_ = done_ = false;
  thread_ = start_thread([this](const std::stop_token&) {
    const auto begin = std::chrono::steady_clock::now();
    const int threads = std::max(usable_threads() / 4, 1);
    densities_ = local_densities(positions_, threads, &cancelled_);
    cost_s_ = threads * std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    done_ = true;
  });
}

std::optional<std::vector<float>> DensityJob::poll() {
  if (!done_) return std::nullopt;
  thread_.join();
  return std::move(densities_);
}

void DensityJob::cancel() {
  cancelled_ = true;
  if (thread_.joinable()) thread_.join();
}

}  // namespace orrery
