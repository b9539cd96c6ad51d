// What a device tells of itself, and devices that are not here.
#include "compute/cuda/device.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "tests/compute/support/backend.h"
#include "tests/compute/support/failure.h"

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
  test::expect_failure(
      test::Failure::usage, [&] { cuda::Device{beyond}; }, std::to_string(beyond),
      "0 (" + cuda::devices().front().name + ")");
  test::expect_failure(
      test::Failure::usage,
      [&] {
        (Backends{test::catalog(), beyond});
      },
      std::to_string(beyond));
}

}  // namespace
}  // namespace orrery
