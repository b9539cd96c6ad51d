// A kernel's machine code as the panels show it, with a cuobjdump that says what a test wants.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "app/features/roofline/roofline_window.h"
#include "app/features/sweep/sweep_commands.h"
#include "tests/app/support/fake_cuobjdump.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

Status with_kernel(const char* function) {
  Status status;
  // Every build has this kernel, and one evaluation of the law is one interaction.
  status.kernel = test::find_kernel("cpu-serial");
  status.backend = Backend::cuda;
  status.card = KernelCard{.name = function, .architecture = 90};
  return status;
}

/// Returns the view of the function once its instructions have been counted. If they never are, the test hits its time
/// limit.
ViewStatus described(MachineFacts& facts, const char* function) {
  ViewStatus view;
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    facts.describe(view, with_kernel(function));
  } while (view.instructions_reason == "they are being counted");
  return view;
}

TEST(MachineFacts, CountsEachFunctionOnce) {
  const test::FakeCuobjdump cuobjdump;
  cuobjdump.does("echo \"Function : $5\"; printf '/*0010*/ MUFU.RSQ R1, R1 ;\\n/*0020*/ BRA 0x10 ;\\n'");
  MachineFacts facts{test::backends()};
  EXPECT_EQ(described(facts, "first").instructions_per_interaction, 2.0);
  cuobjdump.does("exit 1");
  EXPECT_EQ(described(facts, "first").instructions_per_interaction, 2.0) << "it was known";
  const ViewStatus second = described(facts, "second");
  EXPECT_FALSE(second.instructions_per_interaction);
  EXPECT_NE(second.instructions_reason.find("failed"), std::string::npos) << second.instructions_reason;
}

TEST(MachineFacts, DoNotWaitAtTheEndForWhatNobodyWants) {
  const test::FakeCuobjdump cuobjdump;
  cuobjdump.does("exec sleep 1000");
  MachineFacts facts{test::backends()};
  ViewStatus view;
  facts.describe(view, with_kernel("endless"));
  EXPECT_FALSE(view.instructions_per_interaction);
  EXPECT_EQ(view.instructions_reason, "they are being counted");
}

TEST(MachineFacts, StartNothingWhileASweepMeasures) {
  const test::FakeCuobjdump cuobjdump;
  cuobjdump.does("echo \"Function : $5\"; printf '/*0010*/ MUFU.RSQ R1, R1 ;\\n/*0020*/ BRA 0x10 ;\\n'");
  MachineFacts facts{test::backends()};
  ViewStatus view;
  view.measurement = {&sweep_user};
  for (int frame = 0; frame < 100; ++frame) {
    facts.describe(view, with_kernel("swept"));
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  EXPECT_NE(view.instructions_reason.find("sweep"), std::string::npos) << view.instructions_reason;
  EXPECT_FALSE(view.instructions_per_interaction);
  EXPECT_EQ(described(facts, "swept").instructions_per_interaction, 2.0);
}

TEST(MachineFacts, OfAKernelOnTheCpuAreNone) {
  MachineFacts facts{test::backends()};
  ViewStatus view;
  view.instructions_per_interaction = 14;
  facts.describe(view, Status{});
  EXPECT_FALSE(view.instructions_per_interaction);
  EXPECT_NE(view.instructions_reason, "");
  EXPECT_FALSE(view.peak_rates);
}

}  // namespace
}  // namespace orrery
