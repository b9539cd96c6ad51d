// Recordings of a run.
#include <cmath>

#include "app/ui_state/window_commands.h"
#include "tests/app/window/offscreen_viewer.h"

namespace orrery {
namespace {

using test::OffscreenViewer;

TEST_F(OffscreenViewer, RecordsOneWholeRowAFrame) {
  ViewOptions o = options(4);
  o.record_file = path("a.csv");
  EXPECT_EQ(run_view(test::catalog(), o), 0);
  const auto recorded = rows(o.record_file);
  ASSERT_EQ(recorded.size(), 4u);
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    auto row = recorded[i];
    EXPECT_EQ(row["frame"], std::to_string(i));
    EXPECT_EQ(row["step"], std::to_string(i + 1));
    EXPECT_EQ(row["kernel"], "cpu-openmp");
    EXPECT_EQ(row["n"], "500");
    EXPECT_EQ(row["steps"], "1");
    EXPECT_EQ(row["interop"], "host");
    for (const char* time : {"map_ms", "force_ms", "step_ms", "gui_ms", "frame_ms", "interactions_per_s"}) {
      EXPECT_GT(std::stod(row[time]), 0) << time;
    }
  }
}

TEST_F(OffscreenViewer, RecordsWhatIsExaminedWhileItRuns) {
  ViewOptions o = options(100);
  o.record_file = path("a.csv");
  // On a busy machine the sums that come by themselves are rare: two are asked for.
  o.script = {{.frame = 0, .request = ViewCommand{SetDiagnostics{.conserved_interval_s = 0.1}}, .line = 1},
              {.frame = 30, .request = Command{MeasureConserved{}}, .line = 2},
              {.frame = 60, .request = Command{MeasureConserved{}}, .line = 3}};
  EXPECT_EQ(run_view(test::catalog(), o), 0);
  const auto sums = rows(path("a-conserved.csv"));
  ASSERT_GE(sums.size(), 2u);
  for (auto row : sums) {
    EXPECT_LT(std::stod(row["potential"]), 0);
    EXPECT_LT(std::abs(std::stod(row["total_drift"])), 0.01);
  }
  int compared = 0;
  for (auto row : rows(o.record_file)) {
    if (row["error_median"].empty()) continue;
    ++compared;
    EXPECT_LE(std::stod(row["error_median"]), std::stod(row["error_max"]));
  }
  EXPECT_GE(compared, 2);
  EXPECT_LT(compared, 50) << "once for each comparison";
}

TEST_F(OffscreenViewer, PausedItDrawsAndRecordsWithoutSteps) {
  ViewOptions o = options(3);
  o.setup.push_back(SetPaused{true});
  o.record_file = path("a.csv");
  EXPECT_EQ(run_view(test::catalog(), o), 0);
  const auto recorded = rows(o.record_file);
  ASSERT_EQ(recorded.size(), 3u);
  for (auto row : recorded) {
    EXPECT_EQ(row["step"], "0");
    EXPECT_EQ(row["step_ms"], "");
  }
}

TEST_F(OffscreenViewer, AHeaderHoldsForAllRowsOfItsFile) {
  ViewOptions o = options(9);
  o.record_file = path("a.csv");
  o.script = {{.frame = 2, .request = Command{SelectIntegrator{"euler"}}, .line = 1},
              {.frame = 4, .request = Command{SetTimeStep{0.001f}}, .line = 2},
              {.frame = 4, .request = Command{SetSoftening{0.5f}}, .line = 3},
              {.frame = 6, .request = Command{SelectKernel{"cpu-serial"}}, .line = 4}};
  EXPECT_EQ(run_view(test::catalog(), o), 0);
  EXPECT_EQ(rows(path("a.csv")).size(), 2u);
  EXPECT_EQ(rows(path("a-1.csv")).size(), 2u);
  EXPECT_EQ(rows(path("a-2.csv")).size(), 5u) << "the kernel is in the rows";
  EXPECT_FALSE(std::filesystem::exists(path("a-3.csv")));
  EXPECT_NE(read(path("a-1.csv")).find("\"euler\""), std::string::npos);
  EXPECT_NE(read(path("a-2.csv")).find("\"softening\":0.5"), std::string::npos);
  for (const auto& row : rows(path("a.csv"))) EXPECT_NE(row.at("step_ms"), "");
}

TEST_F(OffscreenViewer, ARowAfterAChangeTellsOfItsSecondEvaluation) {
  ViewOptions o = options(6);
  o.record_file = path("a.csv");
  o.script = {{.frame = 3, .request = Command{SelectKernel{"cpu-serial"}}, .line = 1}};
  EXPECT_EQ(run_view(test::catalog(), o), 0);
  std::vector<std::string> evaluations;
  for (const auto& row : rows(o.record_file)) evaluations.push_back(row.at("evaluations"));
  EXPECT_EQ(evaluations, (std::vector<std::string>{"2", "1", "1", "2", "1", "1"}));
}

TEST_F(OffscreenViewer, AFrameLastsUntilTheNextOneStarts) {
  ViewOptions o = options(5);
  o.record_file = path("a.csv");
  EXPECT_EQ(run_view(test::catalog(), o), 0);
  const auto recorded = rows(o.record_file);
  for (std::size_t i = 1; i < recorded.size(); ++i) {
    const double apart_s = std::stod(recorded[i].at("time_s")) - std::stod(recorded[i - 1].at("time_s"));
    EXPECT_NEAR(std::stod(recorded[i].at("frame_ms")), apart_s * 1e3, 1e-3 + apart_s) << "equal but for rounding";
  }
}

TEST_F(OffscreenViewer, AnExistingRecordingIsKept) {
  std::ofstream{path("a.csv")} << "mine";
  ViewOptions o = options(2);
  o.record_file = path("a.csv");
  EXPECT_EQ(run_view(test::catalog(), o), 0);
  EXPECT_EQ(read(path("a.csv")), "mine");
  EXPECT_EQ(rows(path("a-1.csv")).size(), 2u);
}

}  // namespace
}  // namespace orrery
