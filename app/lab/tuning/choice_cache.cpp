#include "app/lab/tuning/choice_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "app/text/input_file.h"
#include "app/text/user_folder.h"
#include "compute/core/atomic_file.h"
#include "compute/core/error.h"
#include "compute/core/failure_text.h"

namespace orrery {
namespace {

constexpr int format = 1;
constexpr std::size_t most_entries = 200;  // of all machines and builds that share the folder

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
    if (candidate.median_error) {
      row["median_error"] = json_number(*candidate.median_error);
      row["p99_error"] = json_number(candidate.p99_error);
      row["max_error"] = json_number(candidate.max_error);
    }
    candidates.push_back(std::move(row));
  }
  return {{"date", result.date}, {"bodies", result.count}, {"candidates", candidates}};
}

int count_of(const Json& value) {
  if (const std::optional<int> count = json_count(value)) return *count;
  throw UsageError("that is no number of bodies");
}

/// Another process knows another kernel, or none, under the id of one that was put into the catalog.
bool built_in(const Candidate& candidate) {
  return candidate.variant.kernel->revision == 0;
}

/// Throws Json::exception or UsageError if it is not a result with built-in kernels and settings that this build has.
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
      candidate.median_error = error->get<double>();
      candidate.p99_error = row.at("p99_error").get<double>();  // the earlier versions judged medians alone
      candidate.max_error = row.at("max_error").get<double>();
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
      // Another build's kernels.
    } catch (const Json::exception&) {
      // Damaged, or of another version: it is measured again, and the others hold.
    }
  }
  drop_oldest(entries);
  return entries;
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
  (void)entries();  // a problem with the file is reported once
  const std::string reported = problem_;
  std::vector<Entry> all = read();  // other runs may have added results
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

}  // namespace orrery
