#include "app/auto_choice/measure_contest.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "compute/sim/simulation.h"

namespace orrery {
namespace {

struct Limits {
  int first_count, most_count;  // bodies
  double budget_s;
};
constexpr Limits cpu_limits{.first_count = 2048, .most_count = 8192, .budget_s = 0.4};
constexpr Limits cuda_limits{.first_count = 16'384, .most_count = 131'072, .budget_s = 0.25};
constexpr int steps_a_contender = 6;  // about as many as a contest makes

const Limits& limits_of(Backend backend) {
  return backend == Backend::cuda ? cuda_limits : cpu_limits;
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Bodies that hardly move, so that every step is alike; made for the first contender that can run.
class Track {
 public:
  Track(int count, LawId law) : count_{count}, law_{law} {}

  double step_ms(const Variant& variant, int steps) {
    if (!simulation_) {
      simulation_.emplace(SceneRequest{.scene = "plummer", .count = count_}, nullptr, *variant.kernel);
      simulation_->apply(SelectLaw{law_info(law_).id});
      simulation_->apply(SetTimeStep{1e-6f});
    }
    simulation_->apply(variant.command());
    simulation_->run(1);  // with another kernel a step takes one evaluation more
    return simulation_->run(steps).step_ms;
  }

 private:
  int count_;
  LawId law_;
  std::optional<Simulation> simulation_;
};

void run_on_track(std::vector<Contender>& contenders, int count, LawId law, double budget_s) {
  Track track{count, law};
  hold_contest(
      contenders, [&](const Variant& variant, int steps) { return track.step_ms(variant, steps); }, seconds, budget_s);
}

/// The most bodies of which a step of the first contender that runs takes no more than its share of the time.
int affordable_count(const std::vector<Variant>& contenders, const KernelDemand& demand, const Limits& limits) {
  const int most = std::min(demand.count, limits.most_count);
  if (most <= limits.first_count) return most;
  const double share_ms = limits.budget_s * 1e3 / (steps_a_contender * static_cast<double>(contenders.size()));
  for (const Variant& variant : contenders) {
    std::vector<Contender> pilot{{variant}};
    run_on_track(pilot, limits.first_count, demand.law, /*budget_s=*/0);
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
  run_on_track(contest.contenders, contest.count, demand.law, limits.budget_s);
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  contest.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
  return contest;
}

}  // namespace orrery
