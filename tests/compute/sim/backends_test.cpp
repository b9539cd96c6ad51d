// What a run computes with, on a machine with a CUDA device or without one.
#include "compute/sim/backends.h"

#include <gtest/gtest.h>

#include "compute/sim/engine/engine.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

using test::expect_failure;
using test::Failure;

TEST(Backends, HaveADeviceOrTheReasonWhyNot) {
  const Backends backends{test::catalog()};
  const BackendStatus& cuda = backends.status(Backend::cuda);
  EXPECT_TRUE(backends.status(Backend::cpu).available);
  EXPECT_FALSE(backends.status(Backend::cpu).device.empty());
  EXPECT_EQ(backends.device() != nullptr, cuda.available);
  EXPECT_EQ(cuda.reason.empty(), cuda.available);
  EXPECT_EQ(cuda.device.empty(), !cuda.available);
  EXPECT_EQ(backends.default_kernel()->backend, cuda.available ? Backend::cuda : Backend::cpu);
  for (const KernelPtr& kernel : test::kernels()) {
    const bool listed = backends.available_kernels().find(kernel->id) != std::string::npos;
    EXPECT_EQ(listed, backends.status(kernel->backend).available) << kernel->id;
  }
}

TEST(Backends, RefuseADeviceThatCannotBeOpened) {
  const Backends backends{test::catalog()};
  const BackendStatus& cuda = backends.status(Backend::cuda);
  if (cuda.available) {
    EXPECT_NO_THROW((Backends{test::catalog(), 0}));
    return;
  }
  expect_failure(
      Failure::runtime,
      [] {
        (Backends{test::catalog(), 0});
      },
      "CUDA device ", cuda.reason);
  expect_failure(
      Failure::runtime, [&] { (void)backends.make_engine(Backend::cuda, nullptr); }, cuda.reason, "cpu-simd");
  KernelInfo kernel = *test::find_kernel("cpu-serial");
  kernel.backend = Backend::cuda;
  expect_failure(
      Failure::runtime, [&] { (void)backends.make_kernel(kernel, Settings{kernel}); }, cuda.reason, "cpu-simd");
}

}  // namespace
}  // namespace orrery
