#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "app/viewer/run_view.h"
#include "compute/core/error.h"
#include "compute/sim/simulation.h"
#include "compute/snapshots/tipsy.h"

namespace orrery {
namespace {

/// Runs without a window, in a folder of its own.
class OffscreenViewer : public testing::Test {
 protected:
  OffscreenViewer() { std::filesystem::create_directories(folder_); }
  ~OffscreenViewer() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  ViewOptions options(std::int64_t frames) const {
    ViewOptions options;
    options.scene = {.scene = "plummer", .count = 500};
    options.setup = {SelectKernel{"cpu-openmp"}};
    options.frames = frames;
    options.size = {160, 96};
    options.offscreen = true;
    options.panel = false;
    return options;
  }

  static std::string read(const std::string& file) {
    std::stringstream text;
    text << std::ifstream{file, std::ios::binary}.rdbuf();
    return text.str();
  }

  /// The rows of a recording by the names of its columns; no field of ours holds a comma.
  static std::vector<std::map<std::string, std::string>> rows(const std::string& file) {
    std::istringstream text{read(file)};
    std::string line;
    std::getline(text, line);
    EXPECT_EQ(line.substr(0, 3), "# {");
    const auto split = [](const std::string& joined) {
      std::vector<std::string> fields;
      std::istringstream stream{joined + ','};
      for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
      return fields;
    };
    std::getline(text, line);
    const auto names = split(line);
    std::vector<std::map<std::string, std::string>> rows;
    while (std::getline(text, line)) {
      const auto fields = split(line);
      EXPECT_EQ(fields.size(), names.size()) << line;
      rows.emplace_back();
      for (std::size_t i = 0; i < std::min(fields.size(), names.size()); ++i) rows.back()[names[i]] = fields[i];
    }
    return rows;
  }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      (std::string{"orrery_viewer_"} + testing::UnitTest::GetInstance()->current_test_info()->name());
};

/// For as long as it lives, this process cannot write files longer than `bytes`.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = SIG_DFL;
};

/// For as long as it lives, the working folder: what a sweep writes goes there.
class WorkingFolder {
 public:
  explicit WorkingFolder(const std::filesystem::path& folder) { std::filesystem::current_path(folder); }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;
  ~WorkingFolder() { std::filesystem::current_path(before_); }

