// The measured peak rates lie where a GPU's can lie: nothing was optimized away, and nothing else was counted.
#include "compute/cuda/peak_rates.h"

#include "compute/cuda/device.h"
#include "compute/cuda/nvml.h"
#include "tests/compute/support/backend.h"
#include "tests/test.h"

namespace orrery::cuda {
namespace {

TEST(PeakRates, AreNotAboveWhatTheUnitsCanDo) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  const PeakRates peak_rates = measure_peak_rates(*test::backends().device());
  const DeviceInfo& device = test::backends().device()->info();
  // A multiprocessor of any GPU that CUDA 12 supports has at most 128 FP32 lanes and 16 that take reciprocal roots.
  const double clocks_per_s = device.multiprocessors * device.clock_khz * 1e3;
  EXPECT_GT(peak_rates.fma_per_s, 0);
  EXPECT_LT(peak_rates.fma_per_s, 1.05 * 128 * clocks_per_s);
  EXPECT_NEAR(measure_fma_rate(*test::backends().device()) / peak_rates.fma_per_s, 1, 0.1);
  EXPECT_GT(peak_rates.rsqrt_per_s, 0);
  EXPECT_LT(peak_rates.rsqrt_per_s, 1.05 * 16 * clocks_per_s);
  EXPECT_GT(peak_rates.clock_mhz, 0);
  EXPECT_LT(peak_rates.clock_mhz, 1.05 * device.clock_khz / 1e3);
}

TEST(PeakRates, OfTheMemoryIsFiniteAndBelowItsLimit) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  const Device& device = *test::backends().device();
  const double rate = measure_dram_rate(device);
  ASSERT_TRUE(std::isfinite(rate));
  // The slowest memory that a GPU of CUDA 12 has moves 14 GB/s.
  EXPECT_GT(rate, 1e10);
  // 0: this device does not report its memory's clock, or its width.
  if (const double limit = dram_limit(device); limit > 0) {
    EXPECT_LT(rate, limit) << "a cache held the arrays";
    EXPECT_GT(rate, 0.5 * limit);
  }
  EXPECT_NEAR(measure_peak_rates(device).dram_bytes_per_s / rate, 1, 0.1);
}

TEST(GpuState, IsThatOfTheDeviceOrHasAReason) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  std::string reason;
  const auto state = gpu_state(test::backends().device()->ordinal(), &reason);
  EXPECT_EQ(reason.empty(), state.has_value()) << reason;
  if (!state) GTEST_SKIP() << reason;
  EXPECT_TRUE(state->clock_mhz || state->power_w || state->temperature_c) << "NVML tells nothing at all";
}

}  // namespace
}  // namespace orrery::cuda
