// Each device has its own memory, streams and kernels, whatever device the thread used before.
#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/scenes/scene.h"
#include "compute/sim/engine.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backend.h"
#include "tests/test.h"

namespace orrery {
namespace {

int device_of(const void* memory) {
  cudaPointerAttributes attributes{};
  ORRERY_CUDA_CHECK(cudaPointerGetAttributes(&attributes, memory));
  return attributes.device;
}

TEST(TwoDevices, HoldWhatIsMadeForThemWhateverWasUsedBefore) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  if (cuda::devices().size() < 2) GTEST_SKIP() << "there is one CUDA device";
  const cuda::Device first{0}, second{1};
  const cuda::DeviceArray<int> one{first, 1000}, two{second, 1000}, three{first, 1000};
  EXPECT_EQ(device_of(one.data()), 0);
  EXPECT_EQ(device_of(two.data()), 1);
  EXPECT_EQ(device_of(three.data()), 0);
  std::thread{[&] { EXPECT_EQ(device_of(cuda::DeviceArray<int>{second, 1}.data()), 1); }}.join();
}

TEST(TwoDevices, TheEngineActivatesItsOwnInEachCall) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  if (cuda::devices().size() < 2) GTEST_SKIP() << "there is one CUDA device";
  const cuda::Device& own = *test::backends().device();
  const cuda::Device other{own.ordinal() == 0 ? 1 : 0};
  const std::unique_ptr<Engine> engine = make_cuda_engine(own, nullptr);
  const Bodies bodies = load_scene({.scene = "plummer", .count = 100}).bodies;
  const KernelPtr kernel = test::find_kernel("cuda-naive");
  const StepPlan plan{
      .kernel = test::backends().make_kernel(*kernel, Settings{*kernel}), .integrator = &leapfrog, .law = {}};
  std::vector<Vec4> drawn(bodies.positions.size());
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"upload", [&] { engine->upload(bodies, plan); }},
      {"ready", [&] { (void)engine->ready(); }},
      {"advance", [&] { engine->advance({.steps = 1, .begin = {}}); }},
      {"wait", [&] { engine->wait({}); }},
      {"collect", [&] { (void)engine->collect(); }},
      {"keep", [&] { engine->keep({.step = 1}); }},
      {"cancel_and_wait", [&] { engine->cancel_and_wait(); }},
      {"checkpoint", [&] { EXPECT_TRUE(engine->checkpoint()); }},
      {"checkpoint_bodies", [&] { EXPECT_EQ(engine->checkpoint_bodies().count(), bodies.count()); }},
      {"forget_checkpoint", [&] { engine->forget_checkpoint(); }},
      {"download", [&] { (void)engine->download(); }},
      {"copy_drawn", [&] { engine->copy_drawn(drawn, {}); }},
      {"accelerations", [&] { (void)engine->accelerations({}); }},
  };
  for (const auto& [name, call] : calls) {
    other.activate();
    call();
    int active = -1;
    ORRERY_CUDA_CHECK(cudaGetDevice(&active));
    EXPECT_EQ(active, own.ordinal()) << name;
  }
}

class EveryKernelOfTwoDevices : public testing::TestWithParam<KernelPtr> {
 protected:
  void SetUp() override {
    ORRERY_SKIP_WITHOUT_BACKEND();
    if (cuda::devices().size() < 2) GTEST_SKIP() << "there is one CUDA device";
  }
};

TEST_P(EveryKernelOfTwoDevices, StepsTheSameBodiesAlikeOnTwoDevicesInTurn) {
  const Backends other{test::catalog(), 1};
  const SceneRequest scene{.scene = "plummer", .count = 9001};
  Simulation here{test::backends(), scene, GetParam()}, there{other, scene, GetParam()};
  for (int turn = 0; turn < 3; ++turn) {  // each call finds the other device in use
    here.run(1);
    there.run(1);
  }
  const Bodies a = here.bodies(), b = there.bodies();
  ASSERT_EQ(a.count(), b.count());
  const bool same_gpu = test::backends().device()->info().name == other.device()->info().name;
  if (GetParam()->repeatable && same_gpu) {
    EXPECT_EQ(a, b);
    return;
  }
  for (std::size_t i = 0; i < a.positions.size(); ++i) {
    ASSERT_NEAR(a.positions[i].x, b.positions[i].x, 1e-3) << "body " << i;
    ASSERT_NEAR(a.positions[i].y, b.positions[i].y, 1e-3) << "body " << i;
    ASSERT_NEAR(a.positions[i].z, b.positions[i].z, 1e-3) << "body " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryKernelOfTwoDevices, testing::ValuesIn(test::kernels_under_test()),
                         test::test_name);

}  // namespace
}  // namespace orrery
