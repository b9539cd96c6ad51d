// Where the bodies of the engine are while several devices hold theirs.
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/devices/device_list.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/distances.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

TEST(ResidentsMemory, IsNotNeededForTheEnginesOwnOnTheFirstDevice) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  const KernelPtr tree = test::find_kernel("cuda-tree");
  constexpr int many = 8'000'000;
  constexpr std::size_t mib = std::size_t{1} << 20;
  const SceneRequest scene{.scene = "plummer", .count = many};
  const Backends backends{test::catalog(), DeviceList{.ordinals = {0, 0}}};
  const cuda::Device& gpu = *backends.device();
  const auto needed = [&] {
    const auto kernel = backends.make_kernel(*tree, Settings{*tree});
    const std::size_t before = gpu.free_memory();
    kernel->prepare(many);
    return before - gpu.free_memory();
  }();
  Simulation roomy{backends, scene, tree};
  roomy.run(3);
  const Bodies expected = roomy.bodies();
  roomy.apply(LoadScene{{.scene = "plummer", .count = 2}});
  // The bodies take 244 MiB, and 256 are to stay free. Others may use the GPU as well.
  auto taken = cuda::DeviceArray<char>{gpu, gpu.free_memory() - needed - 350 * mib};
  Simulation tight{backends, scene, tree};
  tight.run(3);
  test::expect_equal_masses(tight.bodies(), expected);
  EXPECT_LT(test::apart(tight.bodies(), expected), 1e-4);
  tight.run(1);  // once more after they were read
  test::expect_failure(
      test::Failure::usage, [&] { (void)tight.accelerations(std::vector{17}); },
      "8000000 bodies need more memory than the GPU has free, unless several GPUs hold them");
  tight.run(1);  // the devices hold them once more
  taken = {};
  EXPECT_EQ(tight.accelerations(std::vector{17}).size(), expected.positions.size());
  tight.run(1);
  EXPECT_EQ(tight.status().step, 6);
}

}  // namespace
}  // namespace orrery
