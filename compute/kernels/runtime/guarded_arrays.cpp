#include "compute/kernels/runtime/guarded_arrays.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "compute/core/text.h"

namespace orrery {
namespace {

constexpr std::size_t guard = 4096;  // entries before and behind an array
constexpr int guard_byte = 0xff;     // four of them are a NaN, and -1

/// Makes room for `count` entries between guards, all with the guards' bytes, and returns the first entry.
template <class T>
T* fill(cuda::DeviceArray<T>& array, const cuda::Device& device, std::size_t count, cudaStream_t stream) {
  const std::size_t size = count + 2 * guard;
  if (array.size() != size) array = cuda::DeviceArray<T>(device, size);
  ORRERY_CUDA_CHECK(cudaMemsetAsync(array.data(), guard_byte, size * sizeof(T), stream));
  return array.data() + guard;
}

bool untouched(std::span<const Vec4> region) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(region.data());
  return std::all_of(bytes, bytes + region.size_bytes(), [](unsigned char byte) { return byte == guard_byte; });
}

}  // namespace

std::vector<Vec4> GuardedArrays::evaluate(const cuda::Device& device, ForceArgs args, std::span<const Vec4> bodies,
                                          std::span<const int> targets,
                                          const std::function<void(const ForceArgs&)>& enqueue) {
  const std::size_t count = bodies.size();
  Vec4* const device_bodies = fill(bodies_, device, count, args.stream);
  int* const device_targets = fill(targets_, device, targets.size(), args.stream);
  cuda::upload(bodies, device_bodies, args.stream);
  if (!targets.empty()) cuda::upload(targets, device_targets, args.stream);
  args.bodies = device_bodies;
  args.count = static_cast<int>(count);
  args.targets = {.indices = targets.empty() ? nullptr : device_targets, .count = static_cast<int>(targets.size())};
  args.epilogue.accelerations = fill(accelerations_, device, count, args.stream);
  enqueue(args);
  std::vector<Vec4> found(count + 2 * guard);
  cuda::download(accelerations_.data(), std::span{found}, args.stream);
  ORRERY_CUDA_CHECK(cudaStreamSynchronize(args.stream));
  if (!untouched(std::span{found}.first(guard)) || !untouched(std::span{found}.last(guard))) {
    throw std::runtime_error("the kernel writes accelerations of bodies that do not exist, with " +
                             counted_bodies(count));
  }
  const auto first = found.begin() + static_cast<std::ptrdiff_t>(guard);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace orrery
