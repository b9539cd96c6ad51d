// Kernel files on a device: load_file_kernel() of file_kernel.h.
#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/text.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/launch.h"
#include "compute/kernels/runtime/device_api.h"
#include "compute/kernels/runtime/file_kernel.h"

namespace orrery {

#if CUDART_VERSION >= 12080  // first version with cudaLibraryLoadData
namespace {

constexpr std::size_t guard = 4096;  // entries before and after an array
constexpr int guard_byte = 0xff;     // four such bytes are a NaN as float, and -1 as int

/// Allocates `count` entries between two guard regions, sets all their bytes to guard_byte, and returns the first
/// entry.
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

/// Arrays of an evaluation on a device, each between two guard regions that reveal wrong accesses: NaN around the
/// bodies, -1 around the targets.
class GuardedArrays {
 public:
  /// Calls `enqueue` with `args`, but with these bodies and targets (none: every body), and with guarded memory for the
  /// accelerations. Blocks until the evaluation has ended. Returns one acceleration per body; those not written are
  /// NaN. Throws std::runtime_error if the kernel wrote outside of the accelerations.
  std::vector<Vec4> evaluate(const cuda::Device& device, ForceArgs args, std::span<const Vec4> bodies,
                             std::span<const int> targets, const std::function<void(const ForceArgs&)>& enqueue) {
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

 private:
  cuda::DeviceArray<Vec4> bodies_, accelerations_;
  cuda::DeviceArray<int> targets_;
};

/// A compiled function that is loaded onto the device.
class LoadedFunction {
 public:
  explicit LoadedFunction(const CompiledKernel& compiled) {
    ORRERY_CUDA_CHECK(cudaLibraryLoadData(&library_, compiled.binary.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    const cudaError_t found = cudaLibraryGetKernel(&kernel_, library_, compiled.symbol.c_str());
    if (found != cudaSuccess) ORRERY_CUDA_WARN(cudaLibraryUnload(library_));
    cuda::check(found, "cudaLibraryGetKernel");
  }
  LoadedFunction(const LoadedFunction&) = delete;
  LoadedFunction& operator=(const LoadedFunction&) = delete;
  ~LoadedFunction() { ORRERY_CUDA_WARN(cudaLibraryUnload(library_)); }
  cudaKernel_t kernel() const { return kernel_; }

 private:
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t kernel_ = nullptr;
};

GravityArgument gravity_argument(const Law& law) {
  return {{law.softening * law.softening}, law};
}
AttractRepelArgument attract_repel_argument(const Law& law) {
  return {{law.softening * law.softening, law.repulsion, 1.0f}, law};
}

class FileKernel final : public ForceKernel {
 public:
  FileKernel(std::shared_ptr<const KernelFile> file, const Settings& settings, const cuda::Device& device,
             FileKernelUse use, const Compiler& compiler)
      : file_{std::move(file)},
        device_{device},
        block_{settings.has("block") ? settings.integer("block") : usual_block},
        bodies_per_thread_{settings.has("bodies-per-thread") ? settings.integer("bodies-per-thread") : 1} {
    if (use == FileKernelUse::guarded) guard_.emplace();
    const CompiledLaws compiled =
        compile_for_all_laws(*file_, settings.values(), device.info().architecture(), compiler);
    device.activate();
    gravity_.emplace(*compiled.gravity);
    attract_repel_.emplace(*compiled.attract_repel);
    for (const LoadedFunction* function : {&*gravity_, &*attract_repel_}) {
      require_fits(function->kernel());
    }
  }

  /// Blocks until the device has finished, since running code must not be unloaded.
  ~FileKernel() override {
    ORRERY_CUDA_WARN(cudaSetDevice(device_.ordinal()));
    ORRERY_CUDA_WARN(cudaDeviceSynchronize());
  }
  FileKernel(const FileKernel&) = delete;
  FileKernel& operator=(const FileKernel&) = delete;

  MainLaunch main_launch(const Law& law, int count, const MassRange& /*masses*/) const override {
    return {.function = function(law.id),
            .block = block_,
            .blocks = blocks(count),
            .shared_per_thread = static_cast<std::size_t>(file_->shared_per_thread)};
  }

 protected:
  void do_evaluate(const ForceArgs& args) override {
    const bool checks = guard_ && args.epilogue.accelerations && !args.epilogue.velocities;
    if (checks) {
      evaluate_checked(args);
    } else {
      enqueue(args);
    }
  }

 private:
  static constexpr int usual_block = 256;

  cudaKernel_t function(LawId law) const {
    return law == LawId::attract_repel ? attract_repel_->kernel() : gravity_->kernel();
  }
  int blocks(int targets) const { return cuda::ceil_div(targets, block_ * bodies_per_thread_); }
  std::size_t dynamic_bytes() const { return file_->dynamic_bytes(block_); }

  void require_fits(cudaKernel_t kernel) const {
    try {
      cuda::require_block_fits(device_, "the function", kernel, block_);
    } catch (const UsageError& error) {
      const FileTunable* const block = file_->tunable("block");
      throw KernelFitError{file_->name, {{block ? block->line : file_->function_line, true, error.what()}}};
    }
    require_shared_memory(*file_, block_, cuda::attributes_of(device_, kernel).sharedSizeBytes,
                          static_cast<std::size_t>(device_.attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)));
    ORRERY_CUDA_CHECK(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                           cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(dynamic_bytes())));
  }

