#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace orrery::cuda {

/// Current state of a GPU. Values that the driver does not report are empty.
struct GpuState {
  std::optional<int> clock_mhz;  ///< clock of the multiprocessors
  std::optional<int> memory_clock_mhz;
  std::optional<double> power_w;  ///< current power of the board; some GPUs report the mean of the last second
  std::optional<int> temperature_c;
  std::optional<std::vector<std::string>> slowed_by;  ///< why the clock is not at its maximum, in words; may be empty
};

/// NVIDIA's management library (NVML). It is loaded at run time: the driver has it, but CUDA does not have its header.
class Nvml {
 public:
  /// Loads the library. Does not throw if that fails: see reason().
  explicit Nvml(const char* library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Returns why the library could not be loaded, in one line; empty if it was loaded.
  const std::string& reason() const { return reason_; }
  /// Returns the state of the GPU with this PCI bus id, such as "0000:1b:00.0". If there is no library or it does not
  /// know the GPU, returns nothing and stores why in `reason`, unless that is null.
  std::optional<GpuState> state(const std::string& pci_bus_id, std::string* reason = nullptr) const;

 private:
  struct Functions;
  std::unique_ptr<const Functions> functions_;  // null: no library
  std::string reason_;
};

/// Returns the state of the CUDA device with this ordinal. Keeps the library loaded. If the state is not known, returns
/// nothing and stores why in `reason`, unless that is null.
std::optional<GpuState> gpu_state(int ordinal, std::string* reason = nullptr);

}  // namespace orrery::cuda
