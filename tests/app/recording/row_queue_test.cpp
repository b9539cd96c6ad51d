#include <gtest/gtest.h>

#include <string>

#include "app/recording/recorder.h"

namespace orrery {
namespace {

/// A row that starts `steps` steps; its drawing is timed unless `drawn`.
FrameRow row(std::int64_t frame, int steps, bool drawn = true) {
  FrameRow row{.frame = frame, .time_s = 0.1 * static_cast<double>(frame), .kernel = "k", .n = 8, .steps = steps};
  if (drawn) row.draw_ms = 0.5;
  return row;
}

StepTiming timing(std::int64_t frame, double step_ms) {
  return {.tag = frame, .steps = 1, .step_ms = step_ms};
}

/// The file that results from all changes.
struct File {
  std::string text;
  void apply(const RowQueue::Change& change) {
    text = text.substr(0, static_cast<std::size_t>(change.at)) + change.text;
  }
};

std::string csv(FrameRow row, double step_ms) {
  row.timing = timing(row.frame, step_ms);
  return row.csv();
}

TEST(RowQueue, GivesRowsInOrderOnceTheyAreComplete) {
  RowQueue queue;
  queue.push(row(1, 1));
  queue.push(row(2, 0));
  queue.push(row(3, 1));
  EXPECT_EQ(queue.take_complete(), "") << "frame 2 needs nothing, but stands after frame 1";
  queue.fill(timing(1, 7));
  EXPECT_EQ(queue.take_complete(), csv(row(1, 1), 7) + row(2, 0).csv());
  EXPECT_EQ(queue.take_complete(), "");
  queue.fill(timing(3, 9));
  EXPECT_EQ(queue.take_complete(), csv(row(3, 1), 9));
  EXPECT_EQ(queue.take_complete(), "");
}

TEST(RowQueue, FillsInWhatIsInTheFileAlready) {
  RowQueue queue;
  File file;
  queue.push(row(1, 0));
  queue.push(row(2, 1));
  queue.push(row(3, 0));
  file.apply(queue.take_changes());
  EXPECT_EQ(file.text, row(1, 0).csv() + row(2, 1).csv() + row(3, 0).csv());
  queue.push(row(4, 0));
  const RowQueue::Change appended = queue.take_changes();
  EXPECT_EQ(appended.text, row(4, 0).csv()) << "nothing before it changed";
  file.apply(appended);
  queue.fill(timing(2, 12.25));
  file.apply(queue.take_changes());
  EXPECT_EQ(file.text, row(1, 0).csv() + csv(row(2, 1), 12.25) + row(3, 0).csv() + row(4, 0).csv());
  EXPECT_EQ(queue.take_changes().text, "");
}

TEST(RowQueue, WaitsForDrawingAndStepsApart) {
  RowQueue queue;
  queue.push(row(1, 1, false));
  queue.fill_draw(1, 0.25);
  EXPECT_EQ(queue.take_complete(), "");
  queue.fill(timing(1, 7));
  FrameRow whole = row(1, 1);
  whole.draw_ms = 0.25;
  EXPECT_EQ(queue.take_complete(), csv(whole, 7));
}

TEST(RowQueue, StopsWaitingForABatchThatLaterOnesOvertook) {
  RowQueue queue;
  queue.push(row(1, 1));  // abandoned: the kernel was switched
  queue.push(row(2, 1));
  queue.fill(timing(2, 7));
  EXPECT_EQ(queue.take_complete(), row(1, 1).csv() + csv(row(2, 1), 7));
}

TEST(RowQueue, GivesEverythingAtTheEnd) {
  RowQueue queue;
  queue.push(row(1, 1, false));
  queue.give_up();
  EXPECT_EQ(queue.take_complete(), row(1, 1, false).csv());
}

TEST(FrameRow, LeavesUnknownTimesEmpty) {
  FrameRow empty = row(7, 0);
  empty.settings = "block=256 split=auto";
  empty.block = "256";
  empty.interop = "mapped";
  EXPECT_EQ(empty.csv(), "7,0.7,0,0,k,,256,block=256 split=auto,8,0,,,,,,0.5,0,0,,mapped,,,,\n");
  EXPECT_EQ(csv(row(7, 1), 2.5), "7,0.7,0,0,k,,,,8,1,0,0,0,2.5,0,0.5,0,0,0,,,,,0\n");
}

}  // namespace
}  // namespace orrery