  /// Evaluates by checked_accelerations(), and blocks until that is done. Bodies that are not targets get NaN.
  void evaluate_checked(const ForceArgs& args) {
    std::vector<Vec4> bodies(static_cast<std::size_t>(args.count));
    cuda::download(args.bodies, std::span{bodies}, args.stream);
    std::vector<int> targets(args.targets ? static_cast<std::size_t>(args.targets.count) : 0);
    if (args.targets) cuda::download(args.targets.indices, std::span{targets}, args.stream);
    ORRERY_CUDA_CHECK(cudaStreamSynchronize(args.stream));
    const auto call = [&](std::span<const Vec4> sources, std::span<const int> of) {
      return guard_->evaluate(device_, args, sources, of, [this](const ForceArgs& changed) { enqueue(changed); });
    };
    const std::vector<Vec4> found = checked_accelerations(bodies, file_->tolerance, call, targets);
    cuda::upload(std::span{found}, args.epilogue.accelerations, args.stream);
    ORRERY_CUDA_CHECK(cudaStreamSynchronize(args.stream));
  }

  void enqueue(const ForceArgs& args) const {
    cudaLaunchConfig_t config{};
    config.gridDim = static_cast<unsigned>(blocks(args.target_count()));
    config.blockDim = static_cast<unsigned>(block_);
    config.dynamicSmemBytes = dynamic_bytes();
    config.stream = args.stream;
    const Targets targets{args.targets.indices, args.target_count()};
    const Sources sources{args.bodies, args.count};
    if (args.law.id == LawId::attract_repel) {
      cuda::launch(attract_repel_->kernel(), config, targets, sources, attract_repel_argument(args.law), args.epilogue);
    } else {
      cuda::launch(gravity_->kernel(), config, targets, sources, gravity_argument(args.law), args.epilogue);
    }
  }

  std::shared_ptr<const KernelFile> file_;
  const cuda::Device& device_;
  int block_, bodies_per_thread_;
  std::optional<LoadedFunction> gravity_, attract_repel_;
  std::optional<GuardedArrays> guard_;
};

}  // namespace

std::unique_ptr<ForceKernel> load_file_kernel(std::shared_ptr<const KernelFile> file, const Settings& settings,
                                              const cuda::Device& device, FileKernelUse use, const Compiler& compiler) {
  return std::make_unique<FileKernel>(std::move(file), settings, device, use, compiler);
}

#else

std::unique_ptr<ForceKernel> load_file_kernel(std::shared_ptr<const KernelFile> file, const Settings&,
                                              const cuda::Device&, FileKernelUse, const Compiler&) {
  throw UsageError(file->name + ": a kernel file needs a build with CUDA 12.8 or later");
}

#endif

}  // namespace orrery
