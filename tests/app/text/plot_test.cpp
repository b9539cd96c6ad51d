#include "app/text/plot.h"

#include <cmath>

#include "tests/app/support/test.h"

namespace orrery::test {
namespace {

PlotAxis fitted(PlotAxis axis, std::vector<double> values) {
  axis.fit(std::move(values));
  return axis;
}

std::vector<std::string> labels_of(const PlotAxis& axis, double most) {
  std::vector<std::string> labels;
  for (const PlotTick& tick : axis.ticks(most)) labels.push_back(tick.label);
  return labels;
}

TEST(PlotAxis, HoldsTheFiniteValuesWithRoomAroundThem) {
  const PlotAxis axis = fitted({}, {1, 3, NAN, INFINITY});
  EXPECT_TRUE(axis.low > 0.5 && axis.low < 1 && axis.high > 3 && axis.high < 3.5);
  EXPECT_LT(axis.at(1), axis.at(3));
  EXPECT_EQ(axis.at(-INFINITY), 0);
  EXPECT_EQ(axis.at(INFINITY), 1);
  const PlotAxis tight = fitted({.tight = true}, {1, 3});
  EXPECT_TRUE(tight.low == 1 && tight.high == 3);
  const PlotAxis decades = fitted({.logarithmic = true}, {1e-7, 1e-3, 0, -1});
  EXPECT_TRUE(decades.low > 1e-8 && decades.low < 1e-7 && decades.high > 1e-3 && decades.high < 1e-2);
  EXPECT_EQ(decades.at(0), 0);
}

TEST(PlotAxis, BeginsAtZeroIfAsked) {
  EXPECT_EQ(fitted({.from_zero = true}, {1, 3}).low, 0);
  EXPECT_EQ(fitted({.from_zero = true}, {-3, -1}).high, 0);
  EXPECT_EQ(fitted({.from_zero = true, .if_zero = 1e-7}, {0, 0}).high, 1.08e-7);
  EXPECT_EQ(fitted({.from_zero = true, .if_zero = 1e-7}, {1e-12, 0}).high, 1.08e-12) << "they are not all 0";
}

TEST(PlotAxis, HasALengthForOneValueAndNoTicksForNone) {
  for (const double value : {-2.0, 2.0, 1e-300, 0.0, double{NAN}}) {
    for (const PlotAxis& kind : {PlotAxis{}, PlotAxis{.from_zero = true}, PlotAxis{.logarithmic = true}}) {
      const PlotAxis axis = fitted(kind, {value});
      EXPECT_LT(axis.low, axis.high) << value;
      EXPECT_TRUE(std::isfinite(axis.low) && std::isfinite(axis.high)) << value;
    }
  }
  EXPECT_NEAR(fitted({.logarithmic = true}, {5}).at(5), 0.5, 1e-12);
  EXPECT_TRUE(fitted({}, {}).ticks(5).empty());
}

TEST(PlotAxis, HasRoundTicks) {
  EXPECT_EQ(labels_of({.high = 9.3}, 5), "0 2 4 6 8"_words);
  EXPECT_EQ(labels_of({.low = -1e-6, .high = 3e-6}, 4), "-1e-6 0 1e-6 2e-6 3e-6"_words);
  EXPECT_EQ(labels_of({.low = 1000.2, .high = 1000.7}, 3), "1000.2 1000.4 1000.6"_words);
  EXPECT_EQ(labels_of({.high = 300}, 3), "0 100 200 300"_words);
  PlotAxis decades{.logarithmic = true, .label = scientific, .low = 1e-7, .high = 1e-3};
  EXPECT_EQ(labels_of(decades, 5), "1e-7 1e-6 1e-5 1e-4 1e-3"_words);
  EXPECT_EQ(labels_of(decades, 2), "1e-7 1e-5 1e-3"_words);
  decades.low = 8e-5;
  EXPECT_EQ(labels_of(decades, 8), "1e-4 2e-4 5e-4 1e-3"_words);
}

TEST(Plot, TheFrontSeparatesWhatItsMarksReach) {
  Plot plot{
      .across = {}, .up = {}, .marks = {{.at = {3, 1}}, {.at = {2, 5}, .front = true}, {.at = {1, 2}, .front = true}}};
  plot.add_front(0, PlotInk::good);
  const std::vector<PlotPoint> expected{{1, 0}, {1, 2}, {2, 2}, {2, 5}, {INFINITY, 5}};
  ASSERT_EQ(plot.lines.front().points.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const PlotPoint& point = plot.lines.front().points[i];
    EXPECT_TRUE(point.x == expected[i].x && point.y == expected[i].y) << i;
  }
}

/// Notes where texts are.
struct Notes final : PlotCanvas {
  double em() const override { return 10; }
  double width_of(std::string_view text) const override { return 6 * static_cast<double>(text.size()); }
  void ground(PlotPoint, PlotPoint) override {}
  void line(const std::vector<PlotPoint>&, PlotStroke, PlotInk) override {}
  void dot(PlotPoint, PlotInk) override {}
  void mark(const PlotMark&, PlotPoint) override {}
  void text(PlotPoint at, double, std::string_view text, PlotInk, bool) override {
    if (text == "cpu-symmetric") labels.push_back(at);
  }

  std::vector<PlotPoint> labels;
};

TEST(Plot, LabelsCoverNoOtherLabel) {
  Plot plot;
  for (int i = 0; i < 8; ++i) plot.marks.push_back({.at = {350 + 2.0 * i, 200 + 3.0 * i}, .label = "cpu-symmetric"});
  plot.across.high = plot.up.high = 600;
  Notes notes;
  EXPECT_EQ(draw_plot(plot, notes, {0, 0}, {700, 400}).unnamed, 0u);
  ASSERT_EQ(notes.labels.size(), 8u);
  const double width = notes.width_of("cpu-symmetric");
  for (const PlotPoint& label : notes.labels) {
    EXPECT_TRUE(label.x >= 0 && label.x + width <= 700);
    for (const PlotPoint* other = notes.labels.data(); other != &label; ++other) {
      EXPECT_TRUE(std::abs(label.x - other->x) >= width || std::abs(label.y - other->y) >= notes.em());
    }
  }
  EXPECT_EQ(draw_plot(plot, notes, {0, 0}, {60, 60}).unnamed, 8u) << "there is no room";
}

}  // namespace
}  // namespace orrery::test
