#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compute/cuda/device.h"
#include "compute/devices/broadcast.h"

namespace orrery {

/// CUDA devices that divide evaluations: all alike, since they get equal parts. The first leads: it has the bodies.
class DeviceTeam {
 public:
  /// Lets them read each other's memory where the machine can; otherwise copies go through host memory. `ordinals` has
  /// at least two. Throws UsageError if a device does not exist, or if they differ. The variable ORRERY_NCCL=1 asks for
  /// copies by NCCL; throws std::runtime_error if these are not possible.
  explicit DeviceTeam(std::span<const int> ordinals);
  DeviceTeam(const DeviceTeam&) = delete;
  DeviceTeam& operator=(const DeviceTeam&) = delete;

  std::size_t size() const { return devices_.size(); }
  const std::shared_ptr<const cuda::Device>& leader() const { return devices_.front(); }
  const cuda::Device& device(std::size_t index) const { return *devices_[index]; }
  /// Whether every device can read the memory of all others.
  bool is_direct() const { return direct_; }
  /// "devices 0,1", and a note if copies between some of them go through host memory, or by NCCL.
  std::string words() const;
  /// One thread uses it at a time.
  Broadcast& broadcast() const { return *broadcast_; }

 private:
  TeamDevices devices_;
  std::unique_ptr<Broadcast> broadcast_;
  bool direct_ = true;
  bool by_nccl_ = false;
};

}  // namespace orrery
