#include "app/features/profile/kernel_profile.h"
#include "app/lab/force_promise.h"
#include "app/lab/statistics.h"
#include "tests/app/support/test.h"

namespace orrery::test {
namespace {

TEST(ForceSamples, TakeAsManyBodiesAsAskedFor) {
  const std::vector<Vec4> bodies(20, Vec4{1, 2, 3, 1});
  EXPECT_EQ((ForceSample{bodies, Law{}, 7}.size()), 7);
  EXPECT_EQ((ForceSample{bodies, Law{}}.size()), 20);
  const ForceSample all{bodies, Law{}, std::numeric_limits<int>::max()};
  EXPECT_EQ(all.size(), 20);
  const UlpHistogram ulps = all.ulps(std::vector<Vec4>(20));
  EXPECT_EQ(ulps.counts[0], 60) << "three components a body, all in one place: no force";
}

TEST(Distributions, NameTheirClasses) {
  UlpHistogram ulps;
  ulps.counts[1] = 20;
  ulps.counts[4] = 29'980;
  EXPECT_EQ(to_text(distribution(ulps)), "1: 20 (<0.1%), 5-8: 29,980 (>99.9%)");
  EXPECT_EQ(to_csv(distribution(ulps)), "1:20 5-8:29980");
  EXPECT_EQ(to_json(distribution(ulps)).dump(), R"({"0":0,"1":20,"2":0,"3-4":0,"5-8":29980})");

  WrongDigits digits;
  digits.counts = {0, 0, 0, 1, 0, 0, 0, 0, 3};
  EXPECT_EQ(to_text(distribution(digits)), "3rd decimal: 1 (25.0%), none: 3 (75.0%)");
  EXPECT_EQ(to_csv(distribution(digits)), "3rd_decimal:1 none:3");
  EXPECT_EQ(to_json(distribution(digits)).size(), 9u);
}

TEST(Distributions, NeverHideWhatIsNotFinite) {
  UlpHistogram ulps;
  EXPECT_EQ(to_text(distribution(ulps)), "-");
  ulps.not_finite = 3;
  EXPECT_EQ(to_text(distribution(ulps)), "not finite: 3 (100%)");
  EXPECT_EQ(to_csv(distribution(ulps)), "not_finite:3");
}

// The text that `orrery profile` prints of a profile.

TEST(ProfileReport, HasARowForEveryReasonAndSentencesOfThoseThatMatter) {
  KernelProfile profile{.kernel_id = "cuda-tiled", .scene = "plummer", .count = 1000};
  profile.on_gpu = true;
  for (const StallReason& reason : stall_reasons()) profile.stalls[reason.id] = 0.001;
  profile.stalls["wait"] = 10;
  const std::string text = profile_text(profile, nullptr, {});
  for (const StallReason& reason : stall_reasons()) {
    expect_holds(text, {reason.title});
  }
  expect_holds(text, {"0.01 %", find_stall_reason("wait")->meaning});
  expect_lacks(text, {find_stall_reason("membar")->meaning});
}

}  // namespace
}  // namespace orrery::test
