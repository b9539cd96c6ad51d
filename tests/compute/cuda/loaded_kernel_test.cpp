// A kernel that is loaded at run time is launched and described by the code that does so for compiled-in ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/cuda/launch.h"
#include "compute/cuda/stream.h"
#include "compute/kernels/kernel_card.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/kernel_info.h"

namespace orrery {
namespace {

#if CUDART_VERSION >= 12080  // the first with cudaLibraryLoadData

constexpr int block = 128;

/// __global__ void uniform(float4* accelerations, int count, float strength): x = strength, the rest 0.
constexpr const char* source = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry uniform(.param .u64 accelerations, .param .u32 count, .param .f32 strength) {
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [accelerations];
  ld.param.u32 %r1, [count];
  ld.param.f32 %f1, [strength];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra done;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.s32 %rd3, %r5, 16;
  add.s64 %rd4, %rd2, %rd3;
  mov.f32 %f2, 0f00000000;
  st.global.v4.f32 [%rd4], {%f1, %f2, %f2, %f2};
done:
  ret;
}
)";

class Library {
 public:
  Library() {
    ORRERY_CUDA_CHECK(cudaLibraryLoadData(&library_, source, nullptr, nullptr, 0, nullptr, nullptr, 0));
    ORRERY_CUDA_CHECK(cudaLibraryGetKernel(&kernel_, library_, "uniform"));
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() { ORRERY_CUDA_WARN(cudaLibraryUnload(library_)); }
  cudaKernel_t kernel() const { return kernel_; }

 private:
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t kernel_ = nullptr;
};

/// Stores accelerations; it is for evaluations that ask for no kick.
class Uniform final : public ForceKernel {
 public:
  Uniform(std::shared_ptr<const Library> library, const cuda::Device& device, float strength)
      : library_{std::move(library)}, strength_{strength} {
    cuda::require_block_fits(device, "uniform", library_->kernel(), block);
  }
  void do_evaluate(const ForceArgs& args) override {
    const MainLaunch main = main_launch(args.law, args.count, args.masses);
    cudaLaunchConfig_t config{};
    config.gridDim = static_cast<unsigned>(main.blocks);
    config.blockDim = static_cast<unsigned>(main.block);
    config.stream = args.stream;
    cuda::launch(main.function, config, args.epilogue.accelerations, args.count, strength_);
  }
  MainLaunch main_launch(const Law&, int count, const MassRange&) const override {
    return {.function = library_->kernel(), .block = block, .blocks = cuda::ceil_div(count, block)};
  }

 private:
  std::shared_ptr<const Library> library_;
  float strength_;
};

KernelInfo descriptor(const std::shared_ptr<const Library>& library, float strength) {
  KernelInfo info = test::kernel_info("uniform", [library, strength](const Settings&, const cuda::Device* device) {
    return std::make_unique<Uniform>(library, *device, strength);
  });
  info.backend = Backend::cuda;
  return info;
}

TEST(LoadedKernel, RunsInASimulationAndCanBeReplaced) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  KernelCatalog catalog;
  const Backends backends{catalog};
  backends.device()->activate();
  const auto library = std::make_shared<const Library>();
  catalog.put(descriptor(library, 1));
  Simulation sim{backends, {.scene = "plummer", .count = 1000}, catalog.find("uniform")};
  const auto all_have = [](const std::vector<Vec4>& accelerations, float x) {
    return std::ranges::all_of(accelerations, [&](const Vec4& a) { return a.x == x && a.y == 0 && a.z == 0; });
  };
  EXPECT_TRUE(all_have(sim.accelerations(), 1));
  catalog.put(descriptor(library, 2));
  sim.apply(SelectKernel{"uniform"});
  EXPECT_TRUE(all_have(sim.accelerations(), 2));
}

TEST(LoadedKernel, HasACardAsCompiledOnesHave) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  const cuda::Device& device = *test::backends().device();
  device.activate();
  const auto library = std::make_shared<const Library>();
  const Uniform kernel{library, device, 1};
  const std::optional<KernelCard> card = kernel_card(kernel, &device, {}, 1000, {.least = 1, .greatest = 1});
  ASSERT_TRUE(card);
  EXPECT_EQ(card->function, library->kernel());
#if CUDART_VERSION >= 12030
  EXPECT_EQ(card->name, "uniform");
#endif
  EXPECT_EQ(card->architecture, 10 * device.info().major + device.info().minor);
  EXPECT_EQ(card->block, block);
  EXPECT_EQ(card->blocks, 8);
  EXPECT_GE(card->blocks_per_multiprocessor, 1);
  EXPECT_GT(card->registers, 0);
  EXPECT_GT(card->occupancy, 0);
  EXPECT_GT(card->waves, 0);
}

#endif

}  // namespace
}  // namespace orrery
