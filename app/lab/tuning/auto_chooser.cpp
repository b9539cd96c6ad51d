// The choice of `auto`: its cache, its tuning runs, and the report of earlier choices.
#include "app/lab/tuning/auto_chooser.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "app/lab/metadata.h"
#include "app/lab/tuning/candidates.h"
#include "app/text/console.h"
#include "app/text/input_file.h"
#include "compute/core/atomic_file.h"
#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/core/text.h"
#include "compute/core/threads.h"

namespace orrery {

Json error_json(const std::optional<ForceError>& error) {
  const auto part = [&](double ForceError::*value) { return error ? json_number((*error).*value) : Json(nullptr); };
  return {{"median_error", part(&ForceError::median)},
          {"p99_error", part(&ForceError::p99)},
          {"max_error", part(&ForceError::max)}};
}

namespace {

constexpr int format = 1;
constexpr std::size_t most_entries = 200;  // for all machines and builds that share the folder

Json result_json(const TuningResult& result) {
  Json candidates = Json::array();
  for (const Candidate& candidate : result.candidates) {
    Json row{{"kernel", candidate.variant.kernel->id}, {"settings", candidate.variant.settings.to_string()}};
    if (candidate.step_ms > 0) {
      row["step_ms"] = candidate.step_ms;
    } else {
      row["problem"] = candidate.problem.text;
    }
    if (candidate.forecast_from > 0) row["forecast_from"] = candidate.forecast_from;
    if (candidate.error) row.update(error_json(candidate.error));
    candidates.push_back(std::move(row));
  }
  return {{"date", result.date}, {"bodies", result.count}, {"candidates", candidates}};
}

int count_of(const Json& value) {
  if (const std::optional<int> count = json_count(value)) return *count;
  throw UsageError("that is no number of bodies");
}

/// Returns whether the kernel is built in. Another process may have no kernel or another one under an id added at run
/// time.
bool built_in(const Candidate& candidate) {
  return candidate.variant.kernel->revision == 0;
}

std::string result_words(const Candidate& candidate) {
  if (!(candidate.step_ms > 0)) return candidate.problem.text;
  std::string text = fmt::format("{:.3g} ms", candidate.step_ms);
  if (candidate.forecast_from > 0) text += fmt::format(", forecast from {}", counted_bodies(candidate.forecast_from));
  if (candidate.error) text += ", " + error_words(*candidate.error);
  return text;
}

/// Reads a result. Throws Json::exception or UsageError unless this build has its kernels and settings.
TuningResult result_of(const KernelCatalog& kernels, const Json& json) {
  TuningResult result{
      .candidates = {}, .count = count_of(json.at("bodies")), .date = json.at("date").get<std::string>()};
  for (const Json& row : json.at("candidates")) {
    const KernelPtr kernel = kernels.find(row.at("kernel").get<std::string>());
    const std::string settings = row.at("settings").get<std::string>();
    Candidate candidate{{kernel, Settings{*kernel, Settings::values_of(settings)}}};
    if (!built_in(candidate)) throw UsageError("that kernel was replaced");
    if (row.contains("problem")) {
      candidate.problem = {.text = row["problem"].get<std::string>(), .refused = true};
    } else {
      candidate.step_ms = row.at("step_ms").get<double>();
      if (!(candidate.step_ms > 0 && std::isfinite(candidate.step_ms))) throw UsageError("that is no time of a step");
    }
    if (row.contains("forecast_from")) candidate.forecast_from = count_of(row["forecast_from"]);
    if (const auto error = row.find("median_error"); error != row.end() && error->is_number()) {
      candidate.error = ForceError{.rms = std::numeric_limits<double>::quiet_NaN(),  // not stored in the file
                                   .median = error->get<double>(),
                                   .p99 = row.at("p99_error").get<double>(),  // missing in files of earlier versions
                                   .max = row.at("max_error").get<double>()};
    }
    result.candidates.push_back(std::move(candidate));
  }
  return result;
}

bool same_candidates(const TuningResult& result, const std::vector<Variant>& candidates) {
  return std::ranges::equal(result.candidates, candidates, [](const Candidate& a, const Variant& b) {
    return same_kernel(*a.variant.kernel, *b.kernel) && a.variant.settings == b.settings;
  });
}

void drop_oldest(std::vector<ChoiceCache::Entry>& entries) {
  if (entries.size() > most_entries) entries.erase(entries.begin(), entries.end() - most_entries);
}

std::vector<ChoiceCache::Entry> entries_of(const KernelCatalog& kernels, const Json& json) {
  std::vector<ChoiceCache::Entry> entries;
  for (const Json& row : json) {
    try {
      entries.push_back({row.at("key"), result_of(kernels, row)});
    } catch (const UsageError&) {
      // Skips an entry that this build cannot use, such as one with an unknown kernel.
    } catch (const Json::exception&) {
      // Skips an entry that is damaged or of another version; it is measured again. The others remain valid.
    }
  }
  drop_oldest(entries);
  return entries;
}

/// Returns when this program's file was written, in s of the file system's clock. Identifies the build, as a commit may
/// be built more than once.
std::int64_t build_time() {
  std::error_code unknown;
  const auto written = std::filesystem::last_write_time("/proc/self/exe", unknown);
  return unknown ? 0 : std::chrono::duration_cast<std::chrono::seconds>(written.time_since_epoch()).count();
}

std::string table(const TuningResult& result) {
  std::string text;
  for (const Candidate& candidate : result.candidates) {
    text += fmt::format("\n{}: {}", words_for(candidate.variant), result_words(candidate));
  }
  return text;
}

/// Explains that no candidate meets the accuracy; empty if one does.
std::string unmet(const TuningResult& result, double accuracy) {
  const std::vector<std::size_t> order = result.preference();
  if (order.empty()) return "";
  const Candidate& best = result.candidates[order.front()];
  if (!best.error || meets(best, accuracy)) return "";
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

/// Returns the value of the key `accurate_variants`.
Json accurate_among(const AccuracyTrials& trials, double accuracy) {
  Json accurate = Json::array();
  for (const Candidate& candidate : trials.candidates) {
    if (!candidate.problem && meets(candidate, accuracy)) accurate.push_back(words_for(candidate.variant));
  }
  return accurate;
}

/// Replaces the cached errors with the current ones. `cached` and `trials` have the same candidates.
void take_errors(TuningResult& cached, const AccuracyTrials& trials) {
  for (std::size_t i = 0; i < cached.candidates.size(); ++i) {
    const Candidate& now = trials.candidates[i];
    if (now.problem) {
      cached.candidates[i] = now;
    } else {
      cached.candidates[i].error = now.error;
    }
  }
}

bool has_errors(const AccuracyTrials& trials) {
  return std::ranges::any_of(trials.candidates, [](const Candidate& each) { return each.error.has_value(); });
}

/// Returns why the kernel with these settings cannot handle `count` bodies; empty if it can.
Problem problem_with(const Backends& backends, const Variant& variant, int count) {
  return problem_of([&] { backends.make_kernel(*variant.kernel, variant.settings)->prepare(count); });
}

/// Returns whether this entry was measured on this machine, by this build.
bool is_of_this_machine(const Backends& backends, Json key, Backend backend) {
  try {
    for (const Json& one : key.value(accurate_variants, Json::array())) (void)one.get_ref<const std::string&>();
    key.erase(accurate_variants);
    const std::optional<int> count = json_count(key.at("bodies_about"));
    return count && key == tuning_key(backends,
                                      {.count = *count,
                                       .law = find_law(key.at("law").get<std::string>()),
                                       .equal_masses = key.at("equal_masses").get<bool>(),
                                       .accuracy = key.at("accuracy").get<double>(),
                                       .beside_drawing = key.at("beside_drawing").get<bool>()},
                                      backend);
  } catch (const Json::exception&) {
    return false;
  } catch (const UsageError&) {
    return false;
  }
}

/// Returns ", accuracy 0.0005 (met by cpu-tree theta=0.5)", with all variants below full accuracy that meet it.
std::string accuracy_words(double accuracy, const Json& those) {
  if (!(accuracy > 0)) return "";
  std::string words;
  for (const Json& one : those) words += (words.empty() ? "" : " and ") + one.get<std::string>();
  return fmt::format(", accuracy {:g} (met by {})", accuracy, words.empty() ? "full fp32 alone" : words);
}

}  // namespace

std::filesystem::path usual_cache_file() {
  const std::filesystem::path folder = user_folder("XDG_CACHE_HOME", ".cache");
  return folder.empty() ? folder : folder / "orrery" / "auto-kernels.json";
}

std::vector<ChoiceCache::Entry> ChoiceCache::read() {
  std::error_code unknown;
  if (file_.empty() || !std::filesystem::exists(file_, unknown)) return {};
  const auto fail = [&](const std::string& why) -> std::vector<Entry> {
    problem_ = fmt::format("the cached choices of kernels cannot be used and will be measured again: {}", why);
    return {};
  };
  try {
    const Json json = read_json(file_.string());
    if (json.at("program") != "orrery") return fail(fmt::format("'{}': another program wrote it", file_.string()));
    if (json.at("format") != format) {
      another_versions_ = true;
      problem_ = fmt::format(
          "another version of orrery caches its choices of kernels in '{}': this one's hold for this run only",
          file_.string());
      return {};
    }
    return entries_of(kernels_, json.at("choices"));
  } catch (const Json::exception&) {
    return fail(fmt::format("'{}': it is not what this program writes", file_.string()));
  } catch (const std::runtime_error& error) {
    return fail(failure_text(error));
  }
}

const std::vector<ChoiceCache::Entry>& ChoiceCache::entries() {
  if (!std::exchange(read_once_, true)) entries_ = read();
  return entries_;
}

std::optional<TuningResult> ChoiceCache::find(const Json& key, const std::vector<Variant>& candidates) {
  const std::vector<Entry>& known = entries();
  const auto found = std::find_if(known.rbegin(), known.rend(), [&](const Entry& entry) {
    return entry.key == key && same_candidates(entry.result, candidates);
  });
  return found == known.rend() ? std::nullopt : std::optional{found->result};
}

void ChoiceCache::store(const Json& key, const TuningResult& result) {
  if (!std::ranges::all_of(result.candidates, built_in)) return;
  (void)entries();  // reads the file once, so that a problem with it is reported once
  const std::string reported = problem_;
  std::vector<Entry> all = read();  // another process may have added results
  problem_ = reported;
  for (Entry& entry : entries_) {
    if (std::ranges::find(all, entry.key, &Entry::key) == all.end()) all.push_back(std::move(entry));
  }
  std::erase_if(all, [&](const Entry& entry) { return entry.key == key; });
  all.push_back({key, result});
  drop_oldest(all);
  entries_ = std::move(all);
  write();
}

void ChoiceCache::write() {
  if (file_.empty() || another_versions_) return;
  Json choices = Json::array();
  for (const Entry& entry : entries_) {
    Json row{{"key", entry.key}};
    row.update(result_json(entry.result));
    choices.push_back(std::move(row));
  }
  try {
    std::filesystem::create_directories(file_.parent_path());
    const Json whole{{"program", "orrery"}, {"format", format}, {"choices", choices}};
    write_file(file_, json_text(whole, 1) + '\n', Existing::replace);
  } catch (const std::filesystem::filesystem_error& error) {
    problem_ =
        fmt::format("the choice of a kernel cannot be cached in '{}': {}", file_.string(), error.code().message());
  } catch (const std::exception& error) {
    problem_ = fmt::format("the choice of a kernel cannot be cached: {}", failure_text(error));
  }
}

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

/// Returns none if nothing is cached, or if a candidate just failed in its trial. A new tuning run then reports the
/// failure.
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

Json choices_json(const Backends& backends) {
  ChoiceCache cache{backends.kernels(), usual_cache_file()};
  Json choices = Json::array();
  const std::vector<Variant> candidates = candidates_here(backends);
  for (const ChoiceCache::Entry& entry : cache.entries()) {
    const std::vector<std::size_t> order = entry.result.preference();
    if (candidates.empty() || order.empty()) continue;
    if (!is_of_this_machine(backends, entry.key, candidates.front().kernel->backend)) continue;
    const Candidate& chosen = entry.result.candidates[order.front()];
    Json& choice = choices.emplace_back(Json{{"law", entry.key["law"]},
                                             {"bodies_about", entry.key["bodies_about"]},
                                             {"equal_masses", entry.key["equal_masses"]},
                                             {"beside_drawing", entry.key["beside_drawing"]},
                                             {"accuracy", entry.key["accuracy"]},
                                             {accurate_variants, entry.key.value(accurate_variants, Json(nullptr))},
                                             {"kernel", chosen.variant.kernel->id},
                                             {"settings", chosen.variant.settings.to_string()},
                                             {"step_ms", json_number(chosen.step_ms)}});
    choice.update(error_json(chosen.error));
    choice["bodies"] = entry.result.count;
    choice["date"] = entry.result.date;
  }
  return {{"cache", cache.file().empty() ? Json(nullptr) : Json(cache.file().string())},
          {"problem", cache.take_problem()},
          {"choices", choices}};
}

std::vector<std::string> choices_lines(const Json& choices) {
  if (choices["cache"].is_null()) return {"choices are not cached: neither XDG_CACHE_HOME nor HOME names a folder"};
  std::vector<std::string> lines{
      fmt::format("choices are cached in {}; remove it to measure again", choices["cache"].get<std::string>())};
  if (const auto problem = choices["problem"].get<std::string>(); !problem.empty()) lines.push_back(problem);
  for (const Json& choice : choices["choices"]) {
    const Json& error = choice["median_error"];
    lines.push_back(fmt::format(
        "{}, about {}{}{}{}: {} {}, {:.3g} ms per step with {}{} ({})", choice["law"].get<std::string>(),
        counted_bodies(choice["bodies_about"].get<int>()), choice["equal_masses"].get<bool>() ? " of one mass" : "",
        choice["beside_drawing"].get<bool>() ? ", beside a window" : "",
        accuracy_words(choice["accuracy"].get<double>(), choice[accurate_variants]),
        choice["kernel"].get<std::string>(), choice["settings"].get<std::string>(), choice["step_ms"].get<double>(),
        counted_bodies(choice["bodies"].get<int>()),
        error.is_number()
            ? fmt::format(", median error {:.2g}, p99 {:.2g}", error.get<double>(), choice["p99_error"].get<double>())
            : std::string{},
        choice["date"].get<std::string>()));
  }
  return lines;
}

}  // namespace orrery
