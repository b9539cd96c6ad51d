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

/// Makes the evaluation of a CUDA kernel.
std::unique_ptr<OwnEvaluation> make_cuda_evaluation(const Backends& backends, const Variant& variant,
                                                    const Bodies& bodies, const Law& law);

/// Marks the work for another profiler: cudaProfilerStart and cudaProfilerStop around the part that sums the forces.
std::unique_ptr<cuda::RangeMarks> external_marks();

#endif

/// The bodies whose forces are profiled.
struct ProfiledSystem {
  std::string scene;
  Bodies bodies;
  Law law;
};

/// Profiles kernels one after the other, each with memory of its own. Needs the device for itself.
class ProfileMeasurement {
 public:
  /// `backends` must outlive it.
  explicit ProfileMeasurement(const Backends& backends) : backends_{backends} {}
  ProfileMeasurement(const ProfileMeasurement&) = delete;
  ProfileMeasurement& operator=(const ProfileMeasurement&) = delete;

  /// Prepares a GPU's first profile, some 0.3 s: reads CUPTI's tables of the chip, and measures the peak rates. Without
  /// a GPU, there is nothing to do. Returns false, and has done nothing, if the GPU has too little free memory to wait
  /// with it. Throws CuptiError.
  bool prepare();
  /// Takes about 0.25 s for evaluations of less than 10 ms. A GPU without counters gives a profile with its problem.
  /// Throws as make_own_evaluation().
  KernelProfile measure(const Variant& variant, const ProfiledSystem& system);
  /// Runs one evaluation, warmed up, between cudaProfilerStart and cudaProfilerStop; of a tree its walk alone. For
  /// another profiler. Throws UsageError for a CPU kernel.
  void mark(const Variant& variant, const ProfiledSystem& system);

 private:
  struct PlannedCounters;

  void begin_plan();
  const PeakRates& peaks();
  void read_counters(OwnEvaluation& evaluation, KernelProfile& profile);

  const Backends& backends_;
  // Both are used only in builds with CUDA.
  [[maybe_unused]] std::optional<PeakRates> peaks_;  // of the GPU, without rsqrt_per_s
  std::shared_future<std::shared_ptr<const PlannedCounters>> planned_;
};

/// Turns the counters of a part of an evaluation into the numbers of a profile. `metrics` and `values` belong together.
void take_counters(KernelProfile& profile, const std::vector<std::string>& metrics, const cuda::CounterRange& range);

/// Adds the figures of a CPU kernel that follow from the vector instructions of one evaluation, see
/// OwnEvaluation::vector_instructions(), and says what they leave out.
void take_arithmetic(KernelProfile& profile, double vector_instructions, double interactions, bool is_tree);

/// Computes the figures that follow from others: rates, bytes per interaction, the place in the roofline plot.
void derive_figures(KernelProfile& profile, double interactions);

}  // namespace orrery
