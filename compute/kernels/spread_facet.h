#pragma once

#include <atomic>
#include <memory>
#include <string_view>

#include "compute/core/bodies.h"
#include "compute/core/body_source.h"
#include "compute/core/law.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// A whole step of bodies that ranks hold.
struct SpreadStep {
  std::string_view integrator_id;  ///< of one without levels and without jerks
  float time_step = 0;
  Law law{};
  const std::atomic<bool>& cancelled;
};

/// What came of it.
struct SpreadStepped {
  bool complete = false;  ///< otherwise it was cancelled, and the bodies are as before
  int not_finite = -1;    ///< the first body, as with one process; -1: none
  int evaluations = 0;
  double force_ms = 0;  ///< of all evaluations
  double by_tree = 0;   ///< likewise, see ForceArgs::evaluated
};

/// What a kernel has whose ranks can hold the bodies from step to step, each its part, and move them. The bodies of a
/// step are those of one process, bit for bit.
class SpreadFacet {
 public:
  virtual ~SpreadFacet() = default;
  /// Gives the bodies, with masses in this range, to the ranks. They have Digits::single. Throws as
  /// ForceKernel::evaluate().
  virtual void spread(const Bodies& bodies, const MassRange& masses) = 0;
  /// Call after spread(). Throws as ForceKernel::evaluate(); then the bodies are as before, unless a rank is lost.
  virtual SpreadStepped step(const SpreadStep& step) = 0;
  /// The bodies that the ranks hold, and go on to hold.
  virtual Bodies gather() = 0;
  /// The same, where they are: of which one piece at a time comes here. Valid until the next spread() or step(), and as
  /// long as the kernel.
  virtual std::unique_ptr<BodySource> source() = 0;
};

/// Null: the kernel has none.
inline SpreadFacet* spread_of(ForceKernel& kernel) {
  return dynamic_cast<SpreadFacet*>(&kernel);
}

}  // namespace orrery
