#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "compute/kernels/division_facet.h"

namespace orrery {

/// For devices that do not see each other's memory: in place of DivisionFacet::offer(), each device chooses what every
/// other one needs of it. Between begin_part() and evaluate_part(), if exchanges(): outline(), copies of all outlines,
/// choose(), copies of all that was chosen, and take_chosen().
class ChoiceFacet {
 public:
  using Blocks = DivisionFacet::Blocks;

  virtual ~ChoiceFacet() = default;
  /// After prepare_division(): the devices will choose. Throws UsageError if there is no memory.
  virtual void prepare_choice() = 0;
  /// What tells the others what this device may need, as begin_part() made it; of the same size on all devices.
  virtual DeviceBlock outline() = 0;
  /// Where to copy that of another device.
  virtual DeviceBlock place_of_outline(int index) = 0;
  /// What each other device needs, by index; of its own nothing. The host needs the sizes: `wait` has to wait for what
  /// is enqueued on the stream.
  virtual std::vector<Blocks> choose(const ForceArgs& args, const std::function<void()>& wait) = 0;
  /// Where to copy what another device has chosen, blocks of these sizes. Takes the memory for that.
  virtual Blocks places_of_chosen(int index, std::span<const std::size_t> sizes) = 0;
  /// Enqueues what brings it to where evaluate_part() looks.
  virtual void take_chosen(const ForceArgs& args) = 0;
};

}  // namespace orrery
