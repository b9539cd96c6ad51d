// Hardware counters as far as a machine without a GPU has them: the library, its chips and the passes.
#include "compute/cuda/cupti.h"

#include "tests/test.h"

namespace orrery::cuda {
namespace {

std::string refusal_of(const std::string& library) {
  try {
    const std::array names{library};
    const Cupti cupti{names};
  } catch (const CuptiError& error) {
    return error.what();
  }
  return {};
}

TEST(Cupti, ALibraryThatIsNotThereHasACauseAndACure) {
  const std::string text = refusal_of("libno-such-library.so.1");
#if ORRERY_HAVE_CUPTI
  for (const char* part : {"libno-such-library.so.1", "CUPTI is not installed", "Install", "LD_LIBRARY_PATH"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
#else
  EXPECT_NE(text.find("built"), std::string::npos) << text;
#endif
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

#if ORRERY_HAVE_CUPTI
TEST(Cupti, ALibraryOfAnotherKindHasACauseAndACure) {
  const std::string text = refusal_of("libc.so.6");
  EXPECT_NE(text.find("cuptiGetResultString"), std::string::npos) << text;
  EXPECT_NE(text.find("12.6"), std::string::npos) << text;
}

class WithCupti : public testing::Test {
 protected:
  void SetUp() override {
    try {
      cupti = std::make_unique<Cupti>();
    } catch (const CuptiError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  std::unique_ptr<Cupti> cupti;
};

std::string stall(const std::string& reason) {
  return "smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio";
}

TEST_F(WithCupti, KnowsTheChipsFromTuringToBlackwell) {
  const std::vector<std::string> chips = cupti->chips();
  for (const char* chip : {"TU102", "GA100", "AD102", "GH100", "GB100", "GB202"}) {
    EXPECT_NE(std::ranges::find(chips, chip), chips.end()) << chip;
  }
}

TEST_F(WithCupti, PlansThePassesOfAChipWithoutIt) {
  std::vector<std::string> all;
  for (const char* reason :
       {"barrier", "branch_resolving", "dispatch_stall", "drain", "gmma", "imc_miss", "lg_throttle", "long_scoreboard",
        "math_pipe_throttle", "membar", "mio_throttle", "misc", "no_instruction", "not_selected", "selected",
        "short_scoreboard", "sleeping", "tex_throttle", "wait"}) {
    all.push_back(stall(reason));
  }
  const CounterPlan one = cupti->plan("GH100", std::array{stall("wait")});
  EXPECT_EQ(one.passes, 1);
  EXPECT_FALSE(one.config.empty());
  const CounterPlan plan = cupti->plan("GH100", all);
  EXPECT_EQ(plan.passes, 6) << "all 19 reasons of Hopper";
  EXPECT_EQ(plan.metrics, all);
  EXPECT_TRUE(plan.missing.empty());
}

TEST_F(WithCupti, LeavesOutAndNamesWhatAChipDoesNotHave) {
  const std::array metrics{stall("wait"), stall("gmma"), std::string{"nonsense__metric.sum"}};
  const CounterPlan plan = cupti->plan("TU102", metrics);
  EXPECT_EQ(plan.metrics, (std::vector{stall("wait")}));
  EXPECT_EQ(plan.missing, (std::vector<std::string>{stall("gmma"), "nonsense__metric.sum"}));
  EXPECT_GE(plan.passes, 1);
}

TEST_F(WithCupti, RefusesAChipThatItDoesNotKnow) {
  EXPECT_THROW((void)cupti->plan("XX999", std::array{stall("wait")}), CuptiError);
  EXPECT_THROW((void)cupti->plan("GH100", std::array{std::string{"nonsense"}}), CuptiError);
}
#endif

}  // namespace
}  // namespace orrery::cuda
