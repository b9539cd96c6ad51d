// A device's description of itself, and devices that are not here.
#include "compute/cuda/device.h"

#include "compute/cuda/arrays.h"
#include "compute/cuda/dependent_launch.h"
#include "compute/cuda/launch.h"
#include "compute/kernels/kernel.h"
#include "compute/sim/simulation.h"
#include "tests/compute/cuda/test_kernels.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/kernel_doubles.h"
#include "tests/test.h"

namespace orrery {
namespace {

TEST(Device, KnowsItself) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  const cuda::Device device{0};
  EXPECT_EQ(device.ordinal(), 0);
  EXPECT_EQ(device.info().name, cuda::devices().front().name);
  EXPECT_EQ(device.multiprocessors(), device.attribute(cudaDevAttrMultiProcessorCount));
  EXPECT_EQ(device.info().major, device.attribute(cudaDevAttrComputeCapabilityMajor));
  EXPECT_GT(device.free_memory(), 0u);
  EXPECT_LT(device.free_memory(), device.info().memory_bytes);
}

TEST(Device, ThatIsNotHereIsRefusedWithTheListOfThoseThatAre) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  const int beyond = std::numeric_limits<int>::max();
  EXPECT_USAGE_ERROR(cuda::Device{beyond}, std::to_string(beyond), "0 (" + cuda::devices().front().name + ")");
  EXPECT_USAGE_ERROR((Backends{test::catalog(), beyond}), std::to_string(beyond));
}

// A kernel that starts while the one before ends must still see all that it wrote.

TEST(DependentLaunch, EachKernelOfAChainSeesWhatTheOneBeforeWrote) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  constexpr int length = 500;
  for (const int n : {1, 1000, 300'000}) {
    const auto size = static_cast<std::size_t>(n);
    const cuda::Device& device = *test::backends().device();
    cuda::DeviceArray<int> d_even{device, size}, d_odd{device, size};
    const cuda::Stream stream{device};
    ORRERY_CUDA_CHECK(cudaMemsetAsync(d_even.data(), 0, size * sizeof(int), stream.get()));
    test::enqueue_chain(device, d_even.data(), d_odd.data(), n, length, stream.get());
    std::vector<int> result(size);
    cuda::download<int>(d_even.data(), result, stream.get());
    stream.synchronize();
    EXPECT_EQ(std::ranges::count(result, length), n);
  }
}

TEST(DependentLaunch, IsForCodeThatWaits) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  const cuda::Device& device = *test::backends().device();
  EXPECT_EQ(test::chain_waits(device), device.info().major >= 9);
}

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

// Reductions and scans of warp.h and block.h.

class Reductions : public test::BackendTest {
 protected:
  static const cuda::Device& gpu() { return *test::backends().device(); }

  /// 0, 1, 4, ...: sums of several of them differ from each other.
  template <class T>
  static std::vector<T> squares(int count) {
    std::vector<T> values;
    for (int i = 0; i < count; ++i) values.push_back(static_cast<T>(i * i));
    return values;
  }
};

TEST_F(Reductions, GiveEveryLaneTheSumOfItsTeam) {
  const std::vector<float> values = squares<float>(32);
  EXPECT_EQ(test::device_warp_sums(gpu(), values),
            std::vector<float>(32, std::accumulate(values.begin(), values.end(), 0.0f)));
  const std::vector<float> of_teams = test::device_team_sums(gpu(), values);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(lane / 8 * 8);
    EXPECT_EQ(of_teams[lane], std::accumulate(first, first + 8, 0.0f)) << "lane " << lane;
  }
}

TEST_F(Reductions, ScansAddTheLanesUpToTheOwn) {
  const std::vector<int> values = squares<int>(32);
  std::vector<int> expected(32);
  std::partial_sum(values.begin(), values.end(), expected.begin());
  EXPECT_EQ(test::device_sums_up_to(gpu(), values), expected);
}

TEST_F(Reductions, GiveTheSumOfABlock) {
  const std::vector<double> values = squares<double>(256);
  EXPECT_EQ(test::device_block_sum(gpu(), values), std::accumulate(values.begin(), values.end(), 0.0));
}

TEST_F(Reductions, GiveTheBoxOfABlockOfAnyNumberOfWarps) {
  for (const int count : {32, 96, 1024}) {
    SCOPED_TRACE(count);
    std::vector<Vec3> points(static_cast<std::size_t>(count), Vec3{1, 2, 3});
    points.back() = {-4, 5, 6};
    points[static_cast<std::size_t>(count) / 2] = {2, -7, 3.5f};
    const test::BoxOfPoints box = test::device_box(gpu(), points);
    EXPECT_EQ(box.low, (Vec3{-4, -7, 3}));
    EXPECT_EQ(box.high, (Vec3{2, 5, 6}));
  }
}

TEST_F(Reductions, OrderedBitsKeepTheOrderOfFloats) {
  constexpr float infinity = std::numeric_limits<float>::infinity(), tiny = std::numeric_limits<float>::denorm_min();
  const std::vector<float> rising{-infinity, -3e38f, -2, -1.5f, -tiny, 0, tiny, 1, 1e10f, infinity};
  const std::vector<int> bits = test::device_ordered_bits(gpu(), rising);
  EXPECT_EQ(std::ranges::adjacent_find(bits, std::greater_equal<>{}), bits.end());
  EXPECT_EQ(bits[5], 0) << "so that memory of zeros is a valid start";
  EXPECT_EQ(test::device_from_ordered_bits(gpu(), bits), rising);
}

}  // namespace
}  // namespace orrery
