#pragma once

#include <functional>

#include "compute/kernels/kernel.h"
#include "compute/kernels/migration_facet.h"

namespace orrery {

/// The bodies that one of several devices holds. They may be changed by what is enqueued on its stream.
struct ResidentPart {
  const cuda::Device& device;
  CUstream_st* stream;
  ResidentBodies bodies;
  /// A number that says which body is not finite, as whoever looks for one packs it. In every evaluation, those of all
  /// devices become the least of them.
  unsigned long long* d_finding;
};

/// What a CUDA kernel has whose devices can hold the bodies from one evaluation to the next. The caller moves them,
/// each part on its device. `stream` is one of the first device, which is active and stays so. Nothing waits but
/// hold().
class ResidentFacet {
 public:
  virtual ~ResidentFacet() = default;
  /// Whether the devices can hold so many bodies.
  virtual bool can_hold(int count) const = 0;
  /// Whether ForceKernel::prepare() has taken the memory for that.
  virtual bool has_room(int count) const = 0;
  /// Gives the devices all bodies, which are in memory that all of them reach, and the finding so far, which is in
  /// memory of the first one. They hold them until the next hold() or ForceKernel::evaluate(). Throws as
  /// ForceKernel::prepare(); then they hold none.
  virtual void hold(const Vec4* d_positions, const Vec4* d_velocities, int count, const unsigned long long* d_finding,
                    CUstream_st* stream) = 0;
  /// Calls `work` with what each device holds, while it is active. What it throws names the device.
  virtual void for_each_part(CUstream_st* stream, const std::function<void(const ResidentPart&)>& work) = 0;
  /// Evaluates the accelerations of all bodies. Bodies may move to other devices. Of `args`, what points to bodies is
  /// not used, and there is neither an epilogue nor a target. Throws as ForceKernel::evaluate(); then they hold none.
  virtual void evaluate_residents(const ForceArgs& args) = 0;
  /// Copies what the devices hold to memory that they reach, in the order of all bodies; null: not copied. The
  /// accelerations are those of the latest evaluation, if there was one.
  virtual void collect(Vec4* d_positions, Vec4* d_velocities, CUstream_st* stream, Vec4* d_accelerations = nullptr) = 0;
  /// Writes the least of all findings to memory of the first device.
  virtual void join_findings(unsigned long long* d_least, CUstream_st* stream) = 0;
};

/// Null: the kernel has none.
inline ResidentFacet* residents_of(ForceKernel& kernel) {
  return dynamic_cast<ResidentFacet*>(&kernel);
}

}  // namespace orrery
