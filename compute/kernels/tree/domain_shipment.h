#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "compute/cuda/device.h"
#include "compute/cuda/device_array.h"
#include "compute/cuda/host_array.h"
#include "compute/kernels/division_facet.h"
#include "compute/kernels/migration_facet.h"
#include "compute/kernels/tree/domain_stretches.h"

namespace orrery {

/// Bodies that move from device to device as copies, since the devices do not see each other's memory. Those that leave
/// are packed, one device after the other; those that stay, and those that arrive, follow each other where the
/// migration wants them.
class DomainShipment {
 public:
  using Blocks = DivisionFacet::Blocks;

  explicit DomainShipment(const cuda::Device& device) : device_{device} {}

  /// For the device `index` of so many. `arrived`: where its bodies will be. Throws UsageError if there is no memory.
  void prepare(int index, int devices, const ResidentBodies& arrived);
  /// Gives the memory of what leaves back.
  void forget() { leaving_ = {}; }

  /// Enqueues what finds how many bodies go to each device. `steps_needed`: see DomainMigration::Move.
  void plan(const ResidentBodies& from, const Stretches& stretches, const SmallBorders& small, int* steps_needed,
            cudaStream_t stream);
  /// Then: what leaves for each other device, by index. The host needs the sizes: `wait` has to wait for what is
  /// enqueued on the stream.
  std::vector<Blocks> leaving(const std::function<void()>& wait, cudaStream_t stream);
  /// Where to copy what leaves another device for this one, blocks of these sizes. Call once for each other device.
  Blocks places(std::span<const std::size_t> sizes);

 private:
  /// The memory for bodies that leave.
  struct Packed {
    cuda::DeviceArray<Vec4> positions, velocities;
    cuda::DeviceArray<int> ids;
    int too_large = 0;  ///< for so many moves, it has been far larger than they needed
  };
  void take_room(std::size_t bodies);

  const cuda::Device& device_;
  int index_ = 0, devices_ = 0;
  ResidentBodies arrived_;
  Packed leaving_;
  cuda::DeviceArray<int> numbers_;  // of the plan: see there
  cuda::HostArray<int> going_;      // bodies to each device
  // The present move:
  ResidentBodies from_;
  Stretches stretches_;
  int come_ = 0;  // bodies that stay or arrive
};

}  // namespace orrery
