#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/features/profile/kernel_profile.h"
#include "app/lab/variants.h"
#include "compute/core/bodies.h"
#include "compute/cuda/cupti.h"
#include "compute/cuda/peak_rates.h"
#include "compute/sim/backends.h"

namespace orrery {

/// One kernel with its own copy of the bodies. Evaluates their forces repeatedly. Throws like ForceKernel::evaluate().
class OwnEvaluation {
 public:
  virtual ~OwnEvaluation() = default;
  /// Starts `times` evaluations. They may still run after this returns.
  virtual void start(int times) = 0;
  virtual void wait() = 0;
  /// Runs one evaluation and marks it for a profiler; for a tree on the GPU, marks each phase. Only for CUDA kernels.
  virtual void run_marked(cuda::RangeMarks& marks) = 0;
  /// Blocks until evaluations have ended. Returns the number of interactions of one.
  virtual double interactions() = 0;
  /// Blocks until evaluations have ended. Returns the number of arithmetic vector instructions for the sums of one,
  /// counted per 32-bit lane. NaN if the kernel is not a CPU kernel that states them.
  virtual double vector_instructions() = 0;
  /// Returns ForceKernel::chosen().
  virtual std::string chosen() const = 0;
};

/// Makes an evaluation. `backends` must outlive it. Throws what Backends::make_kernel() throws.
std::unique_ptr<OwnEvaluation> make_own_evaluation(const Backends& backends, const Variant& variant,
                                                   const Bodies& bodies, const Law& law);

/// Returns whether a marked part of an evaluation sums the forces: all of a direct sum, the walk of a tree.
bool sums_forces(std::string_view part);

#if ORRERY_HAVE_CUDA

/// Makes the evaluation of a CUDA kernel.
std::unique_ptr<OwnEvaluation> make_cuda_evaluation(const Backends& backends, const Variant& variant,
                                                    const Bodies& bodies, const Law& law);

/// Returns marks for another profiler: cudaProfilerStart and cudaProfilerStop around the part that sums the forces.
std::unique_ptr<cuda::RangeMarks> external_marks();

#endif

/// The bodies whose forces are profiled.
struct ProfiledSystem {
  std::string scene;
  Bodies bodies;
  Law law;
};

/// Profiles kernels one after the other, each with its own copy of the bodies. Nothing else should use the device.
class ProfileMeasurement {
 public:
  /// Makes an object that has measured nothing. `backends` must outlive it.
  explicit ProfileMeasurement(const Backends& backends) : backends_{backends} {}
  ProfileMeasurement(const ProfileMeasurement&) = delete;
  ProfileMeasurement& operator=(const ProfileMeasurement&) = delete;

  /// Prepares the first profile on a GPU, in about 0.3 s: reads CUPTI's tables of the chip, and measures the peak
  /// rates. Does nothing without a GPU. Returns false, having done nothing, if the GPU has less than 2 GiB of free
  /// memory. Throws CuptiError.
  bool prepare();
  /// Measures one profile. Takes about 0.25 s if an evaluation takes less than 10 ms. If the GPU's counters cannot be
  /// read, KernelProfile::problem says why. Throws what make_own_evaluation() throws.
  KernelProfile measure(const Variant& variant, const ProfiledSystem& system);
  /// Warms up, then runs one evaluation for another profiler. cudaProfilerStart and cudaProfilerStop enclose it, or of
  /// a tree only the walk. Throws UsageError for a CPU kernel.
  void mark(const Variant& variant, const ProfiledSystem& system);

 private:
  struct PlannedCounters;

  void begin_plan();
  const PeakRates& peaks();
  void read_counters(OwnEvaluation& evaluation, KernelProfile& profile);

  const Backends& backends_;
  // Both members are used only in builds with CUDA.
  [[maybe_unused]] std::optional<PeakRates> peaks_;  // of the GPU; has no rsqrt_per_s
  std::shared_future<std::shared_ptr<const PlannedCounters>> planned_;
};

/// Adds the counters of a part of an evaluation to a profile. `metrics` has the names of the values in `range`.
void take_counters(KernelProfile& profile, const std::vector<std::string>& metrics, const cuda::CounterRange& range);

/// Adds the figures of a CPU kernel that follow from the vector instructions of one evaluation, see
/// OwnEvaluation::vector_instructions(). KernelProfile::problem says what the figures leave out.
void take_arithmetic(KernelProfile& profile, double vector_instructions, double interactions, bool is_tree);

/// Adds the figures that follow from others: rates, bytes per interaction, flop/s and flop per byte.
void derive_figures(KernelProfile& profile, double interactions);

}  // namespace orrery
