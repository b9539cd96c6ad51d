#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "compute/cuda/launch.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Base class of kernels that evaluate all pairs by one launch of a __global__ function with these parameters. The
/// setting `block` is its number of threads per block.
template <class... Params>
class BlockKernel : public ForceKernel {
 public:
  MainLaunch main_launch(const Law& law, int count, const MassRange& /*masses*/) const override {
    return {.function = cuda::kernel_handle(instance_(law.id)),
            .block = block_,
            .blocks = blocks(count),
            .shared_per_thread = thread_.shared_bytes};
  }

 protected:
  using Instance = void (*)(Params...);

  /// Resources of a thread.
  struct Thread {
    int bodies = 1;                ///< number of targets per thread
    std::size_t shared_bytes = 0;  ///< dynamic shared memory per thread
  };

  /// `instance` must return the function for a law. Throws UsageError if the device cannot launch one of these
  /// functions with the setting `block`.
  BlockKernel(const char* id, const cuda::Device& device, const Settings& settings, const Thread& thread,
              std::function<Instance(LawId)> instance)
      : device_{device}, block_{settings.integer("block")}, thread_{thread}, instance_{std::move(instance)} {
    for (const LawInfo& law : laws()) {
      cuda::require_block_fits(device, id + (' ' + settings.to_string()), cuda::kernel_handle(instance_(law.law)),
                               block_);
    }
  }

  const cuda::Device& device() const { return device_; }
  int block() const { return block_; }
  /// Returns the number of blocks that hold `count` targets.
  int blocks(int count) const { return cuda::ceil_div(count, block_ * thread_.bodies); }

#if defined(__CUDACC__)
  /// Enqueues the function for args.law with blocks(args.count) blocks. launch_grid() takes any grid.
  void launch(const ForceArgs& args, Params... params) const {
    launch_grid(args, static_cast<unsigned>(blocks(args.count)), params...);
  }
  void launch_grid(const ForceArgs& args, dim3 blocks, Params... params) const {
    const std::size_t shared_bytes = thread_.shared_bytes * static_cast<std::size_t>(block_);
    instance_(args.law.id)<<<blocks, block_, shared_bytes, args.stream>>>(params...);
    cuda::check(cudaGetLastError(), "launch of the force kernel");
  }
#endif

 private:
  const cuda::Device& device_;
  int block_;
  Thread thread_;
  std::function<Instance(LawId)> instance_;
};

/// Returns the fastest split: the number of blocks, 1 to `most`, that share the sum over `sources` bodies for the same
/// `block * bodies_per_thread` targets. The estimated time is that of the busiest multiprocessor. It includes latency
/// that too few warps cannot hide, and the pass over the partial sums.
inline int fastest_split(int targets, int sources, int block, int bodies_per_thread, int multiprocessors, int most) {
  constexpr double partial_cost = 20;  // time to write and read back a partial sum, in interactions
  constexpr double enough_warps = 16;
  const double rows = cuda::ceil_div(targets, block * bodies_per_thread);
  const double tile_interactions = static_cast<double>(block) * block * bodies_per_thread;
  int best = 1;
  double best_cost = std::numeric_limits<double>::infinity();
  for (int split = 1; split <= most; ++split) {
    const double blocks = std::ceil(rows * split / multiprocessors);
    const double latency = std::max(1.0, enough_warps / (blocks * block / 32));
    const double tiles = cuda::ceil_div(cuda::ceil_div(sources, block), split);
    const double passes = split > 1 ? split * static_cast<double>(targets) * partial_cost / multiprocessors : 0;
    const double cost = blocks * tiles * tile_interactions * latency + passes;
    if (cost < best_cost) {
      best = split;
      best_cost = cost;
    }
  }
  return best;
}

}  // namespace orrery
