// Two engines have a stream each: what one of them evaluates must not show in the other's results.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/cuda/stream.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

constexpr int count = 9001;  // more than two loads of constant memory, and no multiple of any block

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

class EveryCudaKernel : public testing::TestWithParam<KernelPtr> {
 protected:
  void SetUp() override { ORRERY_SKIP_WITHOUT_BACKEND(); }
};

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
      ASSERT_NEAR(together[i].x, alone[k][i].x, 1e-4) << "stream " << k << ", body " << i;
      ASSERT_NEAR(together[i].y, alone[k][i].y, 1e-4) << "stream " << k << ", body " << i;
      ASSERT_NEAR(together[i].z, alone[k][i].z, 1e-4) << "stream " << k << ", body " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryCudaKernel, testing::ValuesIn(test::kernels_under_test()), test::test_name);

}  // namespace
}  // namespace orrery
