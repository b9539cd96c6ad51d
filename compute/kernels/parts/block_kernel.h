#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "compute/cuda/launch.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// A kernel that evaluates all pairs by one launch of a __global__ function with these parameters, with the tunable
/// `block` as its block size.
template <class... Params>
class BlockKernel : public ForceKernel {
 public:
  MainLaunch main_launch(const Law& law, int count, const MassRange& /*masses*/) const override {
    return {.function = reinterpret_cast<const void*>(instance_(law.id)),
            .block = block_,
            .blocks = cuda::ceil_div(count, block_ * thread_.bodies),
            .shared_per_thread = thread_.shared_bytes};
  }

 protected:
  using Instance = void (*)(Params...);

  /// The resources of a thread.
  struct Thread {
    int bodies = 1;
    std::size_t shared_bytes = 0;  ///< dynamic
  };

  /// `instance`, called with a LawId, gives the function for that law. Throws UsageError if the block does not fit
  /// this GPU with one of them.
  BlockKernel(const char* id, const Settings& settings, const Thread& thread, std::function<Instance(LawId)> instance)
      : block_{settings.integer("block")}, thread_{thread}, instance_{std::move(instance)} {
    for (const LawInfo& law : laws()) {
      cuda::require_block_fits(id + (' ' + settings.to_string()), reinterpret_cast<const void*>(instance_(law.law)),
                               block_);
    }
  }

  int block() const { return block_; }

#if defined(__CUDACC__)
  /// Enqueues the function for the law of `args`, in the blocks of main_launch().
  void launch(const ForceArgs& args, Params... params) const {
    launch_grid(args, static_cast<unsigned>(main_launch(args.law, args.count, args.masses).blocks), params...);
  }
  void launch_grid(const ForceArgs& args, dim3 blocks, Params... params) const {
    const std::size_t shared_bytes = thread_.shared_bytes * static_cast<std::size_t>(block_);
    instance_(args.law.id)<<<blocks, block_, shared_bytes, args.stream>>>(params...);
    cuda::check(cudaGetLastError(), "launch of the force kernel");
  }
#endif

 private:
  int block_;
  Thread thread_;
  std::function<Instance(LawId)> instance_;
};

}  // namespace orrery
