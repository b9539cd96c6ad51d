#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "app/lab/variants.h"
#include "compute/core/bodies.h"
#include "compute/cuda/cupti.h"
#include "compute/sim/backends.h"

namespace orrery {

/// One kernel with bodies of its own, ready to evaluate their forces again and again. Calls throw as
/// ForceKernel::evaluate().
class OwnEvaluation {
 public:
  virtual ~OwnEvaluation() = default;
  /// Starts evaluations, which may run on after this returns.
  virtual void start(int times) = 0;
  virtual void wait() = 0;
  /// Runs one evaluation and marks it, or each phase of a tree on the GPU, for a profiler. Only for CUDA.
  virtual void run_marked(cuda::RangeMarks& marks) = 0;
  /// Interactions of one evaluation; waits.
  virtual double interactions() = 0;
  /// Vector instructions of arithmetic that the sums of one evaluation by a CPU kernel take, counted per lane of 32
  /// bit; NaN if the kernel does not state them. Waits.
  virtual double vector_instructions() = 0;
  /// See ForceKernel::chosen().
  virtual std::string chosen() const = 0;
};

/// `backends` must outlive it. Throws UsageError and std::runtime_error as Backends::make_kernel().
std::unique_ptr<OwnEvaluation> make_own_evaluation(const Backends& backends, const Variant& variant,
                                                   const Bodies& bodies, const Law& law);

/// Whether a marked part of an evaluation sums the forces: all of a direct sum, the walk of a tree.
bool sums_forces(std::string_view part);

#if ORRERY_HAVE_CUDA
/// The same on CUDA.
std::unique_ptr<OwnEvaluation> make_cuda_evaluation(const Backends& backends, const Variant& variant,
                                                    const Bodies& bodies, const Law& law);

/// Marks the work for another profiler: cudaProfilerStart and cudaProfilerStop around the part that sums the forces.
std::unique_ptr<cuda::RangeMarks> external_marks();
#endif

}  // namespace orrery
