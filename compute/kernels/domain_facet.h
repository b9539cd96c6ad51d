#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compute/core/message.h"
#include "compute/core/vec.h"
#include "compute/kernels/division_facet.h"

namespace orrery {

struct ForceArgs;

/// The ranks among which the bodies of an evaluation are spread, as one of them sees them.
class RankExchange {
 public:
  virtual ~RankExchange() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;  ///< number of ranks
  /// Every rank calls this: outgoing[r] goes to each other rank r, and incoming[r] becomes what r sent to this rank.
  /// Both have size() entries; those of this rank are not used. Messages may be empty.
  virtual void exchange(std::span<const MessageWriter> outgoing, std::vector<std::vector<std::byte>>& incoming) = 0;
};

/// What kernels have of which several ranks evaluate a part each, and no rank needs all bodies. Each rank has a kernel
/// of its own, with the same settings. The results are those of one kernel with all bodies, bit for bit.
class DomainFacet {
 public:
  virtual ~DomainFacet() = default;
  /// Rank 0 alone: divides all bodies, at least one, among the ranks, as nearly as it can into these parts, and fills
  /// `owners` with the rank of each. Returns what every rank has to know of the division.
  virtual MessageWriter divide(std::span<const Vec4> bodies, std::span<const Part> parts, std::vector<int>& owners) = 0;
  /// As ForceKernel::evaluate(), but args.bodies are those of this rank, in the order that they have among all bodies;
  /// there may be none. Every rank calls this. One that fails or is cancelled takes part in all exchanges before it
  /// throws or returns, unless an exchange fails; what the others find is then undefined.
  virtual void evaluate_domain(const ForceArgs& args, MessageReader division, RankExchange& ranks) = 0;
};

}  // namespace orrery
