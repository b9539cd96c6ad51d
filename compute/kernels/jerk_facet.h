#pragma once

#include <atomic>

#include "compute/core/law.h"
#include "compute/core/vec.h"
#include "compute/kernels/targets.h"

struct CUstream_st;  // cudaStream_t, so that this header needs no CUDA

namespace orrery {

/// One evaluation of accelerations and jerks due to all bodies. Arrays lie in the memory of the kernel's backend.
struct JerkArgs {
  const PreciseBody* bodies = nullptr;  ///< `count` of them
  int count = 0;                        ///< >= 1
  Targets targets{};                    ///< none given: every body
  Law law;                              ///< its drag is left to the caller: it acts on one body, not on a pair
  Pull* pulls = nullptr;                ///< one entry per body; those of the targets are written, and no others
  CUstream_st* stream = nullptr;        ///< CUDA kernels enqueue here and return
  const std::atomic<bool>* cancelled = nullptr;  ///< as in ForceArgs

  /// In the memory of the device: how many of the targets there are, at most targets.count. Null: all. Only for kernels
  /// with JerkFacet::counts_targets_on_device().
  const int* d_target_count = nullptr;

  int target_count() const { return targets ? targets.count : count; }
};

/// What kernels have that Hermite integrators can use, see KernelInfo::gives_jerks.
class JerkFacet {
 public:
  virtual ~JerkFacet() = default;
  /// Correct for every count >= 1. Throws as ForceKernel::evaluate().
  virtual void evaluate_jerks(const JerkArgs& args) = 0;
  /// Whether it takes JerkArgs::d_target_count for this many bodies, so that nobody has to wait for a number of
  /// targets.
  virtual bool counts_targets_on_device(int /*count*/) const { return false; }
};

}  // namespace orrery
