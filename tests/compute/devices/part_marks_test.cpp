#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compute/devices/part_times.h"

namespace orrery {
namespace {

MarkTimes times(double shared, double part_begins, double offered, double all_offered, double all_came,
                double part_ends) {
  MarkTimes at;
  at[PartMark::shared] = shared;
  at[PartMark::part_begins] = part_begins;
  at[PartMark::offered] = offered;
  at[PartMark::all_offered] = all_offered;
  at[PartMark::all_came] = all_came;
  at[PartMark::part_ends] = part_ends;
  return at;
}

std::string text_of(const std::vector<DeviceSpan>& spans) {
  std::string text;
  for (const DeviceSpan& span : spans) {
    text += std::string{span.name} + (span.communicates ? "* " : " ") +
            std::to_string(static_cast<int>(span.begin_ms)) + "-" + std::to_string(static_cast<int>(span.end_ms)) +
            "; ";
  }
  return text;
}

TEST(PartMarks, TellWhatDevicesDidThatHaveTheBodiesHandedOut) {
  const MarkTimes leader = times(3, 5, 0, 0, 0, 25), other = times(0, 4, 0, 0, 0, 22);
  EXPECT_EQ(text_of(spans_of(leader, true, false, 0)), "hand out 0-3; bodies* 3-5; forces 5-25; ");
  EXPECT_EQ(begin_after(leader, other, false), 3);
  EXPECT_EQ(text_of(spans_of(other, false, false, 3)), "bodies* 3-7; forces 7-25; ");
}

TEST(PartMarks, AreInOneTimeForDevicesThatMeetToExchange) {
  const MarkTimes leader = times(0, 2, 12, 15, 17, 40), other = times(0, 1, 8, 9, 10, 35);
  EXPECT_EQ(text_of(spans_of(leader, true, true, 0)), "bodies* 0-2; tree 2-12; cells* 15-17; walk 17-40; ")
      << "nothing was handed out, and it waited for three";
  EXPECT_EQ(begin_after(leader, other, true), 6);
  EXPECT_EQ(text_of(spans_of(other, false, true, 6)), "bodies* 6-7; tree 7-14; cells* 15-16; walk 16-41; ");
}

}  // namespace
}  // namespace orrery
