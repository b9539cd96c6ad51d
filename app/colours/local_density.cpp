#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "app/colours/body_colour.h"
#include "compute/core/text.h"
#include "compute/core/threads.h"
#include "compute/diagnostics/structure.h"

namespace orrery {
namespace {

constexpr render::ColourBy by_local_density{};
constexpr int most_bodies = 1 << 24;
constexpr double lockstep_s_per_body = 2e-6;  // interval in deterministic runs: two frames for 16,384 bodies

/// Computes local densities in the background, one array at a time, on a quarter of the usable threads.
class DensityJob {
 public:
  DensityJob() = default;
  DensityJob(const DensityJob&) = delete;
  DensityJob& operator=(const DensityJob&) = delete;
  /// Cancels the computation and waits for the thread, which ends soon.
  ~DensityJob() {
    cancelled_ = true;
    if (thread_.joinable()) thread_.join();
  }

  bool running() const { return thread_.joinable(); }
  /// Starts a computation. Requires !running(). Throws std::runtime_error if no thread can be started.
  void start(std::vector<Vec4> positions) {
    positions_ = std::move(positions);
    done_ = false;
    thread_ = start_thread([this](const std::stop_token&) {
      const auto begin = std::chrono::steady_clock::now();
      const int threads = std::max(usable_threads() / 4, 1);
      densities_ = local_densities(positions_, threads, &cancelled_);
      cost_s_ = threads * std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      done_ = true;
    });
  }
  /// Returns the densities once they are known, and ends running(); nothing before. Requires running().
  std::optional<std::vector<float>> poll() {
    if (!done_) return std::nullopt;
    thread_.join();
    return std::move(densities_);
  }
  /// Returns an upper bound of the last computation's processor time, in s.
  double cost_s() const { return cost_s_; }

 private:
  std::vector<Vec4> positions_;
  std::vector<float> densities_;
  double cost_s_ = 0;
  std::atomic<bool> cancelled_ = false, done_ = false;
  std::jthread thread_;  // last, because it uses the members above
};

class LocalDensities final : public ColourValues {
 public:
  bool wants_positions(const ValueSources& from) override {
    if (from.count > most_bodies) return false;
    is_old_ |= from.moved;
    const double interval_s = from.lockstep ? from.count * lockstep_s_per_body : density_interval_s(job_.cost_s());
    const bool due = is_old_ && (!asked_s_ || from.now_s - *asked_s_ >= interval_s);
    if (!due || reading_ || job_.running()) return false;
    is_old_ = false;
    asked_s_ = from.now_s;
    reading_ = true;
    return true;
  }

  bool renew(const ValueSources& from, std::vector<float>& values) override {
    if (from.positions) {
      reading_ = false;
      if (from.lockstep) {
        values = local_densities(*from.positions, usable_threads());
        return true;
      }
      job_.start(*from.positions);
    }
    if (!job_.running()) return false;
    std::optional<std::vector<float>> densities = job_.poll();
    if (!densities) return false;
    values = std::move(*densities);
    return true;
  }

 private:
  DensityJob job_;
  bool is_old_ = true;             // the bodies have moved since the last request for positions
  bool reading_ = false;           // positions were requested and have not arrived
  std::optional<double> asked_s_;  // time of the last request for positions
};

std::string why_unknown(const Status& status) {
  if (status.count <= most_bodies) return "being computed";
  return fmt::format("not computed of more than {} bodies", format_count(most_bodies));
}

}  // namespace

double density_interval_s(double cost_s) {
  constexpr double share = 0.02;
  return std::max(std::min(cost_s / share, 1.0), 4 * cost_s);
}

extern const BodyColour colour_local_density;
constinit const BodyColour colour_local_density{
    .id = "local-density",
    .title = "local density",
    .notes =
        "The mass of the 15 nearest neighbours over the volume of the sphere that reaches to the 16th one (Casertano "
        "and Hut 1985), of up to 16,777,216 bodies. It is renewed every second, or less often if that would take more "
        "than a quarter of a processor.",
    .quantity = "local density",
    .unit = "mass / length\u00b3",
    .dimension = dimension::density,
    .by = &by_local_density,
    .create = create_values<LocalDensities>,
    .why_unknown = why_unknown,
};

}  // namespace orrery
