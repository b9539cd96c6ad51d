#pragma once

#include <span>
#include <vector>

#include "compute/core/message.h"
#include "compute/core/vec.h"
#include "compute/kernels/division_facet.h"

namespace orrery {

struct ForceArgs;
class JointWork;

/// What kernels have of which several ranks evaluate a part each, and no rank needs all bodies. Each rank has a kernel
/// of its own, with the same settings. The results are those of one kernel with all bodies, bit for bit.
class DomainFacet {
 public:
  virtual ~DomainFacet() = default;
  /// Rank 0 alone: divides all bodies, at least one, among the ranks, as nearly as it can into these parts, and fills
  /// `owners` with the rank of each. Returns what every rank has to know of the division.
  virtual MessageWriter divide(std::span<const Vec4> bodies, std::span<const Part> parts, std::vector<int>& owners) = 0;
  /// The same by all ranks, of which each has these of the bodies, perhaps none: fills `owners` for its own ones. Every
  /// rank calls this. Divides `anew`, or as the latest call did, if that division suits the bodies where they are now.
  virtual MessageWriter divide_own(std::span<const Vec4> bodies, std::span<const Part> parts, bool anew,
                                   JointWork& work, std::vector<int>& owners) = 0;
  /// As ForceKernel::evaluate(), but args.bodies are those of this rank; there may be none. `ids`: their places among
  /// all bodies; empty: they have the order of these. Every rank calls this. Where JointWork::goes_on() is false
  /// afterwards, what was found is undefined.
  virtual void evaluate_domain(const ForceArgs& args, std::span<const int> ids, MessageReader division,
                               JointWork& work) = 0;
};

}  // namespace orrery
