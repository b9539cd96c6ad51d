#pragma once

#include "compute/cuda/stream.h"
#include "compute/devices/block_exchange.h"
#include "compute/kernels/division.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// A rank's part of an evaluation on its device, and how long it takes. The same for every way of the data.
class RankPart {
 public:
  /// `division` must outlive this.
  RankPart(const cuda::Device& device, DivisionFacet& division)
      : division_{division}, begins_{device}, begun_{device}, goes_on_{device}, ends_{device} {}

  DivisionFacet& division() const { return division_; }
  /// DivisionFacet::prepare_division(), and what exchange() needs.
  void prepare(int count, int index, int ranks) const;

  void begin(const ForceArgs& args, const Part& part) const;
  /// Behind the begin, if DivisionFacet::exchanges(). Every rank calls this.
  void exchange(const ForceArgs& args, JointWork& work, BlockExchange& by) const;
  void evaluate(const ForceArgs& args, const Part& part) const;
  const cuda::Event& end() const { return ends_; }
  /// Once it has ended: without the exchange.
  double ms() const { return cuda::elapsed_ms(begins_, begun_) + cuda::elapsed_ms(goes_on_, ends_); }

 private:
  DivisionFacet& division_;
  cuda::Event begins_, begun_, goes_on_, ends_;
};

}  // namespace orrery
