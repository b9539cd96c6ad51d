#include "app/auto_choice/measure_contest.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "compute/sim/simulation.h"

namespace orrery {
namespace {

struct Limits {
  int first_count, most_count;  // bodies
  double budget_s;
};
constexpr Limits cpu_limits{.first_count = 2048, .most_count = 8192, .budget_s = 0.35};
constexpr Limits cuda_limits{.first_count = 16'384, .most_count = 131'072, .budget_s = 0.2};
constexpr int steps_a_contender = 9;  // about as many as a contest makes
constexpr double warm_up_s = 0.03;    // until clocks have risen: the first contender is not to pay for it

const Limits& limits_of(Backend backend) {
  return backend == Backend::cuda ? cuda_limits : cpu_limits;
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Bodies that hardly move, so that every step is alike; made for the first contender that can run.
class Track {
 public:
  explicit Track(const KernelDemand& demand) : demand_{demand} {}

  double step_ms(const Variant& variant, int steps) {
    if (!simulation_) {
      simulation_.emplace(SceneRequest{.scene = "plummer", .count = demand_.count}, nullptr, *variant.kernel);
      simulation_->apply(SelectLaw{law_info(demand_.law).id});
      simulation_->apply(SetTimeStep{1e-6f});
      if (!demand_.equal_masses) vary_masses();
    }
    simulation_->apply(variant.command());
    if (!std::exchange(warm_, true)) warm_up();
    simulation_->run(1);  // with another kernel a step takes one evaluation more
    return simulation_->run(steps).step_ms;
  }

 private:
  void vary_masses() {
    Bodies bodies = simulation_->bodies();
    for (std::size_t i = 0; i < bodies.positions.size(); i += 2) bodies.positions[i].w *= 2;
    simulation_->set_bodies(bodies);
  }

  void warm_up() {
    const double end_s = seconds() + warm_up_s;
    for (int steps = 1; seconds() < end_s; steps = std::min(2 * steps, 64)) simulation_->run(steps);
  }

  KernelDemand demand_;
  std::optional<Simulation> simulation_;
  bool warm_ = false;
};

void run_on_track(std::vector<Contender>& contenders, const KernelDemand& demand, double budget_s) {
  Track track{demand};
  hold_contest(
      contenders, [&](const Variant& variant, int steps) { return track.step_ms(variant, steps); }, seconds, budget_s);
}

KernelDemand with_count(KernelDemand demand, int count) {
  demand.count = count;
  return demand;
}

/// The most bodies of which a step of the first contender that runs takes no more than its share of the time.
int affordable_count(const std::vector<Variant>& contenders, const KernelDemand& demand, const Limits& limits) {
  const int most = std::min(demand.count, limits.most_count);
  if (most <= limits.first_count) return most;
  const double share_ms = limits.budget_s * 1e3 / (steps_a_contender * static_cast<double>(contenders.size()));
  for (const Variant& variant : contenders) {
    std::vector<Contender> pilot{{variant}};
    run_on_track(pilot, with_count(demand, limits.first_count), /*budget_s=*/0);
    if (!(pilot.front().step_ms > 0)) continue;
    const double count = limits.first_count * std::sqrt(share_ms / pilot.front().step_ms);
    return static_cast<int>(std::clamp<double>(count, limits.first_count, most));
  }
  return limits.first_count;
}

}  // namespace

int most_measured_bodies(Backend backend) {
  return limits_of(backend).most_count;
}

std::vector<Variant> contenders_here() {
  for (const Backend backend : {Backend::cuda, Backend::cpu}) {
    if (!backend_status(backend).available) continue;
    std::vector<Variant> found;
    for (const KernelInfo* kernel : kernels()) {
      if (kernel->backend != backend) continue;
      for (const char* text : kernel->contenders) {
        Settings settings{*kernel};
        for (const auto& [name, value] : Settings::values_of(text)) settings.set(name, value);
        found.push_back({kernel, settings});
      }
    }
    if (!found.empty()) return found;
  }
  return {};
}

Contest measure_contest(const std::vector<Variant>& contenders, const KernelDemand& demand) {
  const Limits& limits = limits_of(contenders.front().kernel->backend);
  Contest contest{.contenders = {}, .count = affordable_count(contenders, demand, limits)};
  for (const Variant& variant : contenders) contest.contenders.push_back({variant});
  run_on_track(contest.contenders, with_count(demand, contest.count), limits.budget_s);
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  contest.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
  return contest;
}

}  // namespace orrery
