#include "compute/kernels/runtime/guarded_arrays.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace orrery {
namespace {

constexpr std::size_t guard = 4096;  // bodies before and behind an array
constexpr int nan_byte = 0xff;       // four of them are a NaN

std::size_t with_guards(int count) {
  return static_cast<std::size_t>(count) + 2 * guard;
}

void fill(cuda::DeviceArray<Vec4>& array, const cuda::Device& device, int count, cudaStream_t stream) {
  if (array.size() != with_guards(count)) array = cuda::DeviceArray<Vec4>(device, with_guards(count));
  ORRERY_CUDA_CHECK(cudaMemsetAsync(array.data(), nan_byte, array.size() * sizeof(Vec4), stream));
}

bool untouched(std::span<const Vec4> region) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(region.data());
  return std::all_of(bytes, bytes + region.size_bytes(), [](unsigned char byte) { return byte == nan_byte; });
}

}  // namespace

ForceArgs GuardedArrays::guarded(const cuda::Device& device, const ForceArgs& args) {
  fill(bodies_, device, args.count, args.stream);
  fill(accelerations_, device, args.count, args.stream);
  const std::size_t bytes = static_cast<std::size_t>(args.count) * sizeof(Vec4);
  ORRERY_CUDA_CHECK(cudaMemcpyAsync(bodies_.data() + guard, args.bodies, bytes, cudaMemcpyDeviceToDevice, args.stream));
  ForceArgs changed = args;
  changed.bodies = bodies_.data() + guard;
  changed.epilogue.accelerations = accelerations_.data() + guard;
  return changed;
}

void GuardedArrays::finish(const ForceArgs& args) {
  const std::size_t count = static_cast<std::size_t>(args.count);
  std::vector<Vec4> after(2 * guard);
  const std::span<Vec4> all{after};
  cuda::download(accelerations_.data(), all.first(guard), args.stream);
  cuda::download(accelerations_.data() + guard + count, all.last(guard), args.stream);
  ORRERY_CUDA_CHECK(cudaMemcpyAsync(args.epilogue.accelerations, accelerations_.data() + guard, count * sizeof(Vec4),
                                    cudaMemcpyDeviceToDevice, args.stream));
  ORRERY_CUDA_CHECK(cudaStreamSynchronize(args.stream));
  if (untouched(after)) return;
  throw std::runtime_error("the kernel writes accelerations of bodies that do not exist, with " +
                           std::to_string(args.count) + (args.count == 1 ? " body" : " bodies"));
}

}  // namespace orrery
