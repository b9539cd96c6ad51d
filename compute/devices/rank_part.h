#pragma once

#include "compute/cuda/device.h"
#include "compute/devices/block_exchange.h"
#include "compute/kernels/division.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// One rank's part of an evaluation on its device, with its time. Independent of how data are sent.
class RankPart {
 public:
  /// `division` must outlive this.
  RankPart(const cuda::Device& device, DivisionFacet& division)
      : division_{division}, begins_{device}, begun_{device}, goes_on_{device}, ends_{device} {}

  DivisionFacet& division() const { return division_; }
  /// Calls DivisionFacet::prepare_division(), and prepares exchange().
  void prepare(int count, int index, int ranks) const;

  void begin(const ForceArgs& args, const Part& part) const;
  /// Exchanges data with all ranks. Call after begin(), on every rank, if DivisionFacet::exchanges().
  void exchange(const ForceArgs& args, JointWork& work, BlockExchange& by) const;
  void evaluate(const ForceArgs& args, const Part& part) const;
  const cuda::Event& end() const { return ends_; }
  /// Returns the time in ms without the exchange. Call after the part has ended.
  double ms() const { return cuda::elapsed_ms(begins_, begun_) + cuda::elapsed_ms(goes_on_, ends_); }

 private:
  DivisionFacet& division_;
  cuda::Event begins_, begun_, goes_on_, ends_;
};

}  // namespace orrery
