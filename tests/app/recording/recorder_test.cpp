#include "app/recording/recorder.h"

#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "compute/core/temporary_folder.h"
#include "tests/app/support/text_file.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

using test::contents;
using test::lines;

FrameRow row(std::int64_t frame, double time_s, int steps = 0) {
  return {.frame = frame, .time_s = time_s, .kernel = "cpu-simd", .n = 16384, .steps = steps, .draw_ms = 0.5};
}

TEST(Recorder, WritesMetadataColumnsAndOneRowAFrame) {
  const TemporaryFolder folder;
  Recorder recorder;
  EXPECT_FALSE(recorder.active());
  EXPECT_EQ(recorder.append(row(0, 0)), "") << "nothing is recorded yet";
  const std::string file = recorder.open((folder / "run.csv").string(), {{"program", "orrery"}});
  EXPECT_EQ(file, (folder / "run.csv").string());
  EXPECT_TRUE(recorder.active());
  EXPECT_EQ(recorder.append(row(1, 10.0)), "");
  EXPECT_EQ(recorder.append(row(2, 10.1)), "");
  EXPECT_EQ(recorder.close(), "");
  EXPECT_FALSE(recorder.active());
  const auto text = lines(contents(file));
  ASSERT_EQ(text.size(), 4u);
  EXPECT_EQ(text[0], "# {\"program\":\"orrery\"}");
  EXPECT_EQ(
      text[1],
      "frame,time_s,step,sim_time,kernel,backend,block,settings,n,steps,map_ms,force_ms,integrate_ms,step_ms,unmap_ms,"
      "draw_ms,gui_ms,frame_ms,interactions_per_s,interop,error_median,error_p99,error_max,evaluations");
  EXPECT_EQ(text[2].substr(0, 5), "1,10,");
  EXPECT_EQ(text[3].substr(0, 7), "2,10.1,");
  EXPECT_EQ(recorder.rows(), 2);
  EXPECT_EQ(recorder.file(), file);
}

TEST(Recorder, WritesErrorsOfForcesWhereTheyCameIn) {
  const TemporaryFolder folder;
  Recorder recorder;
  const std::string file = recorder.open((folder / "run.csv").string(), {});
  FrameRow compared = row(0, 10.0);
  compared.error = ForceError{.rms = 4, .median = 1, .p99 = 2, .max = 3};
  EXPECT_EQ(recorder.append(compared), "");
  EXPECT_EQ(recorder.append(row(1, 10.1)), "");
  EXPECT_EQ(recorder.close(), "");
  const auto text = lines(contents(file));
  ASSERT_EQ(text.size(), 4u);
  EXPECT_TRUE(text[2].ends_with(",1,2,3,")) << text[2];
  EXPECT_TRUE(text[3].ends_with(",,,,")) << text[3];
}

TEST(Recorder, KeepsAnExistingFile) {
  const TemporaryFolder folder;
  const std::string path = (folder / "run.csv").string();
  std::ofstream{path} << "precious\n";
  Recorder recorder;
  EXPECT_EQ(recorder.open(path, {}), (folder / "run-1.csv").string());
  EXPECT_EQ(recorder.open(path, {}), (folder / "run-2.csv").string()) << "a second recording ends the first";
  EXPECT_EQ(contents(path), "precious\n");
}

// The file as it is while the recorder lives: a kill would leave it behind.
TEST(Recorder, LosesNoMoreThanASecond) {
  const TemporaryFolder folder;
  Recorder recorder;
  const std::string file = recorder.open((folder / "run.csv").string(), {});
  for (int frame = 0; frame <= 300; ++frame) ASSERT_EQ(recorder.append(row(frame, frame / 100.0)), "");
  const auto text = lines(contents(file));
  EXPECT_GE(text.size(), 2u + 200u) << "of 3 s at 100 frames/s, the first 2 s";
  EXPECT_EQ(contents(file).back(), '\n');
}

TEST(Recorder, WritesFramesThatWaitForALongStepAndFillsThemInLater) {
  const TemporaryFolder folder;
  Recorder recorder;
  const std::string file = recorder.open((folder / "run.csv").string(), {});
  EXPECT_EQ(recorder.append(row(0, 0.0, 1)), "");
  for (int frame = 1; frame <= 50; ++frame) ASSERT_EQ(recorder.append(row(frame, frame / 10.0)), "");
  EXPECT_GE(lines(contents(file)).size(), 2u + 40u) << "a step of 5 s holds nothing up";
  EXPECT_EQ(lines(contents(file))[2].find("5000"), std::string::npos);
  recorder.fill({.tag = 0, .steps = 1, .step_ms = 5000});
  EXPECT_EQ(recorder.close(), "");
  const auto text = lines(contents(file));
  ASSERT_EQ(text.size(), 2u + 51u);
  EXPECT_NE(text[2].find(",5000,"), std::string::npos);
  for (std::size_t i = 0; i <= 50; ++i) EXPECT_EQ(text[i + 2].substr(0, text[i + 2].find(',')), std::to_string(i));
}

TEST(Recorder, EndsByItselfWhereTheDiskIsFull) {
  Recorder recorder;
  test::expect_failure(
      test::Failure::runtime, [&] { recorder.open("/dev/full", {}); }, "/dev/full", "No space left");
  EXPECT_FALSE(recorder.active());
}

TEST(Recorder, KeepsWholeRowsWhereAFileMayNotGrow) {
  const TemporaryFolder folder;
  Recorder recorder;
  const std::string file = recorder.open((folder / "run.csv").string(), {});
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string error;
  int frame = 0;
  for (; frame < 1000 && error.empty(); ++frame) error = recorder.append(row(frame, frame / 10.0));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_NE(error.find(file), std::string::npos) << error;
  EXPECT_NE(error.find("File too large"), std::string::npos) << error;
  EXPECT_LT(frame, 1000);
  EXPECT_FALSE(recorder.active());
  EXPECT_EQ(recorder.append(row(frame, 1e3)), "") << "it is said once";
  const std::string text = contents(file);
  EXPECT_LE(text.size(), 1000u);
  EXPECT_GT(lines(text).size(), 5u);
  EXPECT_EQ(text.back(), '\n') << "no torn row";
}

}  // namespace
}  // namespace orrery
