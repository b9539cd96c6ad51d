#include "app/lab/tuning/choice_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "app/text/input_file.h"
#include "compute/core/atomic_file.h"
#include "compute/core/error.h"

namespace orrery {
namespace {

constexpr int format = 1;
constexpr std::size_t most_entries = 200;  // of all machines and builds that share the folder

std::filesystem::path full_path_in(const char* variable) {
  const char* const value = std::getenv(variable);
  const std::filesystem::path path{value ? value : ""};
  return path.is_absolute() ? path : std::filesystem::path{};
}

Json contest_json(const Contest& contest) {
  Json contenders = Json::array();
  for (const Contender& contender : contest.contenders) {
    Json row{{"kernel", contender.variant.kernel->id}, {"settings", contender.variant.settings.to_string()}};
    if (contender.step_ms > 0) {
      row["step_ms"] = contender.step_ms;
    } else {
      row["problem"] = contender.problem;
    }
    if (contender.forecast_from > 0) row["forecast_from"] = contender.forecast_from;
    if (contender.median_error) row["median_error"] = json_number(*contender.median_error);
    contenders.push_back(std::move(row));
  }
  return {{"date", contest.date}, {"bodies", contest.count}, {"contenders", contenders}};
}

int count_of(const Json& value) {
  if (const std::optional<int> count = json_count(value)) return *count;
  throw UsageError("that is no number of bodies");
}

/// Throws Json::exception or UsageError where it is no contest of kernels and settings that this build has.
Contest contest_of(const KernelCatalog& kernels, const Json& json) {
  Contest contest{.contenders = {}, .count = count_of(json.at("bodies")), .date = json.at("date").get<std::string>()};
  for (const Json& row : json.at("contenders")) {
    const KernelPtr kernel = kernels.find(row.at("kernel").get<std::string>());
    Contender contender{{kernel, Settings{*kernel}}};
    for (const auto& [name, value] : Settings::values_of(row.at("settings").get<std::string>())) {
      contender.variant.settings.set(name, value);
    }
    if (row.contains("problem")) {
      contender.problem = row["problem"].get<std::string>();
      contender.refused = true;
    } else {
      contender.step_ms = row.at("step_ms").get<double>();
      if (!(contender.step_ms > 0 && std::isfinite(contender.step_ms))) throw UsageError("that is no time of a step");
    }
    if (row.contains("forecast_from")) contender.forecast_from = count_of(row["forecast_from"]);
    if (const auto error = row.find("median_error"); error != row.end() && error->is_number()) {
      contender.median_error = error->get<double>();
    }
    contest.contenders.push_back(std::move(contender));
  }
  return contest;
}

bool same_contenders(const Contest& contest, const std::vector<Variant>& contenders) {
  return std::ranges::equal(contest.contenders, contenders, [](const Contender& a, const Variant& b) {
    return same_kernel(*a.variant.kernel, *b.kernel) && a.variant.settings == b.settings;
  });
}

void keep_latest(std::vector<ChoiceCache::Entry>& entries) {
  if (entries.size() > most_entries) entries.erase(entries.begin(), entries.end() - most_entries);
}

std::vector<ChoiceCache::Entry> entries_of(const KernelCatalog& kernels, const Json& json) {
  std::vector<ChoiceCache::Entry> entries;
  for (const Json& row : json) {
    try {
      entries.push_back({row.at("key"), contest_of(kernels, row)});
    } catch (const UsageError&) {
      // Another build's kernels.
    } catch (const Json::exception&) {
      // Damaged: it is measured anew, and the others hold.
    }
  }
  keep_latest(entries);
  return entries;
}

}  // namespace

std::filesystem::path usual_cache_file() {
  std::filesystem::path folder = full_path_in("XDG_CACHE_HOME");
  if (folder.empty()) {
    folder = full_path_in("HOME");
    if (folder.empty()) return {};
    folder /= ".cache";
  }
  return folder / "orrery" / "auto-kernels.json";
}

std::vector<ChoiceCache::Entry> ChoiceCache::read() {
  std::error_code unknown;
  if (file_.empty() || !std::filesystem::exists(file_, unknown)) return {};
  const auto fail = [&](const std::string& why) -> std::vector<Entry> {
    problem_ = fmt::format("the kept choices of kernels are of no use and will be measured anew: {}", why);
    return {};
  };
  try {
    const Json json = read_json(file_.string());
    if (json.at("program") != "orrery") return fail(fmt::format("'{}': another program wrote it", file_.string()));
    if (json.at("format") != format) {
      another_versions_ = true;
      problem_ = fmt::format(
          "another version of orrery keeps its choices of kernels in '{}': this one's are kept for "
          "this run alone",
          file_.string());
      return {};
    }
    return entries_of(kernels_, json.at("choices"));
  } catch (const Json::exception&) {
    return fail(fmt::format("'{}': it is not what this program writes", file_.string()));
  } catch (const std::runtime_error& error) {
    return fail(error.what());
  }
}

const std::vector<ChoiceCache::Entry>& ChoiceCache::entries() {
  if (!std::exchange(read_once_, true)) entries_ = read();
  return entries_;
}

std::optional<Contest> ChoiceCache::find(const Json& key, const std::vector<Variant>& contenders) {
  const std::vector<Entry>& known = entries();
  const auto found = std::find_if(known.rbegin(), known.rend(), [&](const Entry& entry) {
    return entry.key == key && same_contenders(entry.contest, contenders);
  });
  return found == known.rend() ? std::nullopt : std::optional{found->contest};
}

void ChoiceCache::store(const Json& key, const Contest& contest) {
  (void)entries();  // what is wrong with the file is told once
  const std::string told = problem_;
  std::vector<Entry> kept = read();  // what other runs have found meanwhile
  problem_ = told;
  for (Entry& entry : entries_) {
    if (std::ranges::find(kept, entry.key, &Entry::key) == kept.end()) kept.push_back(std::move(entry));
  }
  std::erase_if(kept, [&](const Entry& entry) { return entry.key == key; });
  kept.push_back({key, contest});
  keep_latest(kept);
  entries_ = std::move(kept);
  write();
}

void ChoiceCache::write() {
  if (file_.empty() || another_versions_) return;
  Json choices = Json::array();
  for (const Entry& entry : entries_) {
    Json row{{"key", entry.key}};
    row.update(contest_json(entry.contest));
    choices.push_back(std::move(row));
  }
  try {
    std::filesystem::create_directories(file_.parent_path());
    const Json whole{{"program", "orrery"}, {"format", format}, {"choices", choices}};
    write_file(file_, json_text(whole, 1) + '\n', Existing::replace);
  } catch (const std::filesystem::filesystem_error& error) {
    problem_ = fmt::format("the choice of a kernel cannot be kept in '{}': {}", file_.string(), error.code().message());
  } catch (const std::exception& error) {
    problem_ = fmt::format("the choice of a kernel cannot be kept: {}", error.what());
  }
}

}  // namespace orrery
