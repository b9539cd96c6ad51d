#include "app/lab/tuning/auto_chooser.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "app/lab/metadata.h"
#include "app/lab/tuning/measure_contest.h"
#include "app/text/console.h"
#include "app/text/format_count.h"
#include "compute/core/team.h"

namespace orrery {
namespace {

/// When this program's file was written, in seconds of the file system's clock: a commit may be built more than once.
std::int64_t build_time() {
  std::error_code unknown;
  const auto written = std::filesystem::last_write_time("/proc/self/exe", unknown);
  return unknown ? 0 : std::chrono::duration_cast<std::chrono::seconds>(written.time_since_epoch()).count();
}

std::string words_for(const Variant& variant) {
  return words_for(*variant.kernel, variant.settings);
}

std::string result_of(const Contender& contender) {
  if (!(contender.step_ms > 0)) return contender.problem;
  std::string text = fmt::format("{:.3g} ms", contender.step_ms);
  if (contender.forecast_from > 0)
    text += fmt::format(", forecast from {} bodies", format_count(contender.forecast_from));
  if (contender.median_error) text += ", " + error_words(*contender.median_error);
  return text;
}

std::string table(const Contest& contest) {
  std::string text;
  for (const Contender& contender : contest.contenders) {
    text += fmt::format("\n{}: {}", words_for(contender.variant), result_of(contender));
  }
  return text;
}

bool failed(const Contender& contender) {
  return !contender.problem.empty() && !contender.refused;
}

/// The value of the key `sufficing`.
Json those_that_suffice(const Trials& trials) {
  Json those = Json::array();
  for (const Contender& contender : trials.contenders) {
    if (!contender.variant.kernel->full_fp32 && contender.problem.empty())
      those.push_back(words_for(contender.variant));
  }
  return those;
}

/// Errors of now for those of then: `kept` and `trials` are of the same contenders.
void take_errors(Contest& kept, const Trials& trials) {
  for (std::size_t i = 0; i < kept.contenders.size(); ++i) {
    const Contender& now = trials.contenders[i];
    if (now.variant.kernel->full_fp32) continue;
    if (now.problem.empty()) {
      kept.contenders[i].median_error = now.median_error;
    } else {
      kept.contenders[i] = now;
    }
  }
}

bool has_approximations(const Trials& trials) {
  return std::ranges::any_of(trials.contenders, [](const Contender& each) { return !each.variant.kernel->full_fp32; });
}

/// Why the kernel with its settings cannot take so many bodies; empty where it can.
std::string problem_with(const Variant& variant, int count, const Backends& backends) {
  try {
    backends.make_kernel(*variant.kernel, variant.settings)->prepare(count);
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

Json contest_key(const KernelDemand& demand, Backend backend, const Backends& backends) {
  Json key = machine_metadata(backends);
  for (const char* changing : {"program", "date"}) key.erase(changing);
  key["cpu_threads"] = usable_threads();
  key["backend"] = to_string(backend);
  key["built"] = build_time();
  key["law"] = law_info(demand.law).id;
  key["equal_masses"] = demand.equal_masses;
  key["beside_drawing"] = demand.beside_drawing;
  const bool approximate = approximations_stand(demand, backend);
  key["accuracy"] = approximate ? demand.accuracy : 0.0;
  const int count = approximate ? demand.count : std::min(demand.count, most_measured_bodies(backend));
  const double range = std::round(2 * std::log2(count));
  key["bodies_about"] = std::lround(std::exp2(range / 2));
  return key;
}

AutoChooser::World AutoChooser::this_machine(const Backends& backends) {
  return {.backends = backends,
          .contenders = contenders_here(backends),
          .try_accuracy = std::bind_front(measure_trials, std::cref(backends)),
          .measure = std::bind_front(measure_contest, std::cref(backends)),
          .cache_file = usual_cache_file(),
          .say = console::complain};
}

AutoChooser::AutoChooser(World world)
    : world_{std::move(world)}, cache_{world_.backends.kernels(), world_.cache_file} {}

void AutoChooser::say_problem() {
  if (const std::string problem = cache_.take_problem(); !problem.empty()) world_.say(problem);
}

/// Those of the contenders that may win.
std::vector<Variant> AutoChooser::standing(const KernelDemand& demand) const {
  std::vector<Variant> variants = world_.contenders;
  std::erase_if(variants, [&](const Variant& variant) {
    return !variant.kernel->full_fp32 && !approximations_stand(demand, variant.kernel->backend);
  });
  return variants;
}

/// None where there is none, or where one failed at its trial just now: a new one tells of it.
std::optional<AutoChooser::Found> AutoChooser::kept_contest(const Json& key, const std::vector<Variant>& contenders,
                                                            const Trials& trials) {
  if (std::ranges::any_of(trials.contenders, failed)) return std::nullopt;
  std::optional<Contest> kept = cache_.find(key, contenders);
  say_problem();
  if (!kept) return std::nullopt;
  take_errors(*kept, trials);
  if (kept->preference().empty()) return std::nullopt;
  std::string whence =
      fmt::format("One step with {} bodies, measured {} and kept{}{}:", format_count(kept->count), kept->date,
                  world_.cache_file.empty() ? "" : " in " + world_.cache_file.string(),
                  has_approximations(trials) ? "; median errors measured now, with the present bodies" : "");
  return Found{std::move(*kept), std::move(whence)};
}

AutoChooser::Found AutoChooser::new_contest(const Json& key, const Trials& trials, const KernelDemand& demand,
                                            const ForceSystem& system, const std::stop_token& stop) {
  Contest contest = world_.measure(trials, demand, system, stop);
  bool sound = !contest.preference().empty();
  for (const Contender& contender : contest.contenders) {
    if (contender.step_ms > 0 || contender.refused) continue;
    sound = false;
    world_.say(fmt::format("auto leaves out {}, which failed: {}", words_for(contender.variant), contender.problem));
  }
  if (sound) cache_.store(key, contest);
  say_problem();
  return {contest,
          fmt::format("One step with {} bodies, measured {} by this run:", format_count(contest.count), contest.date)};
}

KernelChoice AutoChooser::choose(const KernelDemand& demand, const ForceSystem& system, const std::stop_token& stop) {
  std::string none = "No kernel stands for election here: it is the default.";
  if (const std::vector<Variant> contenders = standing(demand); !contenders.empty()) {
    const Backend backend = contenders.front().kernel->backend;
    const Trials trials = world_.try_accuracy(contenders, demand, system, stop);
    Json key = contest_key(demand, backend, world_.backends);
    if (approximations_stand(demand, backend)) key[sufficing] = those_that_suffice(trials);
    const std::optional<Found> kept = kept_contest(key, contenders, trials);
    const Found found = kept ? *kept : new_contest(key, trials, demand, system, stop);
    const std::string how = found.whence + table(found.contest);
    std::string too_large;
    for (const std::size_t index : found.contest.preference()) {
      const Variant& variant = found.contest.contenders[index].variant;
      const std::string problem = problem_with(variant, demand.count, world_.backends);
      if (problem.empty()) return {variant.kernel, variant.settings, how + too_large};
      too_large +=
          fmt::format("\n{} cannot take {} bodies: {}", words_for(variant), format_count(demand.count), problem);
    }
    none = how + too_large + "\nNone of these: it is the default.";
  }
  const KernelPtr fallback = world_.backends.default_kernel();
  return {fallback, Settings{*fallback}, none};
}

}  // namespace orrery
