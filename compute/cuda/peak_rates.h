#pragma once

namespace orrery {

/// What this machine's GPU can do at most, measured here.
struct PeakRates {
  double fma_per_s = 0;    ///< FP32 instructions of one lane: the limit of what the schedulers issue
  double rsqrt_per_s = 0;  ///< by the special function units
  double clock_mhz = 0;    ///< of the multiprocessors while that was measured; 0: not known
};

namespace cuda {

class Device;

/// Runs chains of fused multiply-adds and of reciprocal square roots on the whole device, some 50 ms in all. Waits
/// first until the device has nothing else to do. Not in a build without CUDA.
PeakRates measure_peak_rates(const Device& device);

}  // namespace cuda
}  // namespace orrery
