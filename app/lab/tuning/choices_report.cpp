#include "app/lab/tuning/choices_report.h"

#include <fmt/format.h>

#include "app/lab/tuning/auto_chooser.h"
#include "app/lab/tuning/measure_candidates.h"
#include "app/text/input_file.h"
#include "compute/core/error.h"
#include "compute/core/format_count.h"

namespace orrery {
namespace {

/// Whether it was measured here, by this build.
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

/// ", accuracy 0.0005 (met by cpu-tree theta=0.5)": all variants below full accuracy that meet it.
std::string accuracy_words(double accuracy, const Json& those) {
  if (!(accuracy > 0)) return "";
  std::string words;
  for (const Json& one : those) words += (words.empty() ? "" : " and ") + one.get<std::string>();
  return fmt::format(", accuracy {:g} (met by {})", accuracy, words.empty() ? "full fp32 alone" : words);
}

}  // namespace

Json choices_json(const Backends& backends) {
  ChoiceCache cache{backends.kernels(), usual_cache_file()};
  Json choices = Json::array();
  const std::vector<Variant> candidates = candidates_here(backends);
  for (const ChoiceCache::Entry& entry : cache.entries()) {
    const std::vector<std::size_t> order = entry.result.preference();
    if (candidates.empty() || order.empty()) continue;
    if (!is_of_this_machine(backends, entry.key, candidates.front().kernel->backend)) continue;
    const Candidate& chosen = entry.result.candidates[order.front()];
    choices.push_back({{"law", entry.key["law"]},
                       {"bodies_about", entry.key["bodies_about"]},
                       {"equal_masses", entry.key["equal_masses"]},
                       {"beside_drawing", entry.key["beside_drawing"]},
                       {"accuracy", entry.key["accuracy"]},
                       {accurate_variants, entry.key.value(accurate_variants, Json(nullptr))},
                       {"kernel", chosen.variant.kernel->id},
                       {"settings", chosen.variant.settings.to_string()},
                       {"step_ms", json_number(chosen.step_ms)},
                       {"median_error", chosen.median_error ? json_number(*chosen.median_error) : Json(nullptr)},
                       {"p99_error", chosen.median_error ? json_number(chosen.p99_error) : Json(nullptr)},
                       {"max_error", chosen.median_error ? json_number(chosen.max_error) : Json(nullptr)},
                       {"bodies", entry.result.count},
                       {"date", entry.result.date}});
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
