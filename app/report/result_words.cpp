#include "app/report/result_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/report/html.h"
#include "app/text/table.h"

namespace orrery {
namespace {

using Number = double ReportRow::*;

/// The row with the least known value; null if none is known.
const ReportRow* least(const ReportGroup& group, Number number) {
  const ReportRow* best = nullptr;
  for (const ReportRow& row : group.rows) {
    if (std::isfinite(row.*number) && (!best || row.*number < best->*number)) best = &row;
  }
  return best;
}

std::string time_words(const ReportRow& row) {
  if (!std::isfinite(row.median_ms)) return "its time was not measured";
  std::string words = fmt::format("{} ms per step", plain_number(row.median_ms));
  if (std::isfinite(row.low_ms) && std::isfinite(row.high_ms)) {
    words += fmt::format(" (95 % interval {} to {} ms)", plain_number(row.low_ms), plain_number(row.high_ms));
  }
  return words;
}

std::string error_words(const ReportRow& row) {
  return std::isfinite(row.error_median) ? "a median force error of " + power_of_ten(row.error_median)
                                         : "a force error that was not measured";
}

std::vector<double> numbers(const std::vector<ReportRow>& rows, Number number) {
  std::vector<double> result;
  for (const ReportRow& row : rows) result.push_back(row.*number);
  return result;
}

std::string cell(bool known, const std::string& text) {
  return known ? text : "<span class=\"none\">not measured</span>";
}

bool any(const std::vector<ReportRow>& rows, std::string ReportRow::*text) {
  return std::ranges::any_of(rows, [&](const ReportRow& row) { return !(row.*text).empty(); });
}

}  // namespace

std::string result_words(const ReportGroup& group) {
  const ReportRow* fastest = least(group, &ReportRow::median_ms);
  const ReportRow* accurate = least(group, &ReportRow::error_median);
  if (!fastest) return "No time per step was measured.";
  if (group.rows.size() == 1) {
    return fmt::format("{} takes {}, with {}.", fastest->name(), time_words(*fastest), error_words(*fastest));
  }
  std::string words = fmt::format("Of {} variants, {} is the fastest, at {}, with {}.", group.rows.size(),
                                  fastest->name(), time_words(*fastest), error_words(*fastest));
  if (accurate == fastest) return words + " It is also the most accurate.";
  if (!accurate) return words;
  return words + fmt::format(" {} is the most accurate, with {}, at {}.", accurate->name(), error_words(*accurate),
                             time_words(*accurate));
}

std::string result_table(const ReportGroup& group) {
  std::vector<ReportRow> rows = group.rows;
  std::ranges::stable_sort(rows, [](const ReportRow& a, const ReportRow& b) {
    const bool a_known = std::isfinite(a.median_ms), b_known = std::isfinite(b.median_ms);
    return a_known != b_known ? a_known : a_known && a.median_ms < b.median_ms;
  });
  const bool settings = any(rows, &ReportRow::settings), ranks = any(rows, &ReportRow::rank),
             speedups = any(rows, &ReportRow::speedup), how = any(rows, &ReportRow::how);
  std::vector<HtmlTable::Column> columns{{"kernel"}};
  if (settings) columns.push_back({"settings"});
  if (how) columns.push_back({"measured"});
  if (ranks) columns.push_back({"rank", true});
  for (const char* title : {"median, ms", "95 % interval: from, ms", "to, ms", "interactions/s", "error: median",
                            "error: 99 % below", "error: largest"}) {
    columns.push_back({title, true});
  }
  if (speedups) columns.push_back({"speed-up", true});
  const auto median = aligned_numbers(numbers(rows, &ReportRow::median_ms));
  const auto low = aligned_numbers(numbers(rows, &ReportRow::low_ms));
  const auto high = aligned_numbers(numbers(rows, &ReportRow::high_ms));
  HtmlTable table{columns};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ReportRow& row = rows[i];
    std::vector<std::string> cells{html(row.kernel)};
    if (settings) cells.push_back(html(row.settings));
    if (how) cells.push_back(html(row.how));
    if (ranks) cells.push_back(html(row.rank));
    cells.push_back(cell(std::isfinite(row.median_ms), median[i]));
    cells.push_back(cell(std::isfinite(row.low_ms), low[i]));
    cells.push_back(cell(std::isfinite(row.high_ms), high[i]));
    cells.push_back(cell(std::isfinite(row.interactions_per_s), with_prefix(row.interactions_per_s)));
    for (const Number error : {&ReportRow::error_median, &ReportRow::error_p99, &ReportRow::error_max}) {
      cells.push_back(cell(std::isfinite(row.*error), power_of_ten(row.*error)));
    }
    if (speedups) cells.push_back(html(row.speedup));
    table.add(std::move(cells));
  }
  return table.text(
      "Time per step with its 95 % interval, rate, and force error (median, 99th percentile and largest), " +
          group.title + ", the fastest first.",
      "results");
}

}  // namespace orrery