 private:
  const std::filesystem::path before_ = std::filesystem::current_path();
};

TEST_F(OffscreenViewer, RunsTheFramesAskedForAndKeepsTheBodies) {
  ViewOptions o = options(5);
  o.save_file = path("end.tipsy");
  EXPECT_EQ(run_view(o), 0);
  Simulation simulation{o.scene};
  simulation.apply(SelectKernel{"cpu-openmp"});
  simulation.run(5);
  EXPECT_EQ(read_tipsy(o.save_file).bodies, simulation.bodies());
}

TEST_F(OffscreenViewer, RecordsOneWholeRowAFrame) {
  ViewOptions o = options(4);
  o.record_file = path("a.csv");
  EXPECT_EQ(run_view(o), 0);
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
  o.script = {{.frame = 0, .request = ViewCommand{SetDiagnostics{.conserved_interval_s = 0.1}}, .line = 1}};
  EXPECT_EQ(run_view(o), 0);
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

TEST_F(OffscreenViewer, ScriptSwitchesKernelsWhileStepsGoOn) {
  ViewOptions o = options(9);
  o.record_file = path("a.csv");
  o.script = {{.frame = 3, .request = Command{SelectKernel{"cpu-serial"}}, .line = 1},
              {.frame = 6, .request = Command{SelectKernel{"cpu-openmp"}}, .line = 2},
              {.frame = 6, .request = Command{SetTunable{"threads", "1"}}, .line = 3},
              {.frame = 7, .request = ViewCommand{Quit{}}, .line = 4}};
  EXPECT_EQ(run_view(o), 0);
  const auto recorded = rows(o.record_file);
  ASSERT_EQ(recorded.size(), 8u) << "the frame that quits is the last";
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    auto row = recorded[i];
    EXPECT_EQ(row["kernel"], i >= 3 && i < 6 ? "cpu-serial" : "cpu-openmp") << i;
    EXPECT_EQ(row["settings"].find("threads=1") != std::string::npos, i >= 6) << i;
    EXPECT_EQ(row["step"], std::to_string(i + 1));
  }
}

TEST_F(OffscreenViewer, PicturesCanBeRepeated) {
  for (const char* name : {"a.png", "b.png"}) {
    ViewOptions o = options(3);
    o.screenshot_file = path(name);
    ASSERT_EQ(run_view(o), 0);
  }
  const std::string picture = read(path("a.png"));
  EXPECT_GT(picture.size(), 500u);
  EXPECT_EQ(picture, read(path("b.png")));
}

TEST_F(OffscreenViewer, CellsOfATreeAreInThePictureWhenAsked) {
  const auto picture = [&](const char* kernel, bool cells) {
    ViewOptions asked = options(3);
    asked.setup = {SelectKernel{kernel}};
    asked.screenshot_file = path("picture.png");
    asked.existing = Existing::replace;
    if (cells) asked.script = {{.frame = 0, .request = ViewCommand{ShowTreeCells{true}}, .line = 1}};
    run_view(asked);
    return read(asked.screenshot_file);
  };
  const std::string without = picture("cpu-tree", false), with = picture("cpu-tree", true);
  EXPECT_FALSE(without == with);
  EXPECT_TRUE(with == picture("cpu-tree", true)) << "the same in every run";
  EXPECT_TRUE(picture("cpu-simd", true) == picture("cpu-simd", false)) << "a direct sum has none";
}

TEST_F(OffscreenViewer, CellsOfATreeAppearWhilePaused) {
  const auto picture = [&](bool cells) {
    ViewOptions asked = options(8);
    asked.setup = {SelectKernel{"cpu-tree"}};
    asked.screenshot_file = path("picture.png");
    asked.existing = Existing::replace;
    asked.script = {{.frame = 1, .request = Command{SetPaused{true}}, .line = 1},
                    {.frame = 3, .request = ViewCommand{ShowTreeCells{cells}}, .line = 2}};
    run_view(asked);
    return read(asked.screenshot_file);
  };
  EXPECT_FALSE(picture(false) == picture(true));
}

TEST_F(OffscreenViewer, PanelIsInThePictureWhenAsked) {
  for (const bool panel : {false, true}) {
    ViewOptions o = options(2);
    o.size = {640, 480};
    o.panel = panel;
    o.screenshot_file = path(panel ? "with.png" : "without.png");
    ASSERT_EQ(run_view(o), 0);
  }
  EXPECT_NE(read(path("with.png")), read(path("without.png")));
}

TEST_F(OffscreenViewer, PausedItDrawsAndRecordsWithoutSteps) {
  ViewOptions o = options(3);
  o.setup.push_back(SetPaused{true});
  o.record_file = path("a.csv");
  EXPECT_EQ(run_view(o), 0);
  const auto recorded = rows(o.record_file);
  ASSERT_EQ(recorded.size(), 3u);
  for (auto row : recorded) {
    EXPECT_EQ(row["step"], "0");
    EXPECT_EQ(row["step_ms"], "");
  }
}

TEST_F(OffscreenViewer, WhatAScriptCannotHaveNamesItsLine) {
  ViewOptions o = options(5);
  o.script_file = "tour.txt";
  o.script = {{.frame = 1, .request = ViewCommand{StartRecording{"/nonexistent/a.csv"}}, .line = 7}};
  try {
    run_view(o);
    FAIL() << "nobody was told";
  } catch (const std::runtime_error& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find("tour.txt:7: "), 0u) << text;
    EXPECT_NE(text.find("/nonexistent/a.csv"), std::string::npos) << text;
  }
}

TEST_F(OffscreenViewer, RunsNoStepsBesideASweep) {
  const WorkingFolder here{path("")};
  for (const Command& command : {Command{SetPaused{false}}, Command{StepOnce{}}, Command{MeasureConserved{}}}) {
    ViewOptions o = options(5);
    o.script_file = "tour.txt";
    o.script = {{.frame = 1,
                 .request = ViewCommand{StartSweep{.kernels = {"cpu-serial"}, .tunables = {}, .counts = {}}},
                 .line = 6},
                {.frame = 2, .request = command, .line = 7}};
    try {
      run_view(o);
      ADD_FAILURE() << "the sweep would have measured the steps as well";
    } catch (const UsageError& error) {
      EXPECT_EQ(std::string{error.what()}.find("tour.txt:7: the sweep is running"), 0u) << error.what();
    }
  }
}

TEST_F(OffscreenViewer, APictureThatCannotBeWrittenNamesTheLineThatAskedForIt) {
  ViewOptions o = options(5);
  o.script_file = "tour.txt";
  o.script = {{.frame = 1, .request = ViewCommand{SaveScreenshot{"/nonexistent/a.png"}}, .line = 7}};
  try {
    run_view(o);
    FAIL() << "nobody was told";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string{error.what()}.find("tour.txt:7: cannot write '/nonexistent/a.png'"), 0u) << error.what();
  }
}

TEST_F(OffscreenViewer, FullDiskEndsTheRecordingAndNotTheRun) {
  ViewOptions o = options(60);
  o.record_file = path("a.csv");
  o.save_file = path("end.tipsy");
  // A limit on a file's size stands for the disk: writes beyond it fail. The snapshot is smaller than the limit.
  o.scene.count = 20;
  const FileSizeLimit limit{2500};
  EXPECT_EQ(run_view(o), 1);
  EXPECT_TRUE(std::filesystem::exists(o.save_file)) << "the run went on to its end";
  EXPECT_FALSE(rows(o.record_file).empty()) << "what fitted is there";
}

