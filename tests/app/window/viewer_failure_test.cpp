// A run's failures, and what is kept all the same.
#include <sys/resource.h>

#include <csignal>
#include <memory>
#include <stdexcept>

#include "app/features/sweep/sweep_commands.h"
#include "app/ui_state/window_commands.h"
#include "compute/core/error.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/app/window/offscreen_viewer.h"
#include "tests/compute/support/kernel_doubles.h"

namespace orrery {
namespace {

using test::OffscreenViewer;

/// Prevents this process, while it lives, from writing files longer than `bytes`.
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

/// Sets the working folder while it lives: a sweep writes its files there.
class WorkingFolder {
 public:
  explicit WorkingFolder(const std::filesystem::path& folder) { std::filesystem::current_path(folder); }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;
  ~WorkingFolder() { std::filesystem::current_path(before_); }

 private:
  const std::filesystem::path before_ = std::filesystem::current_path();
};

TEST_F(OffscreenViewer, ALostDeviceLeavesARecordingThatIsWhole) {
  KernelCatalog kernels;
  kernels.put(test::kernel_info("loses-its-device", create_kernel<test::LosesItsDevice>));
  ViewOptions o = options(30);
  o.setup = {SelectKernel{"loses-its-device"}};
  o.record_file = path("a.csv");
  try {
    run_view(kernels, o);
    ADD_FAILURE() << "nobody was told";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string{error.what()}.find("the device failed: an illegal memory access"), std::string::npos)
        << error.what();
  }
  const auto recorded = rows(o.record_file);
  ASSERT_GE(recorded.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(recorded[i].at("frame"), std::to_string(i));
    EXPECT_EQ(recorded[i].at("kernel"), "loses-its-device");
  }
}

TEST_F(OffscreenViewer, WhatAScriptCannotHaveNamesItsLine) {
  ViewOptions o = options(5);
  o.script_file = "tour.txt";
  o.script = {{.frame = 1, .request = ViewCommand{StartRecording{"/nonexistent/a.csv"}}, .line = 7}};
  try {
    run_view(test::catalog(), o);
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
      run_view(test::catalog(), o);
      ADD_FAILURE() << "the sweep would have measured the steps as well";
    } catch (const UsageError& error) {
      EXPECT_EQ(std::string{error.what()}.find("tour.txt:7: "), 0u) << error.what();
      EXPECT_NE(std::string{error.what()}.find("sweep"), std::string::npos) << error.what();
    }
  }
}

TEST_F(OffscreenViewer, APictureThatCannotBeWrittenNamesTheLineThatAskedForIt) {
  ViewOptions o = options(5);
  o.script_file = "tour.txt";
  o.script = {{.frame = 1, .request = ViewCommand{SaveScreenshot{"/nonexistent/a.png"}}, .line = 7}};
  try {
    run_view(test::catalog(), o);
    FAIL() << "nobody was told";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string{error.what()}.find("tour.txt:7: "), 0u) << error.what();
    EXPECT_NE(std::string{error.what()}.find("'/nonexistent/a.png'"), std::string::npos) << error.what();
  }
}

TEST_F(OffscreenViewer, FullDiskEndsTheRecordingAndNotTheRun) {
  ViewOptions o = options(60);
  o.record_file = path("a.csv");
  o.save_file = path("end.tipsy");
  // A limit on a file's size stands for the disk: writes beyond it fail. The snapshot is smaller than the limit.
  o.scene.count = 20;
  const FileSizeLimit limit{2500};
  EXPECT_EQ(run_view(test::catalog(), o), 1);
  EXPECT_TRUE(std::filesystem::exists(o.save_file)) << "the run went on to its end";
  EXPECT_FALSE(rows(o.record_file).empty()) << "what fitted is there";
}

TEST_F(OffscreenViewer, FilesThatCannotBeWrittenAreNamed) {
  const auto fails = [](const ViewOptions& o, const std::string& file) {
    try {
      run_view(test::catalog(), o);
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
  EXPECT_THROW(run_view(test::catalog(), o), std::runtime_error);
  EXPECT_EQ(read_snapshot(o.save_file).bodies.count(), 500);
  EXPECT_EQ(rows(o.record_file).size(), 2u);
}

}  // namespace
}  // namespace orrery
