#include <cooperative_groups.h>

#include "compute/cuda/arrays.h"
#include "compute/cuda/block.h"
#include "compute/cuda/dependent_launch.h"
#include "compute/cuda/warp.h"
#include "tests/compute/cuda/test_kernels.h"

namespace orrery::test {
namespace {

constexpr int block = 128;

__global__ void take_over(const int* __restrict__ from, int* __restrict__ to, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  cuda::wait_for_kernel_before();
  if (i < n) to[i] = __ldcg(from + (i + n / 2) % n) + 1;
}

__global__ void __launch_bounds__(narrow_block) narrow(int* out) {
  *out = static_cast<int>(threadIdx.x);
}

/// results[i] = make(i, values[i]) in one block of as many threads as there are values.
template <class In, class Out, class Make>
__global__ void each(const In* values, Out* results, Make make) {
  const int i = static_cast<int>(threadIdx.x);
  results[i] = make(i, values[i]);
}

template <class Out, class In, class Make>
std::vector<Out> run(const cuda::Device& device, const std::vector<In>& values, const Make& make) {
  const cuda::DeviceArray<In> d_values{device, values.size()};
  const cuda::DeviceArray<Out> d_results{device, values.size()};
  device.activate();
  cuda::upload(std::span{values}, d_values.data(), nullptr);
  each<<<1, static_cast<unsigned>(values.size())>>>(d_values.data(), d_results.data(), make);
  ORRERY_CUDA_CHECK_LAUNCH(each);
  std::vector<Out> results(values.size());
  cuda::download(d_results.data(), std::span{results}, nullptr);
  ORRERY_CUDA_CHECK(cudaStreamSynchronize(nullptr));
  return results;
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

const void* narrow_kernel() {
  return reinterpret_cast<const void*>(narrow);
}

std::vector<int> device_sums_up_to(const cuda::Device& device, const std::vector<int>& values) {
  return run<int>(device, values, [] __device__(int lane, int value) { return cuda::sum_up_to(value, lane); });
}
std::vector<float> device_warp_sums(const cuda::Device& device, const std::vector<float>& values) {
  return run<float>(device, values, [] __device__(int, float value) { return cuda::sum_over(cuda::Warp{}, value); });
}
std::vector<float> device_team_sums(const cuda::Device& device, const std::vector<float>& values) {
  return run<float>(device, values, [] __device__(int, float value) {
    namespace cg = cooperative_groups;
    return cuda::sum_over(cg::tiled_partition<8>(cg::this_thread_block()), value);
  });
}
double device_block_sum(const cuda::Device& device, const std::vector<double>& values) {
  // Twice in a row, so that the second call reuses the storage of the first.
  const auto sums = run<double>(device, values, [] __device__(int, double value) {
    const double first = cuda::block_sum<256>(value);
    return cuda::block_sum<256>(value) + 0 * first;
  });
  return sums.front();
}
BoxOfPoints device_box(const cuda::Device& device, const std::vector<Vec3>& points) {
  return run<BoxOfPoints>(device, points,
                          [] __device__(int, const Vec3& point) {
                            cuda::Box box;
                            box.add(point, point);
                            cuda::join_over_block(box);
                            return BoxOfPoints{box.low, box.high};
                          })
      .front();
}
std::vector<int> device_ordered_bits(const cuda::Device& device, const std::vector<float>& values) {
  return run<int>(device, values, [] __device__(int, float value) { return cuda::ordered_bits(value); });
}
std::vector<float> device_from_ordered_bits(const cuda::Device& device, const std::vector<int>& ordered) {
  return run<float>(device, ordered, [] __device__(int, int bits) { return cuda::from_ordered_bits(bits); });
}

}  // namespace orrery::test
