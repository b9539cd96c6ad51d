#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace orrery::cuda {

/// A GPU's state at one moment. What its driver does not tell is missing.
struct GpuState {
  std::optional<int> clock_mhz;  ///< of the multiprocessors
  std::optional<int> memory_clock_mhz;
  std::optional<double> power_w;  ///< of the board
  std::optional<int> temperature_c;
  std::optional<std::vector<std::string>> slowed_by;  ///< why the clock is not at its maximum, in words; may be empty
};

/// NVIDIA's management library, loaded when this is made: it comes with the driver, and no header of it with CUDA.
class Nvml {
 public:
  /// Never throws because of the library: see reason().
  explicit Nvml(const char* library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Why there is no library to ask, one line; empty where there is one.
  const std::string& reason() const { return reason_; }
  /// Of the GPU with this PCI bus id, such as "0000:1b:00.0". None where there is no library or it does not know it;
  /// `reason`, if not null, says why.
  std::optional<GpuState> state(const std::string& pci_bus_id, std::string* reason = nullptr) const;

 private:
  struct Functions;
  std::unique_ptr<const Functions> functions_;  // null: no library
  std::string reason_;
};

/// The state of a CUDA device, by a library that stays loaded. None where it cannot be had; `reason` as above.
std::optional<GpuState> gpu_state(int device, std::string* reason = nullptr);

}  // namespace orrery::cuda
