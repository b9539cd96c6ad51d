#pragma once

namespace orrery {

/// Peak rates of this machine's GPU, as measured.
struct PeakRates {
  double fma_per_s = 0;    ///< FP32 instructions, counted per lane; the issue rate is the limit
  double rsqrt_per_s = 0;  ///< of the special function units
  double clock_mhz = 0;    ///< of the multiprocessors during the measurement; 0: not known
};

namespace cuda {

class Device;

/// Runs chains of fused multiply-adds and of reciprocal square roots on the whole device, some 50 ms in all. Waits
/// first until the device has nothing else to do. Not in a build without CUDA.
PeakRates measure_peak_rates(const Device& device);
/// PeakRates::fma_per_s alone, in half the time.
double measure_fma_rate(const Device& device);

}  // namespace cuda
}  // namespace orrery
