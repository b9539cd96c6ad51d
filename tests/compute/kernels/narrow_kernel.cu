#include "tests/compute/kernels/narrow_kernel.h"

namespace orrery::test {
namespace {

__global__ void __launch_bounds__(narrow_block) narrow(int* out) {
  *out = static_cast<int>(threadIdx.x);
}

}  // namespace

const void* narrow_kernel() {
  return reinterpret_cast<const void*>(narrow);
}

}  // namespace orrery::test
