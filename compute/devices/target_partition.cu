#include <type_traits>

#include "compute/cuda/arrays.h"
#include "compute/cuda/launch.h"
#include "compute/devices/target_partition.h"

namespace orrery {
namespace {

constexpr int block = 256;

__global__ void number(int* numbers, int count) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (i < count) numbers[i] = i;
}

/// Gathers the entries of the targets with indices [first, last): packed[k] = entries[targets[k]].
__global__ void pack(const Vec4* __restrict__ entries, const int* __restrict__ targets, int first, int last,
                     Vec4* __restrict__ packed) {
  const int place = first + static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (place < last) packed[place] = entries[targets[place]];
}

/// Applies the epilogue to the targets from index `first` to the end. `found_low`: null without low words.
__global__ void finish_targets(const Vec4* __restrict__ found, const Vec4* __restrict__ found_low, Targets targets,
                               int first, const Vec4* __restrict__ bodies, Epilogue epilogue) {
  const int place = first + static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (place >= targets.count) return;
  const int i = targets.body(place);
  const Vec4 a = found[place];
  epilogue.finish(i, bodies[i].w, Vec3{a.x, a.y, a.z});
  if (found_low && epilogue.accelerations_low) epilogue.accelerations_low[i] = found_low[place];
}

std::size_t size_of(int count) {
  return static_cast<std::size_t>(count);
}

template <class T>
void allocate_copy(const cuda::Device& device, cuda::DeviceArray<T>& array, int count) {
  take_scratch(device, array, size_of(count), "the copied bodies and their accelerations", "fewer bodies");
}

template <class T>
void allocate_result(const cuda::Device& device, cuda::DeviceArray<T>& array, int count) {
  take_scratch(device, array, size_of(count), "the accelerations of other GPUs", "fewer bodies");
}

}  // namespace

void TargetPartition::prepare_partition(int count, int index, int devices) {
  kernel_.prepare(count);
  allocate_indices(count);
  if (index > 0) {
    allocate_copy(device_, bodies_, count);
    allocate_copy(device_, accelerations_, count);
  } else if (devices > 1) {
    allocate_result(device_, found_, count);
  }
}

auto TargetPartition::prepare_inputs(const ForceArgs& args, std::span<const Part> /*parts*/) -> Blocks {
  has_low_words_ = reads_low_words_ && args.bodies_low;
  const auto block_of = [](const auto* entries, int count) -> DeviceBlock {
    using Entry = std::remove_cvref_t<decltype(*entries)>;
    if (!entries) return {};
    return {const_cast<Entry*>(entries), size_of(count) * sizeof(Entry)};
  };
  return {block_of(args.bodies, args.count), block_of(has_low_words_ ? args.bodies_low : nullptr, args.count),
          block_of(args.targets.indices, args.targets.count)};
}

/// Allocates arrays for all bodies, even for few targets, so that later evaluations need not allocate again.
auto TargetPartition::receive(const ForceArgs& args, std::span<const Part> /*parts*/,
                              std::span<const DeviceBlock> shared) -> Blocks {
  const auto take = [&](auto& array) { allocate_copy(device_, array, args.count); };
  has_low_words_ = shared[1].bytes > 0;
  take(bodies_);
  take(accelerations_);
  if (has_low_words_) {
    take(bodies_low_);
    take(accelerations_low_);
  }
  if (shared[2].bytes > 0) {
    take(targets_);
    take(found_);
    if (has_low_words_) take(found_low_);
  }
  return {{bodies_.data(), shared[0].bytes}, {bodies_low_.data(), shared[1].bytes}, {targets_.data(), shared[2].bytes}};
}

void TargetPartition::allocate_indices(int count) {
  if (all_.size() >= size_of(count)) return;
  written_ = 0;
  take_scratch(device_, all_, size_of(count), "the indices of the bodies", "fewer bodies");
}

void TargetPartition::write_indices(int count, cudaStream_t stream) {
  allocate_indices(count);
  if (written_ >= count) return;
  number<<<cuda::ceil_div(count, block), block, 0, stream>>>(all_.data(), count);
  ORRERY_CUDA_CHECK_LAUNCH(number);
  written_ = count;
}

void TargetPartition::evaluate_part(const ForceArgs& args, const Part& part) {
  const int first = part.first(args.target_count()), last = part.last(args.target_count());
  if (first == last) return;
  ForceArgs own = args;
  if (part.index > 0) {
    own.bodies = bodies_.data();
    own.bodies_low = has_low_words_ ? bodies_low_.data() : nullptr;
    own.epilogue = {.accelerations = accelerations_.data(),
                    .accelerations_low = has_low_words_ ? accelerations_low_.data() : nullptr};
    if (args.targets) own.targets.indices = targets_.data();
  }
  if (args.targets) {
    own.targets = {.indices = own.targets.indices + first, .count = last - first};
  } else {
    write_indices(args.count, args.stream);
    own.targets = {.indices = all_.data() + first, .count = last - first, .first = first};
  }
  kernel_.evaluate(own);
  if (part.index == 0 || !args.targets) return;
  const auto pack_into = [&](const cuda::DeviceArray<Vec4>& packed, const cuda::DeviceArray<Vec4>& entries) {
    pack<<<cuda::ceil_div(last - first, block), block, 0, args.stream>>>(entries.data(), targets_.data(), first, last,
                                                                         packed.data());
    ORRERY_CUDA_CHECK_LAUNCH(pack);
  };
  pack_into(found_, accelerations_);
  if (has_low_words_) pack_into(found_low_, accelerations_low_);
}

auto TargetPartition::results(const ForceArgs& args, const Part& part) -> Blocks {
  const int first = part.first(args.target_count()), last = part.last(args.target_count());
  const std::size_t bytes = size_of(last - first) * sizeof(Vec4);
  const auto& high = args.targets ? found_ : accelerations_;
  const auto& low = args.targets ? found_low_ : accelerations_low_;
  return {{high.data() + first, bytes}, {low.data() + first, has_low_words_ ? bytes : 0}};
}

auto TargetPartition::places(const ForceArgs& args, const Part& part) -> Blocks {
  const int first = part.first(args.target_count()), last = part.last(args.target_count());
  const std::size_t bytes = size_of(last - first) * sizeof(Vec4);
  allocate_result(device_, found_, args.count);
  if (has_low_words_) allocate_result(device_, found_low_, args.count);
  return {{found_.data() + first, bytes}, {found_low_.data() + first, has_low_words_ ? bytes : 0}};
}

void TargetPartition::join(const ForceArgs& args, std::span<const Part> parts) {
  const Targets targets{.indices = args.targets.indices, .count = args.target_count()};
  const int first = parts.front().last(targets.count);
  if (first == targets.count) return;
  finish_targets<<<cuda::ceil_div(targets.count - first, block), block, 0, args.stream>>>(
      found_.data(), has_low_words_ ? found_low_.data() : nullptr, targets, first, args.bodies, args.epilogue);
  ORRERY_CUDA_CHECK_LAUNCH(finish_targets);
}

}  // namespace orrery
