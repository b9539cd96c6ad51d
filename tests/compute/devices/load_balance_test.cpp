#include "compute/devices/load_balance.h"

#include "compute/kernels/division.h"
#include "compute/kernels/kernel_sharing.h"
#include "tests/test.h"

namespace orrery {
namespace {

/// Fails the test unless every one of `count` things belongs to exactly one part. Returns how many each part has.
template <class Integer>
std::vector<Integer> sizes_of(const std::vector<Part>& parts, Integer count) {
  std::vector<Integer> sizes;
  Integer next = 0;
  for (const Part& part : parts) {
    EXPECT_EQ(part.index, static_cast<int>(sizes.size()));
    EXPECT_EQ(part.first(count), next);
    EXPECT_GE(part.last(count), part.first(count));
    sizes.push_back(part.last(count) - part.first(count));
    next = part.last(count);
  }
  EXPECT_EQ(next, count);
  return sizes;
}

TEST(PartSizes, CoverEverythingOnce) {
  for (const int devices : {1, 2, 3, 4, 7, most_devices}) {
    const std::vector<Part> parts = PartSizes{devices}.parts();
    ASSERT_EQ(parts.size(), static_cast<std::size_t>(devices));
    for (const int count : {0, 1, 2, 3, 63, 64, 65, 65'537, 2'147'483'647}) {
      SCOPED_TRACE(std::to_string(devices) + " devices, " + std::to_string(count));
      const std::vector<int> sizes = sizes_of(parts, count);
      const auto [least, most] = std::ranges::minmax(sizes);
      EXPECT_LE(most - least, 2) << "equal at first, but for roundings";
    }
    sizes_of(parts, 1'000'000'000'000LL);
  }
}

TEST(PartSizes, KnowTheOwners) {
  PartSizes sizes{3};
  EXPECT_EQ(sizes.owners(6), (std::vector{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(sizes.owners(1), std::vector{2}) << "the last part has what roundings leave";
  ASSERT_TRUE(sizes.learn(std::vector{4.0, 1.0, 1.0}));
  EXPECT_EQ(sizes.owners(9), (std::vector{0, 1, 1, 1, 1, 2, 2, 2, 2}));
}

TEST(PartSizes, FollowTheTimesUntilTheseAreEqual) {
  PartSizes sizes{4};
  const std::vector<double> work{1, 3, 2, 2};  // of the four quarters of the bodies, as ms
  double imbalance = 1;
  for (int round = 0; round < 20; ++round) {
    const std::vector<Part> parts = sizes.parts();
    sizes_of(parts, 1000);
    std::vector<double> ms;
    for (const Part& part : parts) {
      double time = 0.5;  // that each device takes, whatever its part
      for (int quarter = 0; quarter < 4; ++quarter) {
        const double begin = std::max(part.begin, 0.25 * quarter), end = std::min(part.end, 0.25 * (quarter + 1));
        time += std::max(end - begin, 0.0) * 4 * work[static_cast<std::size_t>(quarter)];
      }
      ms.push_back(time);
    }
    imbalance = 4 * std::ranges::max(ms) / std::accumulate(ms.begin(), ms.end(), 0.0) - 1;
    sizes.learn(ms);
  }
  EXPECT_LE(imbalance, 0.06);
}

TEST(PartSizes, StayWhereTheTimesAreEqualOrUnknown) {
  PartSizes sizes{2};
  for (const std::vector<double>& ms : {std::vector{1.0, 1.04}, {0.0, 3.0}}) {
    sizes.learn(ms);
    EXPECT_EQ(sizes.parts()[0].end, 0.5);
  }
}

TEST(PartSizes, LeaveEveryDeviceSomeWork) {
  PartSizes sizes{2};
  for (int round = 0; round < 5; ++round) sizes.learn(std::vector{1.0, 1000.0});
  EXPECT_LT(sizes.parts()[1].begin, 0.95);
}

TEST(LearnedParts, DoNotLearnTwiceFromTheSameParts) {
  LearnedParts parts{2};
  const std::vector<double> ms{1, 2};
  const auto border = [&] { return parts.parts()[0].end; };
  parts.evaluated(/*kept_parts=*/false, /*timed=*/true);
  parts.learn(ms);
  const double first = border();
  EXPECT_NEAR(first, 2.0 / 3, 1e-12);
  parts.evaluated(/*kept_parts=*/true, /*timed=*/true);
  parts.learn(ms);
  EXPECT_EQ(border(), first) << "the parts that were kept had learned";
  parts.evaluated(/*kept_parts=*/false, /*timed=*/false);
  parts.learn(ms);
  EXPECT_EQ(border(), first) << "the times are of the parts before";
  parts.evaluated(/*kept_parts=*/true, /*timed=*/true);
  parts.learn(ms);
  EXPECT_GT(border(), first) << "kept, but the latest";
}

/// Each change costs an evaluation in which devices send each other everything.
TEST(LearnedParts, DoNotFollowTheNoiseOfSingleTimes) {
  LearnedParts parts{2};
  const auto border = [&] { return parts.parts()[0].end; };
  const auto evaluate = [&](double first_ms, double second_ms) {
    parts.evaluated(/*kept_parts=*/false, /*timed=*/true);
    parts.learn(std::vector{first_ms, second_ms});
  };
  for (int change = 0; change < 3; ++change) evaluate(1, 2);
  const double settled = border();
  EXPECT_GT(settled, 0.8) << "at once, while nothing is known";
  for (const auto& [first, second] : {std::pair{1.0, 1.2}, {1.3, 1.0}, {1.0, 1.5}, {1.2, 1.02}})
    evaluate(first, second);
  EXPECT_EQ(border(), settled) << "the least times are equal enough";
  for (int evaluation = 0; evaluation < 3; ++evaluation) evaluate(2, 1);
  EXPECT_EQ(border(), settled);
  evaluate(2, 1);
  EXPECT_LT(border(), settled) << "it lasts";
}

TEST(LearnedParts, DoNotFollowTheNoiseOfEqualDevices) {
  LearnedParts parts{2};
  const auto evaluate = [&](double first_ms, double second_ms) {
    parts.evaluated(/*kept_parts=*/false, /*timed=*/true);
    parts.learn(std::vector{first_ms, second_ms});
  };
  for (int evaluation = 0; evaluation < 3; ++evaluation) evaluate(1, 1);
  evaluate(1, 1.5);
  for (int evaluation = 0; evaluation < 3; ++evaluation) evaluate(1, 1);
  EXPECT_EQ(parts.parts()[0].end, 0.5);
  for (int evaluation = 0; evaluation < 3; ++evaluation) evaluate(1, 2);
  parts.forget_times();
  for (int evaluation = 0; evaluation < 3; ++evaluation) evaluate(1, 2);
  EXPECT_EQ(parts.parts()[0].end, 0.5) << "three of four";
  evaluate(1, 2);
  EXPECT_GT(parts.parts()[0].end, 0.5);
}

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

TEST(DeviceList, IsReadAndWritten) {
  EXPECT_TRUE(DeviceList::parsed("--devices", "all").all);
  for (const auto& [text, ordinals] :
       {std::pair<const char*, std::vector<int>>{"0", {0}}, {"0,1", {0, 1}}, {"3,0,12", {3, 0, 12}}, {"0,0", {0, 0}}}) {
    const DeviceList list = DeviceList::parsed("--devices", text);
    EXPECT_FALSE(list.all) << text;
    EXPECT_EQ(list.ordinals, ordinals) << text;
    EXPECT_EQ(list.to_string(), text);
  }
  EXPECT_EQ(DeviceList::parsed("--devices", "all").to_string(), "all");
}

TEST(DeviceList, ThatIsNoneIsRefusedInOneLine) {
  std::string many = "0";
  for (int i = 0; i < most_devices; ++i) many += ",0";
  for (const std::string& wrong : {std::string{}, std::string{","}, std::string{"0,"}, std::string{",0"},
                                   std::string{"-1"}, std::string{"0,-1"}, std::string{"0 1"}, std::string{"one"},
                                   std::string{"0,all"}, std::string{"1.5"}, std::string{"99999999999"}, many}) {
    EXPECT_USAGE_ERROR(DeviceList::parsed("--devices", wrong), "--devices cannot be '" + wrong, "all", "0,1");
  }
}

}  // namespace
}  // namespace orrery
