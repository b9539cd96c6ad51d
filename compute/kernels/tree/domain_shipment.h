#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <span>
#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/kernels/division_facet.h"
#include "compute/kernels/migration_facet.h"
#include "compute/kernels/tree/domain_stretches.h"
#include "compute/kernels/tree/shipment_plan.h"

namespace orrery {

/// Bodies that move from device to device as copies, since the devices do not see each other's memory. Those that leave
/// a device are in an order: those for the first device, then those for the second one, and so on. A shipment is the
/// next of them that fit into a buffer; few bodies leave in most moves, so that one is enough. Those that stay, and
/// those that arrive, follow each other where the migration wants them.
class DomainShipment {
 public:
  using Blocks = DivisionFacet::Blocks;

  explicit DomainShipment(const cuda::Device& device) : device_{device} {}

  /// For the device `index` of so many, with at most so many bodies. `arrived`: where its bodies will be. Throws
  /// UsageError if there is no memory.
  void prepare(int index, int devices, int most_bodies, const ResidentBodies& arrived);
  /// Gives the memory back.
  void forget();

  /// Enqueues what finds how many bodies go to each device, and copies those that stay. The keys are lost.
  /// `steps_needed`: see DomainMigration::Move.
  void plan(const ResidentBodies& from, const Stretches& stretches, const SmallBorders& small, int* steps_needed,
            cudaStream_t stream);
  /// How many go from a device to each one: every device needs copies of all.
  DeviceBlock going_from(int device) const;
  /// With these. Returns how many shipments there are, one or more, as many on all devices. The host needs the numbers:
  /// `wait` has to wait for what is enqueued on the stream.
  int begin(const std::function<void()>& wait, cudaStream_t stream);
  /// What leaves in a shipment for each other device, by index, and where to copy what comes from each.
  std::vector<Blocks> leaving(int shipment, cudaStream_t stream);
  std::vector<Blocks> arriving(int shipment) const;

 private:
  ResidentBodies buffer() const;

  const cuda::Device& device_;
  int index_ = 0, devices_ = 0;
  int room_ = 0;  // bodies of a shipment
  ShipmentPlan plan_;
  ResidentBodies arrived_;
  cuda::DeviceArray<Vec4> positions_, velocities_;  // of bodies that leave
  cuda::DeviceArray<int> ids_;
  cuda::DeviceArray<int> numbers_;    // of the plan: see there
  cuda::DeviceArray<int> all_going_;  // bodies from each device to each
  cuda::HostArray<int> going_;        // the same for the host
  // The present move:
  ResidentBodies from_;
  Stretches stretches_;
};

}  // namespace orrery
