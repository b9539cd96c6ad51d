#include "compute/cuda/launch.h"
#include "compute/diagnostics/magnitudes_cuda.h"

namespace orrery::cuda {
namespace {

constexpr int block = 128;

__global__ void measure(const Vec4* __restrict__ vectors, int count, float* __restrict__ values) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const Vec4 v = vectors[i];
  values[i] = norm3df(v.x, v.y, v.z);
}

}  // namespace

void Magnitudes::prepare(int count) {
  const auto size = static_cast<std::size_t>(count);
  if (d_values_.size() >= size && values_.size() >= size) return;
  d_values_ = {};  // first the old memory, then the new
  values_ = {};
  d_values_ = DeviceArray<float>(device_, size);
  values_ = HostArray<float>(device_, size, /*pinned=*/true);
}

void Magnitudes::enqueue(const Vec4* d_vectors, int count, cudaStream_t stream) {
  count_ = count;
  measure<<<ceil_div(count, block), block, 0, stream>>>(d_vectors, count, d_values_.data());
  ORRERY_CUDA_CHECK_LAUNCH(measure);
  download(d_values_.data(), values_.first(count), stream);
}

std::vector<float> Magnitudes::values() const {
  const std::span<const float> values = values_.first(count_);
  return {values.begin(), values.end()};
}

}  // namespace orrery::cuda
