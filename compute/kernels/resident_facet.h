#pragma once

#include <cstdint>

#include "compute/kernels/body_pass.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// What a CUDA kernel has whose devices can hold the bodies from one evaluation to the next, each a part of them.
/// `stream` is one of the first device, which is active and stays so. Of the devices of one process, nothing waits but
/// hold(); for those of ranks, the host may wait. What passes over the bodies find that is not finite, every device
/// notes for itself; in every evaluation, all learn of the first one.
class ResidentFacet {
 public:
  virtual ~ResidentFacet() = default;
  /// Whether the devices can hold so many bodies.
  virtual bool can_hold(int count) const = 0;
  /// Whether ForceKernel::prepare() has taken the memory for that.
  virtual bool has_room(int count) const = 0;
  /// Gives the devices all bodies, which are in memory that those of one process reach, and the finding so far, which
  /// is in memory of the first one. They hold them until the next hold() or ForceKernel::evaluate(). Throws as
  /// ForceKernel::prepare(); then they hold none.
  virtual void hold(const Vec4* d_positions, const Vec4* d_velocities, int count, const cuda::PackedFinding* d_finding,
                    CUstream_st* stream) = 0;
  /// cuda::kick_drift() of the integrators, of all bodies. `check.report` has none of their numbers.
  virtual void kick_drift(const cuda::KickDrift& pass, const cuda::NonFiniteCheck& check, CUstream_st* stream) = 0;
  /// Likewise cuda::check_finite(). Then the report has what any device found since hold().
  virtual void check_finite(const cuda::NonFiniteReport& report, std::uint32_t pass, CUstream_st* stream) = 0;
  /// Evaluates the accelerations of all bodies. Bodies may move to other devices. Of `args`, what points to bodies is
  /// not used, and there is neither an epilogue nor a target. Throws as ForceKernel::evaluate(); then they hold none.
  virtual void evaluate_residents(const ForceArgs& args) = 0;
  /// Copies what the devices hold to memory that they reach, in the order of all bodies; null: not copied. The
  /// accelerations are those of the latest evaluation, if there was one.
  virtual void collect(Vec4* d_positions, Vec4* d_velocities, CUstream_st* stream, Vec4* d_accelerations = nullptr) = 0;
};

/// Null: the kernel has none.
inline ResidentFacet* residents_of(ForceKernel& kernel) {
  return dynamic_cast<ResidentFacet*>(&kernel);
}

}  // namespace orrery
