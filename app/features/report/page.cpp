// A report as one HTML page.
#include "app/features/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "app/features/report/html.h"
#include "app/features/report/plots.h"
#include "app/text/table.h"

namespace orrery {
namespace {

// Style sheet of a page for screens, phones and paper. It has no & or <, which XML would require to be escaped.
constexpr std::string_view page_style = R"(
:root { color-scheme: light; --ink: #1c232d; --dim: #5b6573; --rule: #d9dde3; --cpu: #b3591a; --gpu: #1f5f9e; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: #fff; color: var(--ink); font: 1.0625rem/1.55 Charter, 'Bitstream Charter',
  'Iowan Old Style', Georgia, 'Noto Serif', 'DejaVu Serif', serif; }
main, header, footer { max-width: 52rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 3rem; }
h1 { margin: 0.2rem 0 0.6rem; font-size: 2.1rem; line-height: 1.15; font-weight: 600; letter-spacing: -0.01em;
  overflow-wrap: anywhere; }
h2 { margin: 3rem 0 0.8rem; padding-top: 0.9rem; border-top: 1px solid var(--rule); font-size: 1.35rem;
  line-height: 1.25; font-weight: 600; }
h3 { margin: 2rem 0 0.6rem; font-size: 1.1rem; font-weight: 600; overflow-wrap: anywhere; }
p { margin: 0.6rem 0; overflow-wrap: anywhere; }
.made, .kind, figcaption, caption, table, svg, footer { font-family: system-ui, -apple-system, 'Segoe UI', Roboto,
  'Helvetica Neue', 'Noto Sans', 'DejaVu Sans', sans-serif; }
.kind { margin: 0; color: var(--gpu); font-size: 0.8rem; font-weight: 600; letter-spacing: 0.09em;
  text-transform: uppercase; }
.made { color: var(--dim); font-size: 0.9rem; }
.remark { margin: 1.2rem 0; padding: 0.6rem 0.9rem; border-left: 3px solid var(--cpu); background: #fbf4ee; }
.lead { font-size: 1.125rem; }
figure { margin: 1.6rem 0; }
figure img { display: block; width: 100%; height: auto; border-radius: 4px; }
figcaption { margin-top: 0.6rem; color: var(--dim); font-size: 0.875rem; line-height: 1.45; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: 0.8rem; line-height: 1.35;
  font-variant-numeric: tabular-nums lining-nums; }
caption { margin-bottom: 0.5rem; color: var(--dim); font-size: 0.875rem; text-align: left; overflow-wrap: anywhere; }
th { padding: 0.3rem 0.5rem; border-bottom: 1.5px solid var(--ink); text-align: left; vertical-align: bottom;
  font-weight: 600; }
.results td:first-child { white-space: nowrap; }
td { padding: 0.32rem 0.5rem; border-bottom: 1px solid var(--rule); vertical-align: top; }
th:first-child, td:first-child { padding-left: 0; }
th:last-child, td:last-child { padding-right: 0; }
.number { text-align: right; }
td.number { white-space: nowrap; }
.facts td { overflow-wrap: anywhere; }
.facts td:first-child { width: 11rem; color: var(--dim); overflow-wrap: normal; }
.note { color: var(--dim); font-size: 0.9375rem; }
.none { color: var(--dim); font-style: italic; }
pre { margin: 0.5rem 0 1.2rem; padding: 0.8rem 1rem; border-radius: 4px; background: #f4f5f7; white-space: pre-wrap;
  overflow-wrap: anywhere; font: 0.875rem/1.5 ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace; }
footer { margin: 3rem auto 2.5rem; color: var(--dim); font-size: 0.8rem; }
svg { display: block; width: 100%; min-width: 36rem; height: auto; font-size: 13px; }
svg .text { color: var(--ink); }
svg .dim { color: var(--dim); }
svg .warn { color: var(--cpu); }
svg .accent { color: var(--gpu); }
svg text { fill: currentColor; font-variant-numeric: tabular-nums; paint-order: stroke; stroke: #fff;
  stroke-width: 4px; stroke-linejoin: round; }
svg .strong { font-weight: 600; }
svg .end { text-anchor: end; }
svg .middle { text-anchor: middle; }
svg circle, svg rect { fill: currentColor; stroke: currentColor; stroke-width: 1.6; }
svg .hollow { fill: #fff; }
svg polyline { fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linejoin: round; }
svg .grid { stroke: #e7eaee; stroke-width: 1; }
svg .axis { stroke: #8a94a1; stroke-width: 1; }
svg .bar { stroke-width: 14; stroke-opacity: 0.55; }
svg .thin { stroke-width: 1.2; }
svg .front { stroke: #77818e; stroke-width: 1.3; stroke-dasharray: 5 4; }
@media (max-width: 34rem) {
  body { font-size: 1rem; }
  header { padding-top: 1.6rem; }
  h1 { font-size: 1.6rem; }
  .facts td:first-child { width: 7rem; }
}
@media print {
  @page { margin: 16mm; }
  body { font-size: 10.5pt; }
  header { padding-top: 0; }
  main, header, footer { max-width: none; padding: 0; }
  h1, h2, h3 { break-after: avoid; }
  figure, tr, pre { break-inside: avoid; }
  .scroll { overflow: visible; }
  svg { min-width: 0; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
)";

/// Returns a number of a row; NaN if it is not known.
using Number = double (*)(const ReportRow& row);

constexpr Number median_ms = [](const ReportRow& row) { return row.step_ms.median; };
constexpr Number low_ms = [](const ReportRow& row) { return row.step_ms.low; };
constexpr Number high_ms = [](const ReportRow& row) { return row.step_ms.high; };
constexpr Number median_error = [](const ReportRow& row) { return row.errors().median; };
constexpr Number p99_error = [](const ReportRow& row) { return row.errors().p99; };
constexpr Number largest_error = [](const ReportRow& row) { return row.errors().max; };

/// Returns the row with the smallest known value; null if no value is known.
const ReportRow* least(const ReportGroup& group, Number number) {
  const ReportRow* best = nullptr;
  for (const ReportRow& row : group.rows) {
    if (std::isfinite(number(row)) && (!best || number(row) < number(*best))) best = &row;
  }
  return best;
}

std::string time_words(const ReportRow& row) {
  if (!std::isfinite(row.step_ms.median)) return "its time was not measured";
  std::string words = fmt::format("{} ms per step", plain_number(row.step_ms.median));
  if (std::isfinite(row.step_ms.low) && std::isfinite(row.step_ms.high)) {
    words += fmt::format(" (95 % interval {} to {} ms)", plain_number(row.step_ms.low), plain_number(row.step_ms.high));
  }
  return words;
}

std::string error_words(const ReportRow& row) {
  return std::isfinite(row.errors().median) ? "a median force error of " + power_of_ten(row.errors().median)
                                            : "a force error that was not measured";
}

std::vector<double> numbers(const std::vector<ReportRow>& rows, Number number) {
  std::vector<double> result;
  for (const ReportRow& row : rows) result.push_back(number(row));
  return result;
}

std::string cell(bool known, const std::string& text) {
  return known ? text : "<span class=\"none\">not measured</span>";
}

bool any(const std::vector<ReportRow>& rows, std::string ReportRow::*text) {
  return std::ranges::any_of(rows, [&](const ReportRow& row) { return !(row.*text).empty(); });
}

/// Returns sentences about the fastest and the most accurate row.
std::string result_words(const ReportGroup& group) {
  const ReportRow* fastest = least(group, median_ms);
  const ReportRow* accurate = least(group, median_error);
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

/// Returns a table of all rows as HTML, fastest first.
std::string result_table(const ReportGroup& group) {
  std::vector<ReportRow> rows = group.rows;
  std::ranges::stable_sort(rows, [](const ReportRow& a, const ReportRow& b) {
    const bool a_known = std::isfinite(a.step_ms.median), b_known = std::isfinite(b.step_ms.median);
    return a_known != b_known ? a_known : a_known && a.step_ms.median < b.step_ms.median;
  });
  const bool settings = any(rows, &ReportRow::shown_settings), ranks = group.ranked,
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
  const auto median = aligned_numbers(numbers(rows, median_ms));
  const auto low = aligned_numbers(numbers(rows, low_ms));
  const auto high = aligned_numbers(numbers(rows, high_ms));
  HtmlTable table{columns};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ReportRow& row = rows[i];
    std::vector<std::string> cells{html(kernel_words(row))};
    if (settings) cells.push_back(html(row.shown_settings));
    if (how) cells.push_back(html(row.how));
    if (ranks) cells.push_back(html(to_string(row.rank)));
    cells.push_back(cell(std::isfinite(row.step_ms.median), median[i]));
    cells.push_back(cell(std::isfinite(row.step_ms.low), low[i]));
    cells.push_back(cell(std::isfinite(row.step_ms.high), high[i]));
    cells.push_back(cell(std::isfinite(row.interactions_per_s), with_prefix(row.interactions_per_s)));
    for (const Number error : {median_error, p99_error, largest_error}) {
      cells.push_back(cell(std::isfinite(error(row)), power_of_ten(error(row))));
    }
    if (speedups) cells.push_back(html(row.speedup));
    table.add(std::move(cells));
  }
  return table.text(
      "Time per step with its 95 % interval, rate, and force error (median, 99th percentile and largest), " +
          group.title + ", the fastest first.",
      "results");
}

std::string heading(const char* words) {
  return fmt::format("<h2>{}</h2>\n", words);
}

std::string head(const ReportContent& content) {
  return fmt::format(
      "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src "
      "'unsafe-inline'\"/>\n<title>{0} - Orrery report</title>\n<style>{1}</style>\n</head>\n<body>\n<header>\n"
      "<p class=\"kind\">Orrery report</p>\n<h1>{0}</h1>\n{2}{3}</header>\n<main>\n",
      html(content.title), page_style, paragraph_of(content.made, "made"), paragraph_of(content.remark, "remark"));
}

std::string picture_section(const ReportPicture& picture) {
  if (picture.png.empty()) return paragraph_of(picture.words);
  return figure(
      fmt::format("<img alt=\"{}\" src=\"data:image/png;base64,{}\"/>\n", html(picture.words), base64(picture.png)),
      picture.words);
}

std::string results_section(const ReportContent& content) {
  std::string text = heading("Results");
  if (std::ranges::all_of(content.groups, [](const ReportGroup& group) { return group.rows.empty(); })) {
    return text + paragraph_of("Nothing was measured, so there are no results.", "lead");
  }
  const bool several = content.groups.size() > 1;
  for (const ReportGroup& group : content.groups) {
    if (group.rows.empty()) continue;
    if (several) text += fmt::format("<h3>{}</h3>\n", html(group.title));
    text += paragraph_of(result_words(group), "lead") + speed_error_figure(group) + time_figure(group) +
            result_table(group);
  }
  return text + paragraph_of(content.how, "note");
}

std::string gaps_section(const std::vector<SkippedTogether>& gaps) {
  if (gaps.empty()) return {};
  HtmlTable table{{{"variant"}, {"reason"}}};
  for (const SkippedTogether& gap : gaps) table.add({html(gap.names), html(gap.reason)});
  return heading("Not measured") + table.text("What was to be measured and was not, and why.", "gaps");
}

std::string curves_section(const std::vector<ReportCurve>& curves) {
  std::string text;
  for (const ReportCurve& curve : curves) text += curve_figure(curve);
  return text.empty() ? text : heading("While it ran") + text;
}

std::string facts_section(const char* title, const ReportFacts& facts) {
  if (facts.empty()) return {};
  std::string text = heading(title) + "<table class=\"facts\"><tbody>\n";
  for (const ReportFact& fact : facts) {
    text += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", html(fact.name), html(fact.value));
  }
  return text + "</tbody></table>\n";
}

std::string commands_section(const std::vector<ReportCommand>& commands) {
  std::string text;
  for (const ReportCommand& command : commands) {
    text += paragraph_of(command.words) + fmt::format("<pre><code>{}</code></pre>\n", html(command.line));
  }
  return text.empty() ? text : heading("How to make it again") + text;
}

}  // namespace

std::string report_page(const ReportContent& content) {
  return head(content) + picture_section(content.picture) + results_section(content) + gaps_section(content.gaps) +
         curves_section(content.curves) + facts_section("Settings", content.settings) +
         facts_section("Machine", content.machine) + commands_section(content.commands) +
         "</main>\n<footer>This page needs no network and no other file.</footer>\n</body>\n</html>\n";
}

}  // namespace orrery
