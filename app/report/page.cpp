#include "app/report/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/report/figure.h"
#include "app/report/html.h"
#include "app/report/page_style.h"
#include "app/report/plots.h"
#include "app/report/result_words.h"

namespace orrery {
namespace {

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

std::string gaps_section(const std::vector<ReportGap>& gaps) {
  if (gaps.empty()) return {};
  HtmlTable table{{{"variant"}, {"reason"}}};
  for (const ReportGap& gap : gaps) table.add({html(gap.variant), html(gap.reason)});
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
