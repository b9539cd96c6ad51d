// Earlier benchmarks: reads the files of `bench --json` and `bench --csv`, and compares them with new results.
#include "app/lab/baseline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "app/lab/statistics.h"
#include "app/lab/variants.h"
#include "app/text/input_file.h"
#include "app/text/parse_value.h"
#include "app/text/table.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/text.h"
#include "compute/kernels/kernel.h"

namespace orrery {
namespace {

// A CSV within these limits is compared in seconds and a few hundred MB of memory, whatever its contents.
constexpr std::size_t most_csv_bytes = 8'000'000, most_rows = 100'000, most_row_bytes = 2048;

/// Returns a JSON number; null if the field is empty or not a number.
template <class Number>
Json number_of(std::string_view field) {
  Number value{};
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  return error == std::errc{} && end == field.data() + field.size() ? Json(value) : Json(nullptr);
}

/// Access to the fields of a row by the names of their columns.
class Columns {
 public:
  explicit Columns(std::string_view header) : names_{csv_fields(header)} {}
  bool has(std::string_view name) const { return std::ranges::find(names_, name) != names_.end(); }
  /// Returns an empty text if there is no such column, or the row is too short.
  std::string_view field(const std::vector<std::string>& row, std::string_view name) const {
    const auto place = static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
    return place < row.size() ? std::string_view{row[place]} : std::string_view{};
  }

