// The page as a whole: that it is well-formed, complete, and honest about what was not measured.
#include "app/features/report/html.h"
#include "app/features/report/page.h"
#include "tests/app/report/page_check.h"
#include "tests/app/support/test.h"

namespace orrery::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

constexpr double not_measured = Measurement::unknown;

ReportRow row(const std::string& kernel, double ms, double error) {
  ReportRow row;
  row.kernel_id = kernel;
  row.count = 64;
  row.step_ms = {.median = ms, .min = 0.8 * ms, .low = 0.9 * ms, .high = 1.1 * ms};
  row.interactions_per_s = 1e9;
  row.error = ForceError{.rms = error, .median = error, .p99 = 2 * error, .max = 3 * error};
  return row;
}

ReportContent content(std::vector<ReportRow> rows) {
  return {.title = "plummer, 64 bodies",
          .made = "Made today.",
          .picture = {.png = "PNG", .words = "The picture."},
          .groups = {{"plummer, 64 bodies", std::move(rows)}},
          .how = "How.",
          .settings = {{"Scene", "plummer"}},
          .machine = {{"CPU", "a processor"}},
          .commands = {{"Again:", "orrery report --out a.html"}}};
}

ReportCurve curve(const std::string& words, std::vector<PlotPoint> points) {
  return {.title = words,
          .words = words,
          .plot = {.across = {.title = words}, .up = {.title = words}, .lines = {{.points = std::move(points)}}},
          .missing = words};
}

/// Returns the text from the first `<svg` to the last `</svg>`.
std::string drawings(const std::string& page) {
  const std::size_t begin = page.find("<svg"), end = page.rfind("</svg>");
  return begin == std::string::npos ? "" : page.substr(begin, end - begin);
}

TEST(ReportPage, IsWellFormedAndHasEveryRow) {
  std::vector<ReportRow> rows;
  for (int i = 0; i < 70; ++i) {
    rows.push_back(row("kernel-" + std::to_string(i), 1 + i, 1e-7 * (70 - i)));
    rows.back().shown_settings = "block=" + std::to_string(i);
    rows.back().on_gpu = i % 2 == 0;
  }
  const std::string page = report_page(content(rows));
  expect_page(page);
  for (const ReportRow& each : rows) {
    EXPECT_TRUE(holds(page, "<td>" + each.kernel_id + "</td><td>" + each.shown_settings + "</td>")) << each.kernel_id;
  }
  EXPECT_TRUE(holds(page, "data:image/png;base64,UE5H"));
  EXPECT_TRUE(holds(page, "orrery report --out a.html"));
  EXPECT_TRUE(holds(page, "the 40 fastest of 70"));
  EXPECT_EQ(count_of(drawings(page), "<circle"), 35u);
}

TEST(ReportPage, EscapesEveryText) {
  const std::string hostile = "<script>&\"'\xff\x1b\u202e</script>";
  ReportContent all = content({row(hostile, 1, 1e-6), row(hostile + "2", 2, 1e-7)});
  all.title = all.made = all.remark = all.how = all.picture.words = hostile;
  all.groups.front().title = hostile;
  for (ReportRow& each : all.groups.front().rows) each.shown_settings = each.how = each.speedup = hostile;
  all.gaps = {{hostile, hostile}};
  all.curves = {curve(hostile, {{0, 1}, {1, 2}}), curve(hostile, {})};
  all.settings = all.machine = {{hostile, hostile}};
  all.commands = {{hostile, hostile}};
  const std::string page = report_page(all);
  expect_page(page);
  EXPECT_FALSE(holds(page, "<script") || holds(page, "\xff") || holds(page, "\x1b") || holds(page, "\u202e"));
  EXPECT_TRUE(holds(page, "&lt;script&gt;&amp;&quot;&#39;\ufffd\ufffd\ufffd\ufffd\ufffd&lt;/script&gt;"));
}

