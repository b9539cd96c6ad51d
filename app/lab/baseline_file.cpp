// Reads the files of earlier benchmarks: what `bench --json` and `bench --csv` write, and what they wrote before.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "app/lab/baseline.h"
#include "app/text/input_file.h"
#include "app/text/lines.h"
#include "compute/core/failure_text.h"
#include "compute/kernels/kernel.h"

namespace orrery {
namespace {

// A CSV within these limits is compared within seconds and a few hundred MB, whatever it holds.
constexpr std::size_t most_csv_bytes = 8'000'000, most_rows = 100'000, most_row_bytes = 2048;

/// A JSON number; null for an empty field and for other text.
template <class Number>
Json number_of(std::string_view field) {
  Number value{};
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  return error == std::errc{} && end == field.data() + field.size() ? Json(value) : Json(nullptr);
}

/// The columns that a comparison reads, by their places in a row.
class Columns {
 public:
  explicit Columns(std::string_view header) : names_{csv_fields(header)} {}
  bool has(std::string_view name) const { return std::ranges::find(names_, name) != names_.end(); }
  /// Empty if there is no such column, or the row is too short.
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

/// The JSON that the same benchmark would have written, as far as a comparison reads it.
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

}  // namespace orrery
