// Profiles of kernels: their time, their counters, and the figures that follow from them.
#include "app/features/profile/measure_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <future>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/features/profile/kernel_profile.h"
#include "app/lab/metadata.h"
#include "app/lab/statistics.h"
#include "app/text/parse_value.h"
#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/tree_facet.h"
#include "compute/kernels/vector_units.h"
#if ORRERY_HAVE_CUDA
#include "compute/cuda/device.h"
#endif

namespace orrery {
namespace {

using Clock = std::chrono::steady_clock;

class CpuEvaluation final : public OwnEvaluation {
 public:
  /// Makes a kernel without ranks, because fma_limit_per_s is the limit of this process's threads.
  CpuEvaluation(const Variant& variant, const Bodies& bodies, const Law& law)
      : kernel_{variant.kernel->make(variant.settings, nullptr)},
        bodies_{bodies.positions},
        accelerations_(bodies.positions.size()),
        masses_{mass_range(bodies_)},
        law_{law} {
    kernel_->prepare(static_cast<int>(bodies_.size()));
  }

  void start(int times) override {
    for (int time = 0; time < times; ++time) evaluate();
  }
  void wait() override {}
  void run_marked(cuda::RangeMarks& /*marks*/) override {
    throw std::logic_error("a CPU kernel has no hardware counters of a GPU");
  }
  double interactions() override {
    if (!kernel_->tree()) return ForceKernel::interactions(static_cast<int>(bodies_.size()));
    evaluated_ = 0;
    evaluate();
    return static_cast<double>(evaluated_);
  }
  double vector_instructions() override {
    if (kernel_->tree()) {
      evaluate();
      return kernel_->tree()->report().value().vector_instructions;
    }
    const auto* const facet = dynamic_cast<const ArithmeticFacet*>(kernel_.get());
    if (!facet) return std::numeric_limits<double>::quiet_NaN();
    return interactions() * facet->arithmetic().float_lanes(law_.id);
  }
  std::string chosen() const override { return kernel_->chosen(static_cast<int>(bodies_.size()), masses_); }

 private:
  void evaluate() {
    ForceArgs args{.bodies = bodies_.data(),
                   .count = static_cast<int>(bodies_.size()),
                   .masses = masses_,
                   .law = law_,
                   .epilogue = {.accelerations = accelerations_.data()}};
    if (kernel_->tree()) args.evaluated = &evaluated_;
    kernel_->evaluate(args);
  }

