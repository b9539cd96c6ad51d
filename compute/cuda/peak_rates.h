#pragma once

namespace orrery {

/// Peak rates of this machine's GPU, as measured.
struct PeakRates {
  double fma_per_s = 0;               ///< FP32 instructions, counted per lane; limited by the issue rate
  double rsqrt_per_s = 0;             ///< reciprocal square roots of the special function units
  double clock_mhz = 0;               ///< clock of the multiprocessors during the measurement; 0: not known
  double dram_bytes_per_s = 0;        ///< memory traffic, see measure_dram_rate(); 0: not measured
  double dram_limit_bytes_per_s = 0;  ///< limit by the memory's clock and width; 0: the device does not report them
};

namespace cuda {

class Device;

/// Measures all rates, in about 70 ms: runs chains of fused multiply-adds and of reciprocal square roots on the whole
/// device, then measure_dram_rate(). First waits until the device is idle. Not available in builds without CUDA.
PeakRates measure_peak_rates(const Device& device);
/// Measures only PeakRates::fma_per_s, in about 25 ms.
double measure_fma_rate(const Device& device);
/// Measures the memory traffic, in bytes per second, of reading two arrays and writing a third (McCalpin's triad,
/// STREAM 1995). Each array is eight times as large as the second-level cache, and at least 64 MiB. Together they take
/// at most half of the free memory, for about 20 ms; returns 0 if that is too little. First waits until the device is
/// idle.
double measure_dram_rate(const Device& device);
/// Returns PeakRates::dram_limit_bytes_per_s: two transfers of the bus width per memory clock.
double dram_limit(const Device& device);

}  // namespace cuda
}  // namespace orrery
