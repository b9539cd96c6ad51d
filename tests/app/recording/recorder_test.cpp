#include "app/recording/recorder.h"

#include <sys/resource.h>

#include <algorithm>
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

TEST(Recorder, WritesFramesDuringALongStepAndTheRowOfTheStepAtItsEnd) {
  const TemporaryFolder folder;
  Recorder recorder;
  const std::string file = recorder.open((folder / "run.csv").string(), {});
  EXPECT_EQ(recorder.append(row(0, 0.0, 1)), "");
  for (int frame = 1; frame <= 50; ++frame) ASSERT_EQ(recorder.append(row(frame, frame / 10.0)), "");
  EXPECT_GE(lines(contents(file)).size(), 2u + 40u) << "a step of 5 s holds nothing up";
  EXPECT_EQ(contents(file).find("\n0,"), std::string::npos) << "its row is not complete";
  recorder.fill({.tag = 0, .steps = 1, .step_ms = 5000});
  for (int frame = 51; frame <= 60; ++frame) ASSERT_EQ(recorder.append(row(frame, frame / 10.0)), "");
  EXPECT_NE(contents(file).find("\n0,0,0,0,cpu-simd,,,,16384,1,0,0,0,5000,"), std::string::npos);
  EXPECT_EQ(recorder.close(), "");
  auto text = lines(contents(file));
  ASSERT_EQ(text.size(), 2u + 61u);
  std::vector<int> frames;
  for (std::size_t i = 2; i < text.size(); ++i) frames.push_back(std::stoi(text[i]));
  std::ranges::sort(frames);
  for (int i = 0; i <= 60; ++i) EXPECT_EQ(frames[static_cast<std::size_t>(i)], i) << "each once";
}

/// The rows of a file that a recorder writes. Its frames are a second apart: each is written as soon as it is complete.
class Rows : public testing::Test {
 protected:
  static FrameRow row(std::int64_t frame, int steps, bool drawn = true) {
    FrameRow row{.frame = frame, .time_s = 1.0 * static_cast<double>(frame), .kernel = "k", .n = 8, .steps = steps};
    if (drawn) row.draw_ms = 0.5;
    return row;
  }
  static StepTiming timing(std::int64_t frame, double step_ms) {
    return {.tag = frame, .steps = 1, .step_ms = step_ms};
  }
  static std::string csv(FrameRow row, double step_ms) {
    row.timing = timing(row.frame, step_ms);
    return row.csv();
  }

  std::string written() const { return contents(file).substr(head.size()); }

  const TemporaryFolder folder;
  Recorder recorder;
  const std::string file = recorder.open((folder / "run.csv").string(), {});
  const std::string head = contents(file);
};

TEST_F(Rows, AreWrittenOnceWhenTheyAreComplete) {
  std::string before = head;
  const auto expect_growth = [&] {
    const std::string now = contents(file);
    EXPECT_TRUE(now.starts_with(before)) << "rows in the file stay as they are";
    before = now;
  };
  ASSERT_EQ(recorder.append(row(1, 1)), "");
  EXPECT_EQ(written(), "");
  recorder.fill(timing(1, 7));
  ASSERT_EQ(recorder.append(row(2, 1)), "");
  expect_growth();
  EXPECT_EQ(written(), csv(row(1, 1), 7));
  recorder.fill(timing(2, 8));
  ASSERT_EQ(recorder.append(row(3, 0)), "");
  expect_growth();
  EXPECT_EQ(written(), csv(row(1, 1), 7) + csv(row(2, 1), 8) + row(3, 0).csv());
}

TEST_F(Rows, AreInTheOrderOfTheirFramesIfStepsAreShort) {
  const auto early = [](std::int64_t frame, int steps) {
    FrameRow one = row(frame, steps);
    one.time_s = 10.5 + 0.11 * static_cast<double>(frame - 11);
    return one;
  };
  ASSERT_EQ(recorder.append(row(0, 0)), "");
  ASSERT_EQ(recorder.append(row(10, 0)), "");
  ASSERT_EQ(recorder.append(early(11, 1)), "");
  for (int frame = 12; frame <= 16; ++frame) ASSERT_EQ(recorder.append(early(frame, 0)), "");
  std::string expected = row(0, 0).csv() + row(10, 0).csv();
  EXPECT_EQ(written(), expected) << "frames 12 to 16 need nothing, but come after frame 11, and are 0.44 s old at most";
  recorder.fill(timing(11, 7));
  ASSERT_EQ(recorder.close(), "");
  expected += csv(early(11, 1), 7);
  for (int frame = 12; frame <= 16; ++frame) expected += early(frame, 0).csv();
  EXPECT_EQ(written(), expected);
}

TEST_F(Rows, WaitForDrawingAndStepsSeparately) {
  ASSERT_EQ(recorder.append(row(1, 1, false)), "");
  recorder.fill_draw(1, 0.25);
  ASSERT_EQ(recorder.append(row(2, 1, false)), "");
  EXPECT_EQ(written(), "");
  recorder.fill(timing(2, 9));
  ASSERT_EQ(recorder.append(row(3, 1, false)), "");
  FrameRow untimed = row(1, 1);
  untimed.draw_ms = 0.25;
  EXPECT_EQ(written(), untimed.csv()) << "its batch was overtaken: the kernel was switched";
  recorder.fill_draw(3, 0.5);
  ASSERT_EQ(recorder.append(row(4, 1, false)), "");
  EXPECT_EQ(written(), untimed.csv() + csv(row(2, 1, false), 9)) << "its drawing was overtaken";
  recorder.fill(timing(3, 10));
  ASSERT_EQ(recorder.append(row(5, 1, false)), "");
  EXPECT_EQ(written(), untimed.csv() + csv(row(2, 1, false), 9) + csv(row(3, 1), 10));
}

TEST_F(Rows, DoNotWaitForDrawingsForEver) {
  for (int frame = 0; frame <= 2 * Recorder::most_frames_in_flight; ++frame) {
    ASSERT_EQ(recorder.append(row(frame, 0, false)), "");
  }
  EXPECT_EQ(lines(written()).size(), static_cast<std::size_t>(Recorder::most_frames_in_flight));
}

TEST_F(Rows, AreAllWrittenAtTheEnd) {
  ASSERT_EQ(recorder.append(row(1, 1, false)), "");
  ASSERT_EQ(recorder.close(), "");
  EXPECT_EQ(written(), row(1, 1, false).csv());
}

TEST(FrameRow, LeavesUnknownTimesEmpty) {
  FrameRow empty{.frame = 7, .time_s = 0.7, .kernel = "k", .n = 8, .draw_ms = 0.5};
  FrameRow timed = empty;
  empty.settings = "block=256 split=auto";
  empty.block = "256";
  empty.interop = "mapped";
  EXPECT_EQ(empty.csv(), "7,0.7,0,0,k,,256,block=256 split=auto,8,0,,,,,,0.5,0,0,,mapped,,,,\n");
  timed.steps = 1;
  timed.timing = StepTiming{.tag = 7, .steps = 1, .step_ms = 2.5};
  EXPECT_EQ(timed.csv(), "7,0.7,0,0,k,,,,8,1,0,0,0,2.5,0,0.5,0,0,0,,,,,0\n");
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