TEST(ReportPage, WhatIsNoNumberIsCountedAndNeverDrawn) {
  ReportRow without_error = row("c", 3, not_measured), endless = row("d", infinity, infinity), exact = row("e", 5, 0);
  ReportRow bare = row("f", not_measured, 1e-7);
  bare.interactions_per_s = not_measured;
  const std::string page =
      report_page(content({row("a", 1, 1e-6), row("b", 2, 1e-7), without_error, endless, exact, bare}));
  expect_page(page);
  EXPECT_FALSE(holds(drawings(page), "nan") || holds(drawings(page), "inf")) << drawings(page);
  EXPECT_TRUE(holds(page, "4 of 6 results are not drawn: the time or the force error"));
  EXPECT_TRUE(holds(page, "2 of 6 results are not drawn: their time was not measured"));
  EXPECT_TRUE(holds(page, "<span class=\"none\">not measured</span>"));
  for (const char* kernel : {"c", "d", "e", "f"}) EXPECT_TRUE(holds(page, "<td>" + std::string{kernel} + "</td>"));
}

TEST(ReportPage, SaysThatNothingWasMeasured) {
  for (const ReportContent& empty :
       {content({}), ReportContent{.title = "x", .made = "", .picture = {.words = "None."}}}) {
    const std::string page = report_page(empty);
    expect_page(page);
    EXPECT_TRUE(holds(page, "Nothing was measured"));
    EXPECT_FALSE(holds(page, "<svg"));
  }
  const std::string page = report_page(content({row("a", not_measured, not_measured)}));
  expect_page(page);
  EXPECT_TRUE(holds(page, "No time per step was measured"));
  EXPECT_FALSE(holds(page, "<svg"));
}

TEST(ReportPage, OneKernelAloneHasItsPlots) {
  const std::string page = report_page(content({row("cpu-serial", 12.5, 3e-7)}));
  expect_page(page);
  EXPECT_EQ(count_of(page, "<svg"), 2u);
  EXPECT_TRUE(holds(page, "cpu-serial takes 12.5 ms per step (95 % interval 11.2 to 13.8 ms)")) << page;
  EXPECT_TRUE(holds(page, "nothing to compare"));
}

TEST(ReportPage, NamesTheFastestAndTheMostAccurate) {
  const std::string page =
      report_page(content({row("slow", 100, 1e-7), row("fast", 1, 1e-4), row("worse", 200, 1e-3)}));
  EXPECT_TRUE(holds(page, "Of 3 variants, fast is the fastest"));
  EXPECT_TRUE(holds(page, "slow is the most accurate"));
  const std::string svg = drawings(page);
  EXPECT_EQ(count_of(svg, " strong"), 2u) << "the Pareto front";
  EXPECT_EQ(count_of(svg, "hollow"), 1u);
  EXPECT_LT(page.find("<td>fast</td>"), page.find("<td>slow</td>"));
}

TEST(ReportPage, ACurveHasGapsWhereItIsNotFinite) {
  ReportContent all = content({});
  all.curves = {curve("drift", {{0, 0}, {1, 1e-6}, {2, NAN}, {3, -1e-6}, {4, 2e-6}})};
  const std::string page = report_page(all);
  expect_page(page);
  EXPECT_EQ(count_of(page, "class=\"curve "), 2u);
  EXPECT_TRUE(holds(page, "1 of 5 values is not drawn: they are not finite numbers"));
  all.curves = {curve("It was not measured.", {{0, NAN}})};
  EXPECT_TRUE(holds(report_page(all), ">It was not measured.</p>"));
}

// The numbers of a page.

TEST(ReportParts, Base64) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64(std::string("\0\xff\x10", 3)), "AP8Q");
}

TEST(ReportParts, NumbersHaveUnitsOfTheirDigits) {
  EXPECT_EQ(plain_number(0.0123456), "0.0123");
  EXPECT_EQ(plain_number(9.996), "10.0");
  EXPECT_EQ(plain_number(12345.6, 4), "12,350");
  EXPECT_EQ(plain_number(NAN), "not measured");
  EXPECT_EQ(power_of_ten(5.26e-7), "5.3\u00d710\u207b\u2077");
  EXPECT_EQ(power_of_ten(-2e12), "\u22122.0\u00d710\u00b9\u00b2");
  EXPECT_EQ(power_of_ten(0), "0");
  EXPECT_EQ(power_of_ten(INFINITY), "not measured");
}

TEST(ReportParts, DecimalPointsStandBelowEachOther) {
  EXPECT_EQ(aligned_numbers({1.5, 200, NAN, 12.25}, 3),
            (std::vector<std::string>{"1.50", "200\u2008\u2007\u2007", "not measured", "12.2\u2007"}));
  EXPECT_EQ(aligned_numbers({}), std::vector<std::string>{});
}

}  // namespace
}  // namespace orrery::test
