#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "compute/kernels/division_facet.h"

namespace orrery {

/// What MigrationFacet needs besides where devices do not see each other's memory. After each round, all devices get
/// copies of what the others found in it; after the last one, copies of the bodies that move. The evaluation follows as
/// ChoiceFacet says, and then, copies of what all have counted.
class ShipmentFacet {
 public:
  using Blocks = DivisionFacet::Blocks;

  virtual ~ShipmentFacet() = default;
  /// After MigrationFacet::prepare_residence(). Throws UsageError if there is no memory.
  virtual void prepare_shipment() = 0;
  /// Bodies that a device holds until the next move.
  virtual int bodies_of(int index) const = 0;
  /// What a round found, of the same size on all devices.
  virtual DeviceBlock found_in(int round) = 0;
  /// Where to copy that of another device.
  virtual DeviceBlock place_of_found(int round, int index) = 0;
  /// After the copies of what the last round found: in how many shipments bodies leave, one or more, as many on all
  /// devices. The host needs it: `wait` has to wait for what is enqueued on the stream.
  virtual int shipments(const std::function<void()>& wait, CUstream_st* stream) = 0;
  /// The bodies of a shipment for each other device, by index. Call in their order, each when the one before has left.
  virtual std::vector<Blocks> leaving(int shipment, CUstream_st* stream) = 0;
  /// Where to copy those from each other device, by index.
  virtual std::vector<Blocks> arriving(int shipment) = 0;
  /// What MigrationFacet::finish_residents() needs of each device, of the same size on all of them.
  virtual DeviceBlock counted() = 0;
  virtual DeviceBlock place_of_counted(int index) = 0;
};

}  // namespace orrery
