// Profiles in the laboratory.
#include <limits>

#include "app/features/profile/profile_status.h"
#include "app/ui_state/window_commands.h"
#include "tests/app/panels/panels_fixture.h"

namespace orrery::test {
namespace {

KernelProfile profile_on_gpu(const std::string& kernel) {
  KernelProfile profile{.kernel_id = kernel, .settings = "block=256", .scene = "plummer", .count = 16384};
  profile.device = "a GPU";
  profile.on_gpu = true;
  profile.chip = "GH100";
  profile.passes = 11;
  profile.stalls = {{"wait", 1.5}, {"short_scoreboard", 0.5}, {"long_scoreboard", 4}, {"selected", 1}};
  profile.figures = {{"time_ms", 0.25},           {"issue", 82.5},
                     {"flop_per_s", 3e13},        {"flop_per_byte", 900},
                     {"peak_flop_per_s", 6.5e13}, {"peak_dram_per_s", 3.3e12}};
  return profile;
}

class ProfilePanel : public Panels {
 protected:
  void SetUp() override {
    resize(1920, 1080, 1);
    settle();
    open_tab("profile");
  }
};

TEST_F(Panels, TheCardTakesAProfileAndShowsIt) {
  open_tab("card");
  const Requests requests = click("card.profile");
  ASSERT_EQ(requests.size(), 2u);
  (void)request<ProfileKernel>(requests, 0);
  EXPECT_EQ(request<ShowLab>(requests, 1).tab, "profile");
}

TEST_F(ProfilePanel, IsTakenOnceAtATime) {
  (void)only<ProfileKernel>(click("profile.start"));
  view.features.of<ProfileStatus>().active = true;
  view.features.of<ProfileStatus>().present = "cuda-tiled";
  EXPECT_TRUE(click("profile.start").empty());
  EXPECT_NE(lab_text().find("Profiling"), std::string::npos) << lab_text();
}

TEST_F(ProfilePanel, ShowsTheGreatestReasonFirstWithItsSentences) {
  view.features.of<ProfileStatus>().profiles = {profile_on_gpu("cuda-tiled")};
  settle();
  const std::string text = lab_text();
  for (const char* words :
       {"cuda-tiled block=256", "16,384 bodies of plummer", "82.5 %", "57.1 %", "global memory",
        "The warp waits for a load from global or local memory.", "cuda-tiled in place of cuda-naive"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << " in: " << text;
  }
  EXPECT_LT(ui_marked("profile.reason.long_scoreboard").y0, ui_marked("profile.reason.wait").y0);
  EXPECT_TRUE(seen("profile.bar"));
  EXPECT_FALSE(seen("profile.bar before"));
  EXPECT_TRUE(seen("profile.roofline"));
}

TEST_F(ProfilePanel, ShowsSmallReasonsTogetherUntilTheyAreAskedFor) {
  KernelProfile profile = profile_on_gpu("cuda-tiled");
  profile.stalls = {{"wait", 10}, {"barrier", 0.003}, {"membar", 0}};
  view.features.of<ProfileStatus>().profiles = {profile};
  settle();
  EXPECT_NE(lab_text().find("others, 2 reasons: 0.03 %"), std::string::npos) << lab_text();
  EXPECT_FALSE(seen("profile.reason.barrier"));
  click("section.small stalls");
  settle();
  for (const char* mark : {"profile.reason.barrier", "profile.reason.membar"}) EXPECT_TRUE(seen(mark)) << mark;
}

TEST_F(ProfilePanel, StatesTheDifferenceToTheLastOneOrToAnother) {
  view.features.of<ProfileStatus>().profiles = {profile_on_gpu("cuda-branchy"), profile_on_gpu("cuda-naive"),
                                                profile_on_gpu("cuda-tiled")};
  view.features.of<ProfileStatus>().profiles[2].stalls["long_scoreboard"] = 1;
  settle();
  EXPECT_NE(lab_text().find("Against cuda-naive block=256: all stalls \u221250.00 %"), std::string::npos) << lab_text();
  EXPECT_NE(lab_text().find("\u221275.00 %"), std::string::npos) << lab_text();
  EXPECT_TRUE(seen("profile.bar before"));
  EXPECT_EQ(only<CompareProfile>(pick("profile.baseline", "1")).row, 0);
  view.features.of<ProfileStatus>().compared_with = 0;
  settle();
  EXPECT_NE(lab_text().find("Against cuda-branchy"), std::string::npos) << lab_text();
}

TEST_F(ProfilePanel, SaysWhyThereAreNoCounters) {
  KernelProfile profile{.kernel_id = "cuda-tiled", .count = 16384};
  profile.on_gpu = true;
  profile.problem =
      "cuptiRangeProfilerEnable: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: this user may not read the counters";
  view.features.of<ProfileStatus>().profiles = {profile};
  settle();
  EXPECT_NE(lab_text().find("this user may not read the counters"), std::string::npos) << lab_text();
  EXPECT_TRUE(seen("profile.problem"));
  view.features.of<ProfileStatus>().error = "kernel cuda-tiled cannot run here";
  settle();
  EXPECT_NE(lab_text().find("cannot run here"), std::string::npos) << lab_text();
}

TEST_F(ProfilePanel, ShowsTheCardOfACpuKernel) {
  KernelProfile profile{.kernel_id = "cpu-simd", .scene = "plummer", .count = 4096};
  profile.figures = {{"time_ms", 3}, {"vector_bits", 512}, {"threads", 16}, {"fma_share", 93.5}};
  profile.stalls = {{"wait", std::numeric_limits<double>::quiet_NaN()}};
  profile.problem = "a CPU kernel has no stall reasons: they are counters of a GPU";
  view.features.of<ProfileStatus>().profiles = {profile};
  settle();
  for (const char* words : {"512 bit", "16", "93.5 %", "no stall reasons"}) {
    EXPECT_NE(lab_text().find(words), std::string::npos) << words << " in: " << lab_text();
  }
  EXPECT_FALSE(seen("profile.bar"));
}

}  // namespace
}  // namespace orrery::test
