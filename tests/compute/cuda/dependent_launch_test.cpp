// A kernel that starts while the one before ends must still see all that it wrote.
#include "compute/cuda/dependent_launch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/cuda/launch.h"
#include "compute/cuda/stream.h"
#include "tests/compute/cuda/chain_kernel.h"
#include "tests/compute/support/backend.h"

namespace orrery {
namespace {

TEST(DependentLaunch, EachKernelOfAChainSeesWhatTheOneBeforeWrote) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  constexpr int length = 500;
  for (const int n : {1, 1000, 300'000}) {
    const auto size = static_cast<std::size_t>(n);
    const cuda::Device& device = *test::backends().device();
    cuda::DeviceArray<int> d_even{device, size}, d_odd{device, size};
    const cuda::Stream stream{device};
    ORRERY_CUDA_CHECK(cudaMemsetAsync(d_even.data(), 0, size * sizeof(int), stream.get()));
    test::enqueue_chain(device, d_even.data(), d_odd.data(), n, length, stream.get());
    std::vector<int> result(size);
    cuda::download<int>(d_even.data(), result, stream.get());
    stream.synchronize();
    EXPECT_EQ(std::ranges::count(result, length), n);
  }
}

TEST(DependentLaunch, IsForCodeThatWaits) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  const cuda::Device& device = *test::backends().device();
  EXPECT_EQ(test::chain_waits(device), device.info().major >= 9);
}

}  // namespace
}  // namespace orrery