  std::unique_ptr<ForceKernel> kernel_;
  std::vector<Vec4> bodies_, accelerations_;
  MassRange masses_;
  Law law_;
  std::uint64_t evaluated_ = 0;
};

constexpr double warm_up_ms = 50;
constexpr double sample_ms = 10;  // shorter in total than planning the counters takes
constexpr int samples = 5;
constexpr int most_evaluations = 10'000;  // in one sample

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double run_ms(OwnEvaluation& evaluation, int times) {
  const Clock::time_point begin = Clock::now();
  evaluation.start(times);
  evaluation.wait();
  return ms_since(begin) / times;
}

/// Runs evaluations to warm up, which also raises the clocks. Returns the time of one, in ms.
double warm_up(OwnEvaluation& evaluation) {
  const Clock::time_point begin = Clock::now();
  double ms = run_ms(evaluation, 1);
  for (int times = 1; ms_since(begin) < warm_up_ms; times = std::min(2 * times, 64)) ms = run_ms(evaluation, times);
  return ms;
}

/// Returns the number of evaluations in a sample: a multiple of `period`, see Settings::period().
int evaluations_per_sample(double about_ms, int period) {
  const int times = std::clamp(static_cast<int>(sample_ms / std::max(about_ms, 1e-6)), 1, most_evaluations);
  return (times - 1) / period * period + period;
}

/// Measures the time of an evaluation, and on a GPU the power while evaluations run.
void measure_time(OwnEvaluation& evaluation, int times, const Backends& backends, KernelProfile& profile) {
  std::vector<double> times_ms;
  for (int sample = 0; sample < samples; ++sample) times_ms.push_back(run_ms(evaluation, times));
  profile.figures["time_ms"] = summarize(times_ms).median;
  if (!profile.on_gpu) return;
  evaluation.start(times);
  const Json state = machine_state(backends);
  evaluation.wait();
  if (!state.is_object()) return;
  for (const char* id : {"power_w", "clock_mhz"}) {
    const auto found = state.find(id);
    if (found != state.end() && found->is_number()) profile.figures[id] = found->get<double>();
  }
}

void take_fma_limit(const Variant& variant, OwnEvaluation& evaluation, KernelProfile& profile) {
  const int threads = variant.settings.has("threads") ? thread_count(variant.settings) : 1;
  const FmaLimit limit = measure_fma_limit(threads);
  profile.figures["threads"] = threads;
  profile.figures["fma_limit_per_s"] = limit.per_s;
  // A kernel whose chosen() names no instruction set adds one number at a time.
  const bool has_vectors = evaluation.chosen().find(limit.instruction_set) != std::string::npos;
  profile.figures["vector_bits"] = 8.0 * sizeof(float) * (has_vectors ? limit.lanes : 1);
}

#if ORRERY_HAVE_CUDA

PeakRates measure_roof(const cuda::Device& device) {
  return {.fma_per_s = cuda::measure_fma_rate(device), .dram_bytes_per_s = cuda::measure_dram_rate(device)};
}

/// Stores the counters of the part that sums the forces, and the share of this part in the evaluation's time.
void take_sum(const cuda::CounterPlan& plan, const std::vector<cuda::CounterRange>& parts, KernelProfile& profile) {
  if (parts.empty()) throw cuda::CuptiError("CUPTI returned no counters: no part of the evaluation was marked");
  profile.passes = plan.passes;
  double all_ms = 0;
  const cuda::CounterRange* sum = nullptr;
  for (const cuda::CounterRange& part : parts) {
    KernelProfile own;
    take_counters(own, plan.metrics, part);
    if (const double ms = own.figure("part_ms"); std::isfinite(ms)) all_ms += ms;
    if (sums_forces(part.name)) sum = &part;
  }
  if (!sum) throw cuda::CuptiError("CUPTI returned no counters of the sum of the forces");
  take_counters(profile, plan.metrics, *sum);
  if (parts.size() == 1) return;
  profile.part = sum->name;
  if (all_ms > 0) profile.figures["part_share"] = 100 * profile.figure("part_ms") / all_ms;
}

#endif

KernelProfile described(const Variant& variant, const ProfiledSystem& system, const Backends& backends) {
  KernelProfile profile;
  profile.kernel_id = variant.kernel->id;
  profile.settings = variant.settings.changes();
  profile.scene = system.scene;
  profile.count = system.bodies.count();
  profile.law = fmt::format("{}, softening {}", law_info(system.law.id).id, system.law.softening);
  if (system.law.id == LawId::attract_repel) profile.law += fmt::format(", repulsion {}", system.law.repulsion);
  profile.on_gpu = variant.kernel->backend == Backend::cuda;
  profile.device = backends.status(variant.kernel->backend).device;
  return profile;
}

}  // namespace

void take_counters(KernelProfile& profile, const std::vector<std::string>& metrics, const cuda::CounterRange& range) {
  const auto value_of = [&](std::string_view metric) {
    const auto found = std::ranges::find(metrics, metric);
    const auto at = static_cast<std::size_t>(found - metrics.begin());
    return at < range.values.size() ? range.values[at] : std::numeric_limits<double>::quiet_NaN();
  };
  for (const StallReason& reason : stall_reasons()) {
    const double warps = value_of(stall_metric(reason));
    if (std::isfinite(warps)) profile.stalls[reason.id] = warps;
  }
  for (const ProfileFigure& figure : profile_figures()) {
    for (const char* metric : figure.metrics) {
      const double value = metric ? value_of(metric) : std::numeric_limits<double>::quiet_NaN();
      if (!std::isfinite(value)) continue;
      profile.figures[figure.id] = value * figure.scale;
      break;
    }
  }
}

void derive_figures(KernelProfile& profile, double interactions) {
  const auto set = [&](const char* id, double value) {
    if (std::isfinite(value)) profile.figures[id] = value;
  };
  set("interactions_per_s", interactions / (profile.figure("time_ms") * 1e-3));
  const double bytes = profile.figure("dram_bytes");
  set("bytes_per_interaction", bytes / interactions);
  const double flop = profile.figure("fadd") + profile.figure("fmul") + 2 * profile.figure("ffma");
  set("flop_per_s", flop / (profile.figure(profile.part.empty() ? "time_ms" : "part_ms") * 1e-3));
  set("flop_per_byte", flop / bytes);
}

void take_arithmetic(KernelProfile& profile, double vector_instructions, double interactions, bool is_tree) {
  profile.problem = "A CPU kernel has no stall reasons: they are counters of a GPU.";
  if (!std::isfinite(vector_instructions)) {
    profile.problem += " This one does not state its arithmetic, so its share of the FMA limit is not known.";
    return;
  }
  profile.figures["arithmetic"] = vector_instructions / interactions;
  const double share =
      100 * vector_instructions / (profile.figure("time_ms") * 1e-3) / profile.figure("fma_limit_per_s");
  if (share <= 100) {
    profile.figures["fma_share"] = share;
  } else {
    profile.figures.erase("fma_limit_per_s");
    profile.problem +=
        " The FMA limit of this processor is not known: the kernel exceeded the measured limit. Other work slowed that "
        "measurement, or the processor also adds on other ports.";
  }
  if (is_tree) {
    profile.problem += " Of a tree, the arithmetic of its sums counts, but neither its build nor its walk to them.";
  }
}

#if ORRERY_HAVE_CUDA

struct ProfileMeasurement::PlannedCounters {
  cuda::Cupti cupti;
  cuda::CounterPlan plan;
};

/// Starts a thread that plans the counters, for which CUPTI reads its tables of the chip in about 0.2 s. The
/// evaluation's time is measured during this.
void ProfileMeasurement::begin_plan() {
  if (planned_.valid()) return;
  planned_ = std::async(std::launch::async, [this] {
               auto planned = std::make_shared<PlannedCounters>();
               planned->plan = planned->cupti.plan(*backends_.device(), profile_metrics());
               return std::shared_ptr<const PlannedCounters>{std::move(planned)};
             }).share();
}

const PeakRates& ProfileMeasurement::peaks() {
  if (!peaks_) peaks_ = measure_roof(*backends_.device());
  return *peaks_;
}

void ProfileMeasurement::read_counters(OwnEvaluation& evaluation, KernelProfile& profile) {
  constexpr std::size_t most_parts = 16;
  const std::shared_ptr<const PlannedCounters> planned = planned_.get();
  const cuda::CounterPlan& plan = planned->plan;
  profile.chip = plan.chip;
  profile.missing = plan.missing;
  const auto run = [&](cuda::RangeMarks& marks) { evaluation.run_marked(marks); };
  take_sum(plan, planned->cupti.measure(*backends_.device(), plan, most_parts, run), profile);
}

bool ProfileMeasurement::prepare() {
  constexpr std::size_t least_free_bytes = std::size_t{2} << 30;
  if (!backends_.device()) return true;
  if (backends_.device()->free_memory() < least_free_bytes) return false;
  begin_plan();
  (void)machine_state(backends_);  // loads NVML
  (void)planned_.get();            // waits, because CUPTI may stall the GPU during this
  peaks();
  return true;
}

#else

struct ProfileMeasurement::PlannedCounters {};

bool ProfileMeasurement::prepare() {
  return true;
}

#endif

KernelProfile ProfileMeasurement::measure(const Variant& variant, const ProfiledSystem& system) {
  KernelProfile profile = described(variant, system, backends_);
#if ORRERY_HAVE_CUDA
  if (profile.on_gpu) begin_plan();
#endif
  const std::unique_ptr<OwnEvaluation> evaluation = make_own_evaluation(backends_, variant, system.bodies, system.law);
  const int times = evaluations_per_sample(warm_up(*evaluation), variant.settings.period());
  measure_time(*evaluation, times, backends_, profile);
  const double interactions = evaluation->interactions();
#if ORRERY_HAVE_CUDA
  if (profile.on_gpu) {
    profile.figures["peak_flop_per_s"] = 2 * peaks().fma_per_s;
    if (peaks().dram_bytes_per_s > 0) profile.figures["peak_dram_per_s"] = peaks().dram_bytes_per_s;
    try {
      read_counters(*evaluation, profile);
    } catch (const cuda::CuptiError& error) {
      profile.problem = one_line(error.what());
    }
  }
#endif
  derive_figures(profile, interactions);
  if (!profile.on_gpu) {
    take_fma_limit(variant, *evaluation, profile);
    take_arithmetic(profile, evaluation->vector_instructions(), interactions, variant.kernel->is_tree);
  }
  return profile;
}

void ProfileMeasurement::mark(const Variant& variant, const ProfiledSystem& system) {
  if (variant.kernel->backend != Backend::cuda) {
    throw UsageError(std::string{"--marks-only is for kernels on CUDA; "} + variant.kernel->id + " runs on the CPU");
  }
#if ORRERY_HAVE_CUDA
  const std::unique_ptr<OwnEvaluation> evaluation = make_own_evaluation(backends_, variant, system.bodies, system.law);
  (void)warm_up(*evaluation);
  evaluation->run_marked(*external_marks());
#else
  (void)system;
#endif
}

std::unique_ptr<OwnEvaluation> make_own_evaluation([[maybe_unused]] const Backends& backends, const Variant& variant,
                                                   const Bodies& bodies, const Law& law) {
#if ORRERY_HAVE_CUDA
  if (variant.kernel->backend == Backend::cuda) return make_cuda_evaluation(backends, variant, bodies, law);
#endif
  return std::make_unique<CpuEvaluation>(variant, bodies, law);
}

bool sums_forces(std::string_view part) {
  return part == "evaluation" || part == "walk" || part == "force";
}

}  // namespace orrery
