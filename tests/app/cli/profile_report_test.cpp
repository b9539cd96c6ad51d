// The text that `orrery profile` prints of a profile.
#include <gtest/gtest.h>

#include "app/features/profile/kernel_profile.h"
#include "app/features/profile/profile_verb.h"

namespace orrery {
namespace {

TEST(ProfileReport, HasARowForEveryReasonAndSentencesOfThoseThatMatter) {
  KernelProfile profile{.kernel_id = "cuda-tiled", .scene = "plummer", .count = 1000};
  profile.on_gpu = true;
  for (const StallReason& reason : stall_reasons()) profile.stalls[reason.id] = 0.001;
  profile.stalls["wait"] = 10;
  const std::string text = profile_text(profile, nullptr, {});
  for (const StallReason& reason : stall_reasons()) {
    EXPECT_NE(text.find(reason.title), std::string::npos) << reason.id << " in: " << text;
  }
  EXPECT_NE(text.find("0.01 %"), std::string::npos) << text;
  EXPECT_NE(text.find(find_stall_reason("wait")->meaning), std::string::npos) << text;
  EXPECT_EQ(text.find(find_stall_reason("membar")->meaning), std::string::npos) << text;
}

}  // namespace
}  // namespace orrery