TEST_F(OffscreenViewer, FilesThatCannotBeWrittenAreNamed) {
  const auto fails = [](const ViewOptions& o, const std::string& file) {
    try {
      run_view(o);
      ADD_FAILURE() << "no error for " << file;
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string{error.what()}.find(file), std::string::npos) << error.what();
      EXPECT_EQ(std::string{error.what()}.find('\n'), std::string::npos) << error.what();
    }
  };
  ViewOptions o = options(1);
  o.screenshot_file = "/nonexistent/a.png";
  fails(o, o.screenshot_file);
  o = options(1);
  o.record_file = "/nonexistent/a.csv";
  fails(o, o.record_file);
  o = options(1);
  o.save_file = "/nonexistent/a.tipsy";
  fails(o, o.save_file);
}

TEST_F(OffscreenViewer, TheBodiesAreSavedEvenIfThePictureCannotBe) {
  ViewOptions o = options(2);
  o.screenshot_file = "/nonexistent/a.png";
  o.save_file = path("end.tipsy");
  o.record_file = path("a.csv");
  EXPECT_THROW(run_view(o), std::runtime_error);
  EXPECT_EQ(read_tipsy(o.save_file).bodies.count(), 500);
  EXPECT_EQ(rows(o.record_file).size(), 2u);
}

TEST_F(OffscreenViewer, AHeaderHoldsForAllRowsOfItsFile) {
  ViewOptions o = options(9);
  o.record_file = path("a.csv");
  o.script = {{.frame = 2, .request = Command{SelectIntegrator{"euler"}}, .line = 1},
              {.frame = 4, .request = Command{SetTimeStep{0.001f}}, .line = 2},
              {.frame = 4, .request = Command{SetSoftening{0.5f}}, .line = 3},
              {.frame = 6, .request = Command{SelectKernel{"cpu-serial"}}, .line = 4}};
  EXPECT_EQ(run_view(o), 0);
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
  EXPECT_EQ(run_view(o), 0);
  std::vector<std::string> evaluations;
  for (const auto& row : rows(o.record_file)) evaluations.push_back(row.at("evaluations"));
  EXPECT_EQ(evaluations, (std::vector<std::string>{"2", "1", "1", "2", "1", "1"}));
}

TEST_F(OffscreenViewer, ReturnsToARowOfTheResultsAndUndoesIt) {
  ViewOptions o = options(40);
  o.script = {
      {.frame = 3, .request = Command{LoadScene{{.scene = "disc", .count = 300}}}, .line = 1},
      {.frame = 3, .request = Command{SetTimeStep{0.25f}}, .line = 2},
      {.frame = 6, .request = ViewCommand{ReturnToResult{0}}, .line = 3},
      {.frame = 6, .request = ViewCommand{StartRecording{path("first.csv")}}, .line = 4},
      {.frame = 8, .request = ViewCommand{StopRecording{}}, .line = 5},
      {.frame = 8, .request = Command{UndoReturn{}}, .line = 6},
      {.frame = 8, .request = ViewCommand{StartRecording{path("second.csv")}}, .line = 7},
      {.frame = 8, .request = ViewCommand{ExportResults{path("results.csv")}}, .line = 8},
      {.frame = 10, .request = ViewCommand{Quit{}}, .line = 9},
  };
  EXPECT_EQ(run_view(o), 0);
  EXPECT_EQ(read(path("first.csv")).find("\"dt\":0.25"), std::string::npos) << "plummer's own again";
  const auto returned = rows(path("first.csv")), undone = rows(path("second.csv"));
  ASSERT_FALSE(returned.empty() || undone.empty());
  EXPECT_EQ(returned.front().at("n"), "500");
  EXPECT_EQ(returned.front().at("step"), "1") << "other bodies start from their first state";
  EXPECT_EQ(undone.front().at("n"), "300");
  EXPECT_EQ(undone.front().at("step"), "4") << "the bodies go on from where they were";
  EXPECT_NE(read(path("second.csv")).find("\"dt\":0.25"), std::string::npos);
  const auto results = rows(path("results.csv"));
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[1].at("dt"), "0.25");
  EXPECT_NE(results[0].at("dt"), "0.25");
}

TEST_F(OffscreenViewer, AFrameLastsUntilTheNextOneStarts) {
  ViewOptions o = options(5);
  o.record_file = path("a.csv");
  EXPECT_EQ(run_view(o), 0);
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
  EXPECT_EQ(run_view(o), 0);
  EXPECT_EQ(read(path("a.csv")), "mine");
  EXPECT_EQ(rows(path("a-1.csv")).size(), 2u);
}

}  // namespace
}  // namespace orrery
