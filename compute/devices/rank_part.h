#pragma once

#include "compute/cuda/event.h"
#include "compute/kernels/division_facet.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// A rank's part of an evaluation on its device, and how long it takes. The same for every way of the data.
class RankPart {
 public:
  /// `division` must outlive this.
  RankPart(const cuda::Device& device, DivisionFacet& division)
      : division_{division}, begins_{device}, begun_{device}, goes_on_{device}, ends_{device} {}

  DivisionFacet& division() const { return division_; }
  void begin(const ForceArgs& args, const Part& part) const {
    begins_.record(args.stream);
    division_.begin_part(args, part);
    begun_.record(args.stream);
  }
  /// Behind the begin, and the exchange if there is one.
  void evaluate(const ForceArgs& args, const Part& part) const {
    goes_on_.record(args.stream);
    division_.evaluate_part(args, part);
    ends_.record(args.stream);
  }
  const cuda::Event& end() const { return ends_; }
  /// Once it has ended: without the exchange.
  double ms() const { return cuda::elapsed_ms(begins_, begun_) + cuda::elapsed_ms(goes_on_, ends_); }

 private:
  DivisionFacet& division_;
  cuda::Event begins_, begun_, goes_on_, ends_;
};

}  // namespace orrery
