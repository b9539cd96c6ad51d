#include "compute/cuda/dependent_launch.h"
#include "tests/compute/cuda/chain_kernel.h"

namespace orrery::test {
namespace {

constexpr int block = 128;

__global__ void take_over(const int* __restrict__ from, int* __restrict__ to, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  cuda::wait_for_kernel_before();
  if (i < n) to[i] = __ldcg(from + (i + n / 2) % n) + 1;
}

}  // namespace

void enqueue_chain(const cuda::Device& device, int* d_even, int* d_odd, int n, int length, cudaStream_t stream) {
  for (int link = 0; link < length; ++link) {
    const int* from = link % 2 == 0 ? d_even : d_odd;
    cuda::launch_dependent(device, take_over, cuda::ceil_div(n, block), block, 0, stream, from,
                           link % 2 == 0 ? d_odd : d_even, n);
  }
}

bool chain_waits(const cuda::Device& device) {
  return cuda::dependent_kernel(device, reinterpret_cast<const void*>(take_over)).waits;
}

}  // namespace orrery::test
