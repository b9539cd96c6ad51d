// The parts of a page: numbers, scales and places of labels.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "app/features/report/html.h"
#include "app/features/report/svg.h"

namespace orrery {
namespace {

using Labels = std::vector<std::string>;

Labels labels_of(const PlotScale& scale) {
  Labels labels;
  for (const PlotScale::Tick& tick : scale.ticks) labels.push_back(tick.label);
  return labels;
}

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
            (Labels{"1.50", "200\u2008\u2007\u2007", "not measured", "12.2\u2007"}));
  EXPECT_EQ(aligned_numbers({}), Labels{});
}

TEST(ReportParts, ScalesHaveRoundTicks) {
  EXPECT_EQ(labels_of(linear_scale(0, 9.3)), (Labels{"0", "2", "4", "6", "8", "10"}));
  EXPECT_EQ(labels_of(linear_scale(-1e-6, 3e-6)).front(), "\u22121.0\u00d710\u207b\u2076");
  EXPECT_EQ(labels_of(log_scale(1e-7, 1e-3, true)),
            (Labels{"10\u207b\u2077", "10\u207b\u2076", "10\u207b\u2075", "10\u207b\u2074", "10\u207b\u00b3"}));
  const PlotScale one = log_scale(5, 5, false), flat = linear_scale(3, 3), none = linear_scale(0, 0);
  EXPECT_NEAR(one.at(5), 0.5, 1e-12);
  EXPECT_GE(one.ticks.size(), 2u);
  for (const PlotScale& scale : {flat, none}) EXPECT_LT(scale.low, scale.high);
}

TEST(ReportParts, LabelsCoverNoMarkAndNoOtherLabel) {
  const SvgPlot plot{.left = 0, .top = 0, .right = 700, .bottom = 400, .across = {}, .up = {}};
  std::vector<SvgPoint> points;
  Labels labels;
  for (int i = 0; i < 8; ++i) {
    points.push_back({350 + 2.0 * i, 200 + 3.0 * i});
    labels.push_back("cpu-symmetric");
  }
  const auto places = label_places(plot, points, labels);
  const double width = Svg::text_width(labels.front());
  for (std::size_t i = 0; i < places.size(); ++i) {
    ASSERT_TRUE(places[i]) << i;
    EXPECT_TRUE(places[i]->at.x >= 0 && places[i]->at.x + width <= 700);
    for (std::size_t j = 0; j < i; ++j) {
      const bool apart =
          std::abs(places[i]->at.x - places[j]->at.x) >= width || std::abs(places[i]->at.y - places[j]->at.y) >= 13;
      EXPECT_TRUE(apart) << i << " and " << j;
    }
  }
  const SvgPlot small{.left = 0, .top = 0, .right = 20, .bottom = 20, .across = {}, .up = {}};
  EXPECT_FALSE(label_places(small, {{10, 10}}, {"cpu-symmetric"}).front());
}

}  // namespace
}  // namespace orrery
