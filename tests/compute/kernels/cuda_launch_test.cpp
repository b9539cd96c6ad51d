// Settings that no launch can honour are refused before anything changes.
#include <gtest/gtest.h>

#include <string>

#include "compute/core/error.h"
#include "compute/cuda/launch.h"
#include "compute/sim/simulation.h"
#include "tests/compute/kernels/narrow_kernel.h"
#include "tests/compute/support/backend.h"

namespace orrery {
namespace {

TEST(CudaLaunch, ABlockThatDoesNotFitIsRefusedByNameAndTheLargestThatFitsIsNamed) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  const cuda::Device& device = *test::backends().device();
  const cudaKernel_t narrow = cuda::kernel_handle(test::narrow_kernel());
  EXPECT_NO_THROW(cuda::require_block_fits(device, "narrow", narrow, test::narrow_block));
  try {
    cuda::require_block_fits(device, "narrow block=1024", narrow, 1024);
    FAIL() << "the kernel is compiled for smaller blocks";
  } catch (const UsageError& refusal) {
    const std::string text = refusal.what();
    const std::string choice = "choose block <= " + std::to_string(test::narrow_block);
    for (const std::string& part : {std::string{"narrow block=1024"}, std::string{"registers"}, choice}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
    }
  }
}

TEST(CudaLaunch, MoreBodiesThanTheGpuHoldsAreRefusedAndNothingIsLost) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  Simulation sim{test::backends(), {.scene = "plummer", .count = 1000}};
  const Bodies state = sim.bodies();
  EXPECT_THROW(sim.apply(LoadScene{{.scene = "plummer", .count = 2'147'483'647}}), UsageError);
  EXPECT_EQ(sim.bodies(), state);
  EXPECT_EQ(sim.status().count, 1000);
}

TEST(CudaLaunch, FewTargetsOfAJerkKernelAreSharedOutByOne) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  const KernelPtr info = test::find_kernel("cuda-jerk");
  const auto launch = [&](const char* bodies_per_thread, int count) {
    const auto kernel =
        test::backends().make_kernel(*info, Settings{*info, {{"bodies-per-thread", bodies_per_thread}}});
    return kernel->main_launch({}, count, {});
  };
  constexpr int few = 100, many = 1'000'000;
  EXPECT_EQ(launch("2", few).function, launch("1", few).function) << "what the kernel launches";
  EXPECT_EQ(launch("2", few).blocks, launch("1", few).blocks);
  EXPECT_NE(launch("2", many).function, launch("1", many).function);
}

}  // namespace
}  // namespace orrery
