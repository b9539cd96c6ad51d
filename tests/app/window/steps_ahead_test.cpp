// Without a window, the GPU computes the next steps while the panels are drawn. Nothing but the time may show it.
#include "app/ui_state/window_commands.h"
#include "compute/core/error.h"
#include "tests/app/support/test.h"
#include "tests/app/window/offscreen_viewer.h"

namespace orrery::test {
namespace {

using Row = std::map<std::string, std::string>;

struct StepsAhead : OffscreenViewer {
  void SetUp() override {
    if (!backends().status(Backend::cuda).available) GTEST_SKIP() << "no GPU";
  }

  ViewOptions options_of(const std::string& name, std::int64_t frames) const {
    ViewOptions o = options(frames);
    o.scene = {.scene = "plummer", .count = 20000};
    o.setup = {SelectKernel{"cuda-tiled"}};
    o.size = {640, 400};  // room for the panels
    o.panel = true;
    o.script = {at(3, SelectKernel{"cuda-naive"}), at(6, SetStepsPerFrame{2})};
    o.record_file = path(name + ".csv");
    o.save_file = path(name + ".bin");
    o.screenshot_file = path(name + ".png");
    return o;
  }
  /// A script line in each frame keeps the next steps from being known.
  static void hold_steps_back(ViewOptions& o) {
    Script all;
    for (std::int64_t frame = 0; frame < *o.frames; ++frame) {
      for (const ScriptLine& line : o.script) {
        if (line.frame == frame) all.push_back(line);
      }
      all.push_back(at(frame, ShowLegend{true}));
    }
    o.script = std::move(all);
  }
  void expect_same_run(const std::string& a, const std::string& b) const {
    EXPECT_EQ(read(path(a + ".bin")), read(path(b + ".bin"))) << "the bodies at the end";
    const std::vector<Row> first = rows(path(a + ".csv")), second = rows(path(b + ".csv"));
    ASSERT_EQ(first.size(), second.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      for (const char* column : {"frame", "step", "sim_time", "steps", "kernel", "interop"}) {
        EXPECT_EQ(first[i].at(column), second[i].at(column)) << column << " in row " << i;
      }
    }
  }
};

TEST_F(StepsAhead, ChangeNeitherStepsNorRowsNorBodies) {
  ViewOptions o = options_of("ahead", 12);
  EXPECT_EQ(run_view(catalog(), o), 0);
  o = options_of("back", 12);
  hold_steps_back(o);
  EXPECT_EQ(run_view(catalog(), o), 0);
  ASSERT_EQ(rows(path("ahead.csv")).front().at("interop"), "mapped");
  expect_same_run("ahead", "back");
}

TEST_F(StepsAhead, AReportInBetweenChangesNothing) {
  EXPECT_EQ(run_view(catalog(), options_of("without", 12)), 0);
  ViewOptions o = options_of("with", 12);
  for (const std::int64_t frame : {2, 8}) {
    o.script.push_back(at(frame, SaveReport{path(std::to_string(frame) + ".html")}));
  }
  std::ranges::stable_sort(o.script, {}, &ScriptLine::frame);
  EXPECT_EQ(run_view(catalog(), o), 0);
  expect_same_run("without", "with");
}

}  // namespace
}  // namespace orrery::test
