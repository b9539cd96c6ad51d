// Kernel files on a GPU.
#include "compute/kernels/runtime/file_kernel.h"

#include "compute/cuda/device.h"
#include "compute/cuda/nvrtc.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/runtime/kernel_file.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/kernel_texts.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

namespace orrery {
namespace {

using test::kernel_text;
using test::with;

class FileKernelRun : public testing::Test {
 protected:
  void SetUp() override {
    ORRERY_SKIP_WITHOUT_BACKEND();
    if (!cuda::nvrtc().reason().empty()) GTEST_SKIP() << cuda::nvrtc().reason();
  }

  KernelPtr put(const std::string& text, FileKernelUse use = FileKernelUse::plain) {
    return put_file_kernel(kernels, std::make_shared<const KernelFile>(parse_kernel_file("my.cu", text)), 1, use);
  }

  KernelCatalog kernels;
};

TEST_F(FileKernelRun, AgreesForEveryStartingPointValueAndLaw) {
  for (const std::string& from : starting_points()) {
    const KernelPtr kernel = put(new_kernel_text("mine", from));
    std::vector<Settings> all{Settings{*kernel}};
    for (const Tunable& tunable : kernel->tunables) {
      for (const char* value : tunable.values) all.push_back(Settings{*kernel, {{tunable.name, value}}});
    }
    for (const Settings& settings : all) {
      for (const int count : {1, 31, 33, 257, 4097}) {
        const Bodies bodies = test::random_ball(count);
        for (const Law& law : {Law{}, test::attract_repel}) {
          SCOPED_TRACE(from + ' ' + settings.to_string() + ", " + law_info(law.id).id +
                       ", n = " + std::to_string(count));
          test::expect_agreement(test::accelerations(*kernel, settings, bodies, law), bodies, law, kernel->tolerance);
        }
      }
    }
  }
}

TEST_F(FileKernelRun, EvaluatesTargets) {
  const KernelPtr kernel = put(kernel_text());
  const Bodies bodies = test::random_ball(100);
  const std::unique_ptr<ForceKernel> made = kernel->make(Settings{*kernel}, test::backends().device());
  const test::ForceResult some = test::evaluate(*made, bodies, {.law = {}, .targets = {3, 97}});
  const test::ForceResult every = test::evaluate(*made, bodies, {.law = {}});
  EXPECT_EQ(some.accelerations[97], every.accelerations[97]);
  EXPECT_NE(some.accelerations[4].x, some.accelerations[4].x) << "NaN: not asked for";
}

TEST_F(FileKernelRun, HasACard) {
  const KernelPtr kernel = put(kernel_text());
  const std::unique_ptr<ForceKernel> made = kernel->make(Settings{*kernel}, test::backends().device());
  const auto card = kernel_card(*made, test::backends().device(), {}, 1000, {1, 1});
  ASSERT_TRUE(card);
  EXPECT_GT(card->registers, 0);
  EXPECT_EQ(card->block, 128);
  EXPECT_EQ(card->blocks, 8);
}

TEST_F(FileKernelRun, ReplacesItsEarlierVersionInARunningSimulation) {
  const Backends backends{kernels};
  const KernelPtr first = put(kernel_text());
  Simulation sim{backends, {.scene = "plummer", .count = 257}, first};
  sim.run(2);
  const float before = sim.accelerations().front().x;
  put(kernel_text("  sum.x = 2 * sum.x;"));
  sim.apply(SelectKernel{"mine"});
  EXPECT_FLOAT_EQ(sim.accelerations().front().x, 2 * before);
  EXPECT_EQ(sim.status().kernel->revision, 2);
  sim.run(2);
}

TEST_F(FileKernelRun, IsRefusedIfItNeedsMoreSharedMemoryThanThereIs) {
  const KernelPtr kernel = put(with(kernel_text(), "\n\n", "\n// shared-per-thread: 1024\n\n"));
  EXPECT_NO_THROW((void)kernel->make(Settings{*kernel, {{"block", "32"}}}, test::backends().device()));
  std::string text = with(kernel_text(), "\n\n", "\n// shared-per-thread: 1024\n\n");
  const KernelPtr greedy = put(with(text, "32 [128]", "32 [1024]"));
  EXPECT_USAGE_ERROR(greedy->make(Settings{*greedy}, test::backends().device()), "my.cu(4): a block of 1024 threads",
                     "bytes of shared memory; this GPU has");
}

TEST_F(FileKernelRun, GuardsShowAWriteOfABodyThatDoesNotExist) {
  const KernelPtr kernel =
      put(kernel_text("  if (i == 0) epilogue.finish(sources.count, 1, sum);"), FileKernelUse::guarded);
  const std::unique_ptr<ForceKernel> made = kernel->make(Settings{*kernel}, test::backends().device());
  EXPECT_RUNTIME_ERROR(test::evaluate(*made, test::random_ball(33), {.law = {}}), "bodies that do not exist",
                       "33 bodies");
}

TEST_F(FileKernelRun, GuardsMakeAReadPastTheEndNaN) {
  const std::string text = with(kernel_text(), "j < sources.count", "j <= sources.count");
  const KernelPtr kernel = put(text, FileKernelUse::guarded);
  const std::unique_ptr<ForceKernel> made = kernel->make(Settings{*kernel}, test::backends().device());
  const auto result = test::evaluate(*made, test::random_ball(33), {.law = {}});
  EXPECT_NE(result.accelerations[0].x, result.accelerations[0].x);
}

}  // namespace
}  // namespace orrery