 private:
  std::vector<std::string> names_;
};

Json result_of(const Columns& columns, const std::vector<std::string>& row) {
  const auto number = [&](std::string_view name) { return number_of<double>(columns.field(row, name)); };
  Json settings = Json::object();
  for (auto& [name, value] : Settings::values_of(std::string{columns.field(row, "settings")})) settings[name] = value;
  return {{"kernel", columns.field(row, "kernel")},
          {"settings", std::move(settings)},
          {"n", number_of<int>(columns.field(row, "n"))},
          {"dt", number("dt")},
          {"softening", number("softening")},
          {"step_ms",
           {{"median", number("median_ms")},
            {"min", number("min_ms")},
            {"low", number("low_ms")},
            {"high", number("high_ms")}}}};
}

/// Converts a CSV to the JSON of the same benchmark, as far as a comparison reads it.
Json whole_of_csv(std::string_view text, const std::string& file) {
  const auto refuse = [&](const std::string& cause) { throw std::runtime_error(fmt::format("'{}': {}", file, cause)); };
  if (text.size() > most_csv_bytes) refuse(fmt::format("it has more than {} MB", most_csv_bytes / 1'000'000));
  Json whole{{"metadata", parse_json(take_line(text).substr(1), file)}, {"results", Json::array()}};
  const Columns columns{take_line(text)};
  if (!columns.has("median_ms")) return whole;
  while (!text.empty()) {
    const std::string_view row = take_line(text);
    if (whole["results"].size() == most_rows) refuse(fmt::format("it has over {} rows", most_rows));
    if (row.size() > most_row_bytes) refuse(fmt::format("a row has over {} bytes", most_row_bytes));
    whole["results"].push_back(result_of(columns, csv_fields(row)));
  }
  return whole;
}

/// Returns the member `name` of `object`; null if there is none.
const Json& member(const Json& object, const char* name) {
  static const Json null;
  const auto found = object.find(name);  // end() if `object` is not a JSON object
  return found == object.end() ? null : *found;
}

std::string_view text_or_empty(const Json& value) {
  return value.is_string() ? value.get_ref<const std::string&>() : std::string_view{};
}

double number_or_nan(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

/// Returns "seed (1 before, 2 now), dt (...)": the `names` whose values differ; empty if none do. `before` and `now`
/// return the value of a name.
template <class Before, class Now>
std::string differing(std::span<const char* const> names, const Before& before, const Now& now) {
  std::string text;
  for (const char* name : names) {
    const Json &old = before(name), &present = now(name);
    if (old == present) continue;
    text += fmt::format("{}{} ({} before, {} now)", text.empty() ? "" : ", ", name, json_text(old), json_text(present));
  }
  return text;
}

constexpr std::array work_names{"seed", "dt", "eta", "digits", "softening", "repulsion", "drag", "protocol"};

std::string settings_of(const Json& result) {
  std::map<std::string, std::string_view> sorted;
  for (const auto& [name, value] : member(result, "settings").items()) sorted[name] = text_or_empty(value);
  std::string text;
  for (const auto& [name, value] : sorted) text.append(text.empty() ? "" : " ").append(name + "=").append(value);
  return text;
}

/// One result of a benchmark. References `result` and `metadata`, which must outlive it, as a file may have many
/// results.
struct Entry {
  Entry(const Json& result, const Json& metadata)
      : result{result},
        metadata{metadata},
        kernel{text_or_empty(member(result, "kernel"))},
        settings{settings_of(result)},
        n{json_count(member(result, "n")).value_or(0)} {
    const Json& times = member(result, "step_ms");
    step_ms = {.median = number_or_nan(member(times, "median")),
               .min = number_or_nan(member(times, "min")),
               .low = number_or_nan(member(times, "low")),
               .high = number_or_nan(member(times, "high"))};
  }

  std::string_view law() const { return text_or_empty(member(metadata, "law")); }
  std::string_view integrator() const { return text_or_empty(member(metadata, "integrator")); }
  std::string_view scene() const { return text_or_empty(member(metadata, "scene")); }
  /// Returns the value of one of work_names: that of the result, such as dt, which may depend on n; else that of the
  /// run.
  const Json& work(const char* name) const {
    const Json& own = member(result, name);
    return own.is_null() ? member(metadata, name) : own;
  }

  bool is_counterpart(const Entry& other) const {
    return n > 0 && !kernel.empty() && kernel == other.kernel && settings == other.settings && n == other.n &&
           law() == other.law() && integrator() == other.integrator() && scene() == other.scene();
  }
  bool has_interval() const {
    return step_ms.low > 0 && step_ms.low <= step_ms.median && step_ms.median <= step_ms.high &&
           std::isfinite(step_ms.high);
  }
  std::string label() const {
    return fmt::format("{}{}{} n={} ({}, {}, {})", kernel, settings.empty() ? "" : " ", settings, n, scene(), law(),
                       integrator());
  }

  const Json &result, &metadata;
  std::string_view kernel;
  std::string settings;
  int n;  // number of bodies; 0: not known
  Summary step_ms;
};

std::vector<Entry> entries_of(const Json& whole) {
  const Json& metadata = member(whole, "metadata");
  std::vector<Entry> entries;
  for (const Json& result : member(whole, "results")) entries.emplace_back(result, metadata);
  return entries;
}

/// Returns the labels of the first few entries, and how many more there are.
std::string first_of(const std::vector<const Entry*>& entries) {
  constexpr std::size_t most = 5;
  const std::string text = joined(std::span{entries}.first(std::min(entries.size(), most)),
                                  [](const Entry* entry) { return entry->label(); });
  return entries.size() > most ? fmt::format("{} and {} more", text, entries.size() - most) : text;
}

/// The earlier runs, whose entries are matched with the new ones.
class Runs {
 public:
  explicit Runs(std::span<const Baseline> runs) {
    for (const Baseline& run : runs) runs_.push_back({run.file, entries_of(run.whole), {}});
    for (Run& run : runs_) run.taken.resize(run.entries.size());
  }

  std::size_t size() const { return runs_.size(); }

  /// Returns one unused counterpart from each run that has one, and marks it as used. An entry that occurs several
  /// times gets a different counterpart each time.
  std::vector<const Entry*> take_counterparts(const Entry& entry) {
    std::vector<const Entry*> found;
    for (Run& run : runs_) {
      std::size_t at = 0;
      while (at < run.entries.size() && (run.taken[at] || !entry.is_counterpart(run.entries[at]))) ++at;
      if (at == run.entries.size()) continue;
      run.taken[at] = true;
      found.push_back(&run.entries[at]);
    }
    return found;
  }

  /// Returns the entries without a counterpart, by file.
  std::vector<std::pair<std::string, std::string>> left() const {
    std::vector<std::pair<std::string, std::string>> result;
    for (const Run& run : runs_) {
      std::vector<const Entry*> entries;
      for (std::size_t i = 0; i < run.entries.size(); ++i) {
        if (!run.taken[i]) entries.push_back(&run.entries[i]);
      }
      if (!entries.empty()) result.emplace_back(run.file, first_of(entries));
    }
    return result;
  }

 private:
  struct Run {
    std::string file;
    std::vector<Entry> entries;
    std::vector<bool> taken;
  };
  std::vector<Run> runs_;
};

/// Returns the hull of the intervals and the median of the medians; a median of NaN if one of them is not finite.
Summary together(const std::vector<const Entry*>& entries) {
  std::vector<double> medians;
  Summary result = entries.front()->step_ms;
  for (const Entry* entry : entries) {
    medians.push_back(entry->step_ms.median);
    result.low = std::min(result.low, entry->step_ms.low);
    result.high = std::max(result.high, entry->step_ms.high);
  }
  const bool known = std::ranges::all_of(medians, [](double median) { return std::isfinite(median); });
  result.median = known ? median(std::move(medians)) : std::numeric_limits<double>::quiet_NaN();
  return result;
}

/// Returns "slower", "faster", "unchanged", or why the entries cannot be compared. Adds to the counts of `comparison`.
/// `before` is used only if all `counterparts` have intervals.
std::string verdict(const std::vector<const Entry*>& counterparts, const Summary& before, const Entry& now,
                    double noise, Comparison& comparison) {
  for (const Entry* old : counterparts) {
    const std::string other = differing(
        work_names, [&](const char* name) -> const Json& { return old->work(name); },
        [&](const char* name) -> const Json& { return now.work(name); });
    if (other.empty()) continue;
    ++comparison.not_comparable;
    return "not comparable: other work: " + other;
  }
  const bool old_intervals =
      std::ranges::all_of(counterparts, [](const Entry* entry) { return entry->has_interval(); });
  if (!old_intervals || !now.has_interval()) {
    ++comparison.not_comparable;
    return fmt::format("not comparable: no interval {}", old_intervals ? "now" : "before");
  }
  const double floor = 1 + noise / 100;
  if (now.step_ms.low > before.high && now.step_ms.median > before.median * floor) return ++comparison.slower, "slower";
  if (now.step_ms.high < before.low && before.median > now.step_ms.median * floor) return ++comparison.faster, "faster";
  return ++comparison.unchanged, "unchanged";
}

/// Returns differences other than the program's sources, which may explain the times.
std::string other_machine(const Json& before, const Json& now) {
  constexpr std::array names{"cpu", "gpu", "driver", "cuda_runtime", "build_flags", "measured"};
  const auto metadata = [](const Json& whole) {
    return [&whole](const char* name) -> const Json& { return member(member(whole, "metadata"), name); };
  };
  return differing(names, metadata(before), metadata(now));
}

Tone tone_of(const std::string& verdict) {
  if (verdict.starts_with("slower")) return Tone::bad;
  return verdict.starts_with("faster") ? Tone::good : Tone::plain;
}

std::string results_table(const Json& results, const KernelCatalog& kernels, const TextStyle& style) {
  SettingsCells settings{style};
  const auto values = [](const Json& result) { return Settings::values_of(result["settings"].get<std::string>()); };
  for (const Json& result : results) {
    const std::string id = result["kernel"];
    settings.add(id, values(result), kernels.find_or_null(id).get());
  }
  Table table{"ltrrrrt", {"kernel", "settings", "n", "before ms", "now ms", "now/before", ""}};
  for (const Json& result : results) {
    const std::string verdict = result["verdict"];
    table.add({result["kernel"].get<std::string>(), settings.text(result["kernel"], values(result)),
               format_count(result["n"].get<std::int64_t>()), significant(number_or_nan(result["before_ms"])),
               significant(number_or_nan(result["now_ms"])), significant(number_or_nan(result["now_over_before"]), 3),
               Cell{verdict, tone_of(verdict)}});
  }
  return table.text(style);
}

}  // namespace

Baseline read_baseline(const std::string& file) {
  const auto fail = [](const std::string& why) { throw std::runtime_error("cannot compare with " + why); };
  Json whole;
  try {
    const std::string text = read_text(file);
    whole = text.starts_with('#') ? whole_of_csv(text, file) : parse_json(text, file);
  } catch (const std::runtime_error& error) {
    fail(failure_text(error));
  }
  const auto results = whole.find("results");
  const auto has_times = [](const Json& result) {
    return result.is_object() && result.contains("step_ms") && result["step_ms"].is_object();
  };
  if (results == whole.end() || !results->is_array() || std::ranges::none_of(*results, has_times)) {
    fail(fmt::format("'{}': it has no times of steps, as 'orrery bench --json' and '--csv' write them", file));
  }
  return {file, std::move(whole)};
}

Comparison compare(std::span<const Baseline> before, const Json& now, double noise) {
  Runs runs{before};
  const std::string files = joined(before, [](const Baseline& run) { return run.file; });
  Comparison comparison;
  Json results = Json::array(), remarks = Json::array();
  const std::vector<Entry> entries = entries_of(now);
  std::vector<const Entry*> only_now;
  for (const Entry& entry : entries) {
    const std::vector<const Entry*> counterparts = runs.take_counterparts(entry);
    if (counterparts.empty()) {
      only_now.push_back(&entry);
      continue;
    }
    const Summary old = together(counterparts);
    std::string text = verdict(counterparts, old, entry, noise, comparison);
    if (counterparts.size() < runs.size())
      text += fmt::format(" (in {} of {} files)", counterparts.size(), runs.size());
    const double ratio = entry.step_ms.median / old.median;
    results.push_back({{"kernel", entry.kernel},
                       {"settings", entry.settings},
                       {"n", entry.n},
                       {"before_ms", json_number(old.median)},
                       {"now_ms", json_number(entry.step_ms.median)},
                       {"now_over_before", json_number(ratio)},
                       {"verdict", text}});
  }
  if (!only_now.empty()) remarks.push_back(fmt::format("not in {}: {}", files, first_of(only_now)));
  for (const auto& [file, labels] : runs.left()) remarks.push_back(fmt::format("only in {}: {}", file, labels));
  for (const Baseline& run : before) {
    const std::string other = other_machine(run.whole, now);
    if (!other.empty()) remarks.push_back(fmt::format("measured differently than {}: {}", run.file, other));
  }
  if (before.size() == 1) {
    remarks.push_back("one earlier run does not show how much times vary between runs: compare with several");
  }
  comparison.json = {{"files", Json::array()},
                     {"noise_percent", noise},
                     {"slower", comparison.slower},
                     {"faster", comparison.faster},
                     {"unchanged", comparison.unchanged},
                     {"not_comparable", comparison.not_comparable},
                     {"results", std::move(results)},
                     {"remarks", std::move(remarks)}};
  for (const Baseline& run : before) comparison.json["files"].push_back(run.file);
  return comparison;
}

std::string Comparison::text(const KernelCatalog& kernels, const TextStyle& style) const {
  const std::string files = fmt::format("{}", fmt::join(json["files"].get<std::vector<std::string>>(), ", "));
  std::string text = '\n' + paragraph("compared with " + files, style, 2);
  if (!json["results"].empty()) text += results_table(json["results"], kernels, style);
  text += paragraph(fmt::format("{} slower, {} faster, {} unchanged within the noise, {} not comparable", slower,
                                faster, unchanged, not_comparable),
                    style);
  text += paragraph(
      fmt::format("Slower and faster: the intervals do not overlap, and the medians differ by more than {:g} %.",
                  json["noise_percent"].get<double>()),
      style);
  for (const Json& remark : json["remarks"]) text += paragraph(remark.get<std::string>(), style, 2);
  return text;
}

}  // namespace orrery
