#include "app/lab/tuning/auto_chooser.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "app/lab/metadata.h"
#include "app/lab/tuning/measure_candidates.h"
#include "app/text/console.h"
#include "compute/core/format_count.h"
#include "compute/core/team.h"

namespace orrery {
namespace {

/// When this program's file was written, in seconds of the file system's clock: a commit may be built more than once.
std::int64_t build_time() {
  std::error_code unknown;
  const auto written = std::filesystem::last_write_time("/proc/self/exe", unknown);
  return unknown ? 0 : std::chrono::duration_cast<std::chrono::seconds>(written.time_since_epoch()).count();
}

std::string result_of(const Candidate& candidate) {
  if (!(candidate.step_ms > 0)) return candidate.problem.text;
  std::string text = fmt::format("{:.3g} ms", candidate.step_ms);
  if (candidate.forecast_from > 0) text += fmt::format(", forecast from {}", counted_bodies(candidate.forecast_from));
  if (candidate.median_error) text += ", " + error_words(candidate);
  return text;
}

std::string table(const TuningResult& result) {
  std::string text;
  for (const Candidate& candidate : result.candidates) {
    text += fmt::format("\n{}: {}", words_for(candidate.variant), result_of(candidate));
  }
  return text;
}

/// Empty unless no candidate meets the accuracy.
std::string unmet(const TuningResult& result, double accuracy) {
  const std::vector<std::size_t> order = result.preference();
  if (order.empty()) return "";
  const Candidate& best = result.candidates[order.front()];
  if (!best.median_error || meets(best, accuracy)) return "";
  return fmt::format(
      "\nNo candidate has a median error of at most {:.2g}, {:g} % of the accuracy, and a p99 of at most {:.2g}, {:g} "
      "% "
      "of {:g} times the accuracy: the fastest of full fp32 accuracy is used.",
      largest_median_error(accuracy), 100 * accuracy_margin, largest_p99_error(accuracy), 100 * p99_margin,
      p99_over_accuracy);
}

bool failed(const Candidate& candidate) {
  return candidate.problem && !candidate.problem.refused;
}

/// The value of the key `accurate_variants`.
Json accurate_among(const AccuracyTrials& trials, double accuracy) {
  Json accurate = Json::array();
  for (const Candidate& candidate : trials.candidates) {
    if (!candidate.problem && meets(candidate, accuracy)) accurate.push_back(words_for(candidate.variant));
  }
  return accurate;
}

/// Replaces the cached errors by the present ones. `cached` and `trials` have the same candidates.
void take_errors(TuningResult& cached, const AccuracyTrials& trials) {
  for (std::size_t i = 0; i < cached.candidates.size(); ++i) {
    const Candidate& now = trials.candidates[i];
    if (now.problem) {
      cached.candidates[i] = now;
    } else {
      cached.candidates[i].median_error = now.median_error;
      cached.candidates[i].p99_error = now.p99_error;
      cached.candidates[i].max_error = now.max_error;
    }
  }
}

bool has_errors(const AccuracyTrials& trials) {
  return std::ranges::any_of(trials.candidates, [](const Candidate& each) { return each.median_error.has_value(); });
}

/// Why the kernel with its settings cannot take so many bodies; empty if it can.
Problem problem_with(const Backends& backends, const Variant& variant, int count) {
  return problem_of([&] { backends.make_kernel(*variant.kernel, variant.settings)->prepare(count); });
}

}  // namespace

Json tuning_key(const Backends& backends, const KernelDemand& demand, Backend backend) {
  Json key = machine_metadata(backends);
  for (const char* changing : {"program", "date"}) key.erase(changing);
  key["cpu_threads"] = usable_threads();
  key["backend"] = to_string(backend);
  key["built"] = build_time();
  key["law"] = law_info(demand.law).id;
  key["equal_masses"] = demand.equal_masses;
  key["jerks"] = demand.jerks;
  key["beside_drawing"] = demand.beside_drawing;
  const bool approximate = approximations_are_candidates(demand, backend);
  key["accuracy"] = approximate ? demand.accuracy : 0.0;
  const int count = approximate ? demand.count : std::min(demand.count, most_measured_bodies(backend));
  const double range = std::round(2 * std::log2(count));
  key["bodies_about"] = std::lround(std::exp2(range / 2));
  return key;
}

AutoChooser::Environment AutoChooser::this_machine(const Backends& backends) {
  return {.backends = backends,
          .candidates = std::bind_front(candidates_here, std::cref(backends)),
          .try_accuracy = std::bind_front(measure_accuracy, std::cref(backends)),
          .measure = std::bind_front(measure_candidates, std::cref(backends)),
          .cache_file = usual_cache_file(),
          .report = console::complain};
}

AutoChooser::AutoChooser(Environment environment)
    : environment_{std::move(environment)}, cache_{environment_.backends.kernels(), environment_.cache_file} {}

void AutoChooser::report_problem() {
  if (const std::string problem = cache_.take_problem(); !problem.empty()) environment_.report(problem);
}

std::vector<Variant> AutoChooser::candidates_for(const KernelDemand& demand) const {
  std::vector<Variant> variants = environment_.candidates();
  std::erase_if(variants, [&](const Variant& variant) {
    return variant.kernel->gives_jerks != demand.jerks ||
           (!variant.kernel->full_fp32 && !approximations_are_candidates(demand, variant.kernel->backend));
  });
  return variants;
}

/// None if there is none, and if a candidate just failed in its trial: a new tuning run reports that.
std::optional<AutoChooser::Found> AutoChooser::cached_result(const Json& key, const AccuracyTrials& trials) {
  if (std::ranges::any_of(trials.candidates, failed)) return std::nullopt;
  std::vector<Variant> candidates;
  for (const Candidate& candidate : trials.candidates) candidates.push_back(candidate.variant);
  std::optional<TuningResult> cached = cache_.find(key, candidates);
  report_problem();
  if (!cached) return std::nullopt;
  take_errors(*cached, trials);
  if (cached->preference().empty()) return std::nullopt;
  const std::filesystem::path& file = environment_.cache_file;
  std::string source = fmt::format("One step with {}, measured {} and cached{}{}:", counted_bodies(cached->count),
                                   cached->date, file.empty() ? "" : " in " + file.string(),
                                   has_errors(trials) ? "; errors measured now, with the present bodies" : "");
  return Found{std::move(*cached), std::move(source)};
}

AutoChooser::Found AutoChooser::new_result(const Json& key, const AccuracyTrials& trials, const KernelDemand& demand,
                                           const ForceSystem& system, const std::stop_token& stop) {
  TuningResult result = environment_.measure(trials, demand, system, stop);
  bool sound = !result.preference().empty();
  for (const Candidate& candidate : result.candidates) {
    if (candidate.step_ms > 0 || candidate.problem.refused) continue;
    sound = false;
    environment_.report(
        fmt::format("auto leaves out {}, which failed: {}", words_for(candidate.variant), candidate.problem.text));
  }
  if (sound) cache_.store(key, result);
  report_problem();
  std::string source =
      fmt::format("One step with {}, measured {} by this run:", counted_bodies(result.count), result.date);
  return {std::move(result), std::move(source)};
}

KernelChoice AutoChooser::choose(const KernelDemand& demand, const ForceSystem& system, const std::stop_token& stop) {
  chosen_.reset();
  std::string none = "There is no candidate here: the default is used.";
  if (const std::vector<Variant> candidates = candidates_for(demand); !candidates.empty()) {
    const Backend backend = candidates.front().kernel->backend;
    const AccuracyTrials trials = environment_.try_accuracy(candidates, demand, system, stop);
    Json key = tuning_key(environment_.backends, demand, backend);
    if (approximations_are_candidates(demand, backend)) {
      key[accurate_variants] = accurate_among(trials, demand.accuracy);
    }
    const std::optional<Found> cached = cached_result(key, trials);
    const Found found = cached ? *cached : new_result(key, trials, demand, system, stop);
    const std::string how = found.source + table(found.result) + unmet(found.result, demand.accuracy);
    std::string too_large;
    for (const std::size_t index : found.result.preference()) {
      const Variant& variant = found.result.candidates[index].variant;
      const Problem problem = problem_with(environment_.backends, variant, demand.count);
      if (!problem) {
        chosen_ = found.result.candidates[index];
        return {variant.kernel, variant.settings, how + too_large};
      }
      too_large +=
          fmt::format("\n{} cannot take {}: {}", words_for(variant), counted_bodies(demand.count), problem.text);
    }
    none = how + too_large + "\nNone of these: the default is used.";
  }
  const KernelPtr fallback = environment_.backends.default_kernel(demand.jerks);
  return {fallback, Settings{*fallback}, none};
}

}  // namespace orrery
