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
  /// The bodies for each other device, by index. The host needs the sizes: `wait` has to wait for what is enqueued on
  /// the stream.
  virtual std::vector<Blocks> leaving(const std::function<void()>& wait, CUstream_st* stream) = 0;
  /// Where to copy those from another device, blocks of these sizes. Call once for each.
  virtual Blocks places_of_arriving(std::span<const std::size_t> sizes) = 0;
  /// What MigrationFacet::finish_residents() needs of each device, of the same size on all of them.
  virtual DeviceBlock counted() = 0;
  virtual DeviceBlock place_of_counted(int index) = 0;
};

}  // namespace orrery
