// Settings that no launch can honour are refused before anything changes.
#include "compute/core/error.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/cuda/launch.h"
#include "compute/sim/simulation.h"
#include "tests/compute/cuda/test_kernels.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/distances.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

namespace orrery {
namespace {

TEST(CudaLaunch, ABlockThatDoesNotFitIsRefusedByNameAndTheLargestThatFitsIsNamed) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  const cuda::Device& device = *test::backends().device();
  const cudaKernel_t narrow = cuda::kernel_handle(test::narrow_kernel());
  EXPECT_NO_THROW(cuda::require_block_fits(device, "narrow", narrow, test::narrow_block));
  EXPECT_USAGE_ERROR(cuda::require_block_fits(device, "narrow block=1024", narrow, 1024), "narrow block=1024",
                     "registers", "choose block <= " + std::to_string(test::narrow_block));
}

// Two engines have a stream each: what one of them evaluates must not show in the other's results.

constexpr int count = 9001;  // more than two loads of constant memory, and no multiple of any block

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

/// One engine's part: bodies of its own, a kernel and a stream.
class Lane {
 public:
  Lane(const cuda::Device& device, const KernelInfo& info, unsigned seed)
      : kernel_{test::backends().make_kernel(info, Settings{info})},
        bodies_{test::random_ball(count, seed)},
        d_bodies_{device, bodies_.positions.size()},
        d_accelerations_{device, bodies_.positions.size()},
        stream_{device} {
    cuda::upload<Vec4>(bodies_.positions, d_bodies_.data(), stream_.get());
    kernel_->prepare(count);
    stream_.synchronize();
  }

  void evaluate() {
    kernel_->evaluate({.bodies = d_bodies_.data(),
                       .count = count,
                       .masses = mass_range(bodies_.positions),
                       .law = {},
                       .epilogue = {.accelerations = d_accelerations_.data()},
                       .stream = stream_.get()});
  }
  std::vector<Vec4> accelerations() {
    std::vector<Vec4> result(bodies_.positions.size());
    cuda::download<Vec4>(d_accelerations_.data(), result, stream_.get());
    stream_.synchronize();
    return result;
  }

 private:
  std::unique_ptr<ForceKernel> kernel_;
  Bodies bodies_;
  cuda::DeviceArray<Vec4> d_bodies_, d_accelerations_;
  cuda::Stream stream_;
};

class EveryCudaKernel : public test::KernelTest {};

TEST_P(EveryCudaKernel, KeepsTwoStreamsApart) {
  const cuda::Device& device = *test::backends().device();
  std::array lanes{Lane{device, *GetParam(), 1}, Lane{device, *GetParam(), 2}};
  std::array<std::vector<Vec4>, 2> alone;
  for (std::size_t k = 0; k < lanes.size(); ++k) {
    lanes[k].evaluate();
    alone[k] = lanes[k].accelerations();
  }
  for (int round = 0; round < 4; ++round) {
    for (Lane& lane : lanes) lane.evaluate();
  }
  for (std::size_t k = 0; k < lanes.size(); ++k) {
    const std::vector<Vec4> together = lanes[k].accelerations();
    if (GetParam()->repeatable) {
      EXPECT_EQ(together, alone[k]) << "stream " << k;
      continue;
    }
    for (std::size_t i = 0; i < together.size(); ++i) {
      ASSERT_LT(test::distance(together[i], alone[k][i]), 1.7e-4) << "stream " << k << ", body " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryCudaKernel, testing::ValuesIn(test::kernels_under_test()), test::test_name);

}  // namespace
}  // namespace orrery
