#include "app/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "app/statistics.h"
#include "app/table.h"
#include "compute/core/names.h"

namespace orrery {
namespace {

/// The member of this name; null where there is none.
const Json& member(const Json& object, const char* name) {
  static const Json null;
  const auto found = object.find(name);  // end() of what is no object
  return found == object.end() ? null : *found;
}

std::string text_or_empty(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string{};
}

double number_or_nan(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

/// One result of a benchmark.
struct Entry {
  std::string kernel, settings;
  std::int64_t n = 0;  // 0: not known
  std::string law, integrator, scene;
  Summary step_ms;

  bool same_work(const Entry& other) const {
    return n > 0 && !kernel.empty() && kernel == other.kernel && settings == other.settings && n == other.n &&
           law == other.law && integrator == other.integrator && scene == other.scene;
  }
  bool has_interval() const { return step_ms.low > 0 && step_ms.low <= step_ms.high && std::isfinite(step_ms.high); }
  std::string label() const {
    return fmt::format("{}{}{} n={} ({}, {}, {})", kernel, settings.empty() ? "" : " ", settings, n, scene, law,
                       integrator);
  }
};

std::string settings_of(const Json& result) {
  std::map<std::string, std::string> sorted;
  for (const auto& [name, value] : member(result, "settings").items()) sorted[name] = text_or_empty(value);
  std::string text;
  for (const auto& [name, value] : sorted) text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

std::vector<Entry> entries_of(const Json& whole) {
  const Json& metadata = member(whole, "metadata");
  std::vector<Entry> entries;
  for (const Json& result : member(whole, "results")) {
    const Json &n = member(result, "n"), &step_ms = member(result, "step_ms");
    entries.push_back({.kernel = text_or_empty(member(result, "kernel")),
                       .settings = settings_of(result),
                       .n = n.is_number_integer() ? n.get<std::int64_t>() : 0,
                       .law = text_or_empty(member(metadata, "law")),
                       .integrator = text_or_empty(member(metadata, "integrator")),
                       .scene = text_or_empty(member(metadata, "scene")),
                       .step_ms = {.median = number_or_nan(member(step_ms, "median")),
                                   .min = number_or_nan(member(step_ms, "min")),
                                   .low = number_or_nan(member(step_ms, "low")),
                                   .high = number_or_nan(member(step_ms, "high"))}});
  }
  return entries;
}

/// "slower", "faster", "unchanged" or why neither can be said; counts it.
std::string verdict(const Entry& before, const Entry& now, Comparison& comparison) {
  if (!before.has_interval() || !now.has_interval()) {
    ++comparison.not_comparable;
    return fmt::format("not comparable: no interval {}", before.has_interval() ? "now" : "before");
  }
  if (now.step_ms.low > before.step_ms.high) return ++comparison.slower, "slower";
  if (now.step_ms.high < before.step_ms.low) return ++comparison.faster, "faster";
  return ++comparison.unchanged, "unchanged";
}

/// What else has changed than the program's sources: times may come from there.
std::string differences(const Json& before, const Json& now) {
  constexpr std::array names{"cpu", "gpu", "driver", "cuda_runtime", "build_flags"};
  std::string text;
  for (const char* name : names) {
    const Json &old = member(member(before, "metadata"), name), &present = member(member(now, "metadata"), name);
    if (old == present) continue;
    text += fmt::format("{}{} ({} before, {} now)", text.empty() ? "" : ", ", name, json_text(old), json_text(present));
  }
  return text;
}

std::string labels(const std::vector<const Entry*>& entries) {
  return joined(entries, [](const Entry* entry) { return entry->label(); });
}

}  // namespace

Json read_baseline(const std::string& file) {
  const auto fail = [&](const std::string& why) {
    throw std::runtime_error(fmt::format("cannot compare with '{}': {}", file, why));
  };
  std::ifstream text{file};
  if (!text) fail(std::generic_category().message(errno));
  Json whole = Json::parse(text, /*callback=*/nullptr, /*allow_exceptions=*/false);
  if (whole.is_discarded()) fail("it is not JSON");
  if (!member(whole, "results").is_array()) fail("it has no results: it is no file of 'orrery bench --json'");
  return whole;
}

Comparison compare(const Json& before, const Json& now, const std::string& name) {
  const std::vector<Entry> old_entries = entries_of(before), entries = entries_of(now);
  Comparison comparison;
  Table table{"llrrrrl", {"kernel", "settings", "n", "before ms", "now ms", "now/before", ""}};
  std::vector<const Entry*> only_before, only_now;
  std::vector<bool> matched(old_entries.size());
  for (const Entry& entry : entries) {
    std::size_t at = 0;  // an entry that is there several times has as many counterparts
    while (at < old_entries.size() && (matched[at] || !entry.same_work(old_entries[at]))) ++at;
    if (at == old_entries.size()) {
      only_now.push_back(&entry);
      continue;
    }
    matched[at] = true;
    const Entry& old = old_entries[at];
    table.add({entry.kernel, entry.settings, std::to_string(entry.n), significant(old.step_ms.median),
               significant(entry.step_ms.median), significant(entry.step_ms.median / old.step_ms.median, 3),
               verdict(old, entry, comparison)});
  }
  for (std::size_t i = 0; i < old_entries.size(); ++i) {
    if (!matched[i]) only_before.push_back(&old_entries[i]);
  }
  const int pairs = comparison.faster + comparison.slower + comparison.unchanged + comparison.not_comparable;
  comparison.text = fmt::format("\ncompared with {}\n{}", name, pairs > 0 ? table.text() : "");
  comparison.text += fmt::format("{} slower, {} faster, {} unchanged within the noise, {} not comparable\n",
                                 comparison.slower, comparison.faster, comparison.unchanged, comparison.not_comparable);
  if (!only_now.empty()) comparison.text += "not in " + name + ": " + labels(only_now) + '\n';
  if (!only_before.empty()) comparison.text += "only in " + name + ": " + labels(only_before) + '\n';
  const std::string other = differences(before, now);
  if (!other.empty()) comparison.text += "measured differently: " + other + '\n';
  return comparison;
}

}  // namespace orrery
