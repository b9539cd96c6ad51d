// The peak rates of the processor and of the GPU, as `orrery info` prints them.
#include <gtest/gtest.h>

#include <cmath>

#include "app/lab/roofline/roofline.h"

namespace orrery {
namespace {

TEST(MemoryRate, IsFiniteAndNoneWithoutArrays) {
  constexpr std::size_t bytes = std::size_t{4} << 20;
  for (const int threads : {1, 2}) {
    const double rate = measure_memory_rate(threads, bytes);
    EXPECT_TRUE(std::isfinite(rate));
    EXPECT_GT(rate, 1e8);
    EXPECT_LT(rate, 1e14);
  }
  EXPECT_EQ(measure_memory_rate(1, 0), 0);
}

TEST(MemoryRate, ArraysAreFarLargerThanACache) {
  const std::size_t bytes = uncached_array_bytes();
  EXPECT_TRUE(bytes == 0 || bytes >= std::size_t{64} << 20) << bytes;
  EXPECT_LE(bytes, std::size_t{256} << 20);
}

TEST(CpuPeakRates, AreMeasuredAndHaveText) {
  const CpuPeakRates rates = measure_cpu_peak_rates();
  EXPECT_GT(rates.threads, 0);
  EXPECT_TRUE(std::isfinite(rates.fma_per_s));
  EXPECT_GT(rates.fma_per_s, 0);
  EXPECT_NE(rates.text().find(rates.instruction_set), std::string::npos) << rates.text();
  EXPECT_EQ(rates.json()["fma_per_s"], rates.fma_per_s);
}

TEST(CpuPeakRates, NameWhatIsNotKnown) {
  CpuPeakRates rates{.threads = 1, .instruction_set = "AVX2", .fma_per_s = 96e9, .memory_bytes_per_s = 12e9};
  EXPECT_EQ(rates.text(), "1 thread: 96 G FMA/s in FP32 (AVX2), 12 GB/s of memory");
  rates.memory_bytes_per_s = 0;
  EXPECT_NE(rates.text().find("too little free memory"), std::string::npos) << rates.text();
  EXPECT_TRUE(rates.json()["memory_bytes_per_s"].is_null());
}

TEST(MachinePeakRates, StateTheMemoryBesideItsLimit) {
  MachinePeakRates rates{.peak_rates = PeakRates{.fma_per_s = 3e13,
                                                 .rsqrt_per_s = 4e12,
                                                 .clock_mhz = 1980,
                                                 .dram_bytes_per_s = 3e12,
                                                 .dram_limit_bytes_per_s = 4e12}};
  EXPECT_NE(rates.text().find("3 TB/s of memory (75 % of what its clock allows)"), std::string::npos) << rates.text();
  EXPECT_EQ(rates.json()["dram_bytes_per_s"], 3e12);
  rates.peak_rates->dram_limit_bytes_per_s = 0;
  EXPECT_EQ(rates.text().find("allows"), std::string::npos) << rates.text();
  EXPECT_TRUE(rates.json()["dram_limit_bytes_per_s"].is_null());
  rates.peak_rates->dram_bytes_per_s = 0;
  EXPECT_NE(rates.text().find("too little free memory"), std::string::npos) << rates.text();
  EXPECT_TRUE(rates.json()["dram_bytes_per_s"].is_null());
}

}  // namespace
}  // namespace orrery
