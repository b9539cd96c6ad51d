#include "compute/kernels/kernel_card.h"

#if ORRERY_HAVE_CUDA
#include "compute/cuda/launch.h"
#include "compute/kernels/dispatch.h"
#endif

namespace orrery {

#if ORRERY_HAVE_CUDA
namespace {

constexpr int warp = 32;

std::string symbol([[maybe_unused]] cudaKernel_t function) {
#if CUDART_VERSION >= 12030
  const char* name = nullptr;
  ORRERY_CUDA_CHECK(cudaFuncGetName(&name, reinterpret_cast<const void*>(function)));
  return name;
#else
  return {};
#endif
}

/// Occupancy of one multiprocessor by a launch, for any block size.
class Residency {
 public:
  Residency(const cuda::Device& device, const MainLaunch& launch)
      : attributes{cuda::attributes_of(device, launch.function)}, device_{device}, launch_{launch} {}

  std::size_t dynamic_bytes(int block) const {
    return launch_.shared_per_thread * static_cast<std::size_t>(block) + launch_.shared_fixed;
  }
  /// Returns the number of resident blocks; 0 if a block of this size does not fit.
  int blocks(int block) const {
    const std::size_t dynamic = dynamic_bytes(block);
    if (block > attributes.maxThreadsPerBlock) return 0;
    if (dynamic > static_cast<std::size_t>(attributes.maxDynamicSharedSizeBytes)) return 0;
    return cuda::resident_blocks(device_, launch_.function, block, dynamic);
  }
  double occupancy(int block) const {
    return static_cast<double>(blocks(block) * cuda::ceil_div(block, warp)) / (max_threads_ / warp);
  }

  const cudaFuncAttributes attributes;

 private:
  const cuda::Device& device_;
  const MainLaunch launch_;
  const int max_threads_ = device_.attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
};

}  // namespace

std::optional<KernelCard> kernel_card(const ForceKernel& kernel, const cuda::Device* device, const Law& law, int count,
                                      const MassRange& masses) {
  if (!device) return std::nullopt;
  const MainLaunch launch = kernel.main_launch(law, count, masses);
  if (!launch.function) return std::nullopt;
  const Residency residency{*device, launch};
  KernelCard card{.function = launch.function,
                  .name = symbol(launch.function),
                  .architecture = residency.attributes.binaryVersion,
                  .registers = residency.attributes.numRegs,
                  .local_bytes = residency.attributes.localSizeBytes,
                  .shared_bytes = residency.attributes.sharedSizeBytes + residency.dynamic_bytes(launch.block),
                  .block = launch.block,
                  .blocks = launch.blocks,
                  .blocks_per_multiprocessor = residency.blocks(launch.block),
                  .occupancy = residency.occupancy(launch.block)};
  for (const int block : block_values.all) {
    if (const double occupancy = residency.occupancy(block); occupancy > card.best_occupancy) {
      card.best_block = block;
      card.best_occupancy = occupancy;
    }
  }
  if (card.blocks_per_multiprocessor > 0) {
    card.waves = static_cast<double>(card.blocks) / card.blocks_per_multiprocessor / device->multiprocessors();
  }
  return card;
}

#else

std::optional<KernelCard> kernel_card(const ForceKernel&, const cuda::Device*, const Law&, int, const MassRange&) {
  return std::nullopt;  // builds without CUDA have no CUDA kernels
}

#endif

}  // namespace orrery
