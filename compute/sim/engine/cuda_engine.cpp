#include <algorithm>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/cuda/device.h"
#include "compute/cuda/stream.h"
#include "compute/diagnostics/conserved_cuda.h"
#include "compute/diagnostics/magnitudes_cuda.h"
#include "compute/diagnostics/reference_cuda.h"
#include "compute/integrators/body_levels_cuda.h"
#include "compute/integrators/update_cuda.h"
#include "compute/sim/engine/checkpoints.h"
#include "compute/sim/engine/cuda_batch.h"
#include "compute/sim/engine/cuda_bodies.h"
#include "compute/sim/engine/cuda_bodies_lost.h"
#include "compute/sim/engine/cuda_measurement.h"
#include "compute/sim/engine/cuda_residents.h"
#include "compute/sim/engine/cuda_step_ops.h"
#include "compute/sim/engine/device_targets.h"
#include "compute/sim/engine/engine.h"
#include "compute/sim/engine/non_finite_watch.h"

namespace orrery {
namespace {

/// Batches that may be in flight: enough to keep the GPU busy, few enough that a command takes effect at once.
constexpr std::size_t max_batches = 3;

/// Every function that uses CUDA activates the device first: the thread may have used another one before.
class CudaEngine final : public Engine {
 public:
  CudaEngine(const cuda::Device& device, DeviceStorage* storage) : device_{device}, bodies_{device, storage, stream_} {}
  CudaEngine(const CudaEngine&) = delete;
  CudaEngine& operator=(const CudaEngine&) = delete;
  /// Kernels on the stream write to memory of this engine.
  ~CudaEngine() override { ORRERY_CUDA_WARN(cudaStreamSynchronize(stream_.get())); }

  void upload(const Bodies& bodies, const StepPlan& plan) override {
    device_.activate();
    residents_.end();
    stream_.synchronize();
    checkpoints_.judge(watch_);  // as long as it knows
    levels_.forget();            // the next steps take them anew
    const bool host_will_do = !bodies_.are_drawn() && CudaResidents::have_room(plan, bodies);
    const IntegratorInfo& integrator = *plan.integrator;
    if (bodies.count() != bodies_.count()) {
      if (!host_will_do) bodies_.require_room(bodies, integrator, hermite_.bytes() + checkpoints_.bytes());
      replace_all(bodies, host_will_do);
    } else {
      const std::size_t kept = integrator.needs_jerks ? hermite_.bytes() : 0;
      if (bodies.digits() != bodies_.digits()) bodies_.require_room(bodies, integrator, kept);
      bodies_.replace(bodies);
    }
    bodies_.allow_host_memory(host_will_do);
    accelerations_current_ = false;
    hermite_.bodies_replaced();  // begins anew
    watch_.clear();
    looked_at_ = false;
    in_use_ = true;
    set_plan(plan);
    plan_.kernel->bodies_replaced();
  }
  void bodies_moved() override { in_use_ = false; }

  Bodies download() override {
    device_.activate();
    residents_.fetch();
    return bodies_.download();
  }

  void copy_drawn(std::span<Vec4> positions, std::span<Vec4> velocities) override {
    device_.activate();
    residents_.fetch();
    bodies_.copy_drawn(positions, velocities);
  }

  HermiteState hermite_state() override {
    device_.activate();
    return hermite_.state(stream_.get());
  }
  void go_on(const HermiteState& state) override {
    device_.activate();
    hermite_.go_on(state, stream_.get());
  }

  std::vector<Vec4> accelerations(std::span<const int> targets) override {
    device_.activate();
    residents_.leave_to_engine();
    const DeviceTargets listed{device_, targets, stream_.get()};
    Mapping mapping = bodies_.map();
    const CudaStepParts parts = step_parts();
    plan_.kernel->evaluate(listed.of(parts.force_args(
        mapping.bodies, {.accelerations = parts.d_accelerations, .accelerations_low = parts.d_accelerations_low})));
    accelerations_current_ = targets.empty();
    std::vector<Vec4> result(bodies_.size());
    cuda::download<Vec4>(bodies_.d_accelerations(), result, stream_.get());
    stream_.synchronize();
    plan_.kernel->check_other_devices();
    mapping.unmap();
    return result;
  }

  void set_plan(const StepPlan& plan) override {
    if (plan.kernel != plan_.kernel || plan.law != plan_.law) {
      residents_.end();
      accelerations_current_ = false;
      hermite_.forget_pulls();
    }
    if (!plan.integrator->needs_jerks) hermite_.forget();
    if (!plan.integrator->block_steps) levels_.forget();
    plan_ = plan;
    batches_since_timed_ = 0;
  }

  /// Steps behind sums would keep the drawn buffers from the display until the sums end. Block steps wait for the
  /// stream when they begin.
  bool ready() const override {
    device_.activate();
    if (plan_.integrator->block_steps && !in_flight_.empty()) return in_flight_.back().done.reached();
    const auto sums_up = [](const CudaBatch& batch) {
      return batch.request.measure_conserved && !batch.done.reached();
    };
    if (std::ranges::any_of(in_flight_, sums_up)) return false;
    return in_flight_.size() < max_batches || in_flight_.front().done.reached();
  }

  void advance(const BatchRequest& request) override {
    device_.activate();
    CudaBatch batch = take_batch();
    batch.request = request;
    batch.time_step = plan_.time_step;
    batch.is_tree = plan_.kernel->tree() != nullptr;
    number_passes(request.begin.step, request.begin.step + request.steps);
    const std::vector<CudaMeasurement> measurements = measurements_of(request);
    if (plan_.integrator->needs_jerks) {
      hermite_.prepare(bodies_.count());
    } else if (plan_.integrator->block_steps) {
      levels_.prepare(bodies_.count(), bodies_.digits());
    }
    const bool stay = residents_.begin_batch(plan_, request);
    for (const CudaMeasurement& measurement : measurements) measurement.prepare();
    Mapping mapping = bodies_.map();
    batch.map_ms = mapping.map_ms;
    if (!looked_at_) look_at(mapping.bodies, request.begin.step);
    if (stay) residents_.take(*plan_.kernel, mapping.bodies, watch_.report());
    enqueue_steps(batch, mapping.bodies);
    look_at(mapping.bodies, batch.last_step());
    if (request.measure_conserved) residents_.fetch(mapping.bodies);
    for (const CudaMeasurement& measurement : measurements) measurement.read(mapping.bodies);
    batch.unmap_ms = mapping.unmap();
    for (const CudaMeasurement& measurement : measurements) measurement.compute();
    if (request.domains) residents_.read_owners(*plan_.kernel);
    batch.done.record(stream_.get());
    in_flight_.push_back(std::move(batch));
  }

  std::vector<BatchResult> collect() override {
    device_.activate();
    std::vector<BatchResult> ended;
    while (!in_flight_.empty() && named([&] { return in_flight_.front().done.reached(); })) {
      plan_.kernel->check_other_devices();
      ended.push_back(result_of(in_flight_.front()));
      free_.push_back(std::move(in_flight_.front()));
      in_flight_.pop_front();
    }
    return ended;
  }

  void wait(const std::stop_token& /*stop*/) override {
    device_.activate();
    named([&] { stream_.synchronize(); });
  }
  void cancel_and_wait() override {
    device_.activate();
    named([&] { residents_.bring_home(); });  // the kernel may be prepared for other bodies next
    wait({});
  }

  void keep(const StepTime& now) override {
    device_.activate();
    checkpoints_.judge(watch_);
    if (watch_.found()) return;
    residents_.fetch();
    number_passes(now.step, now.step);
    Mapping mapping = bodies_.map();
    if (!looked_at_) look_at(mapping.bodies, now.step);
    checkpoints_.keep(mapping.bodies, bodies_.count(), now, stream_.get());
    mapping.unmap();
  }
  std::optional<StepTime> checkpoint() override {
    device_.activate();
    checkpoints_.judge(watch_);
    return checkpoints_.at();
  }
  Bodies checkpoint_bodies() override {
    device_.activate();
    return checkpoints_.download(stream_.get());
  }
  void forget_checkpoint() override {
    device_.activate();
    checkpoints_.forget();
  }

 private:
  /// A failure that reaches the bodies' device may have begun on another one, which is then named instead.
  template <class Call>
  std::invoke_result_t<const Call&> named(const Call& call) {
    try {
      return call();
    } catch (const std::exception&) {
      if (plan_.kernel) plan_.kernel->check_other_devices();
      throw;
    }
  }
  /// For what is enqueued next.
  CudaStepParts step_parts() {
    return {.device = device_,
            .stream = stream_.get(),
            .plan = plan_,
            .count = bodies_.count(),
            .masses = bodies_.masses(),
            .d_accelerations = residents_.hold() ? bodies_.d_accelerations() : bodies_.take_accelerations(),
            .d_accelerations_low = plan_.reads_low_words ? bodies_.d_accelerations_low() : nullptr,
            .accelerations_current = accelerations_current_,
            .levels = levels_,
            .hermite = hermite_,
            .comparison = comparison_,
            .watch = watch_,
            .residents = residents_.hold() ? &residents_ : nullptr};
  }

  std::vector<CudaMeasurement> measurements_of(const BatchRequest& request) {
    std::vector<CudaMeasurement> measurements;
    if (request.probe.sample > 0) {  // CudaStepOps::force() enqueues it, behind the evaluation that it compares
      measurements.push_back({.prepare = [=, this] { comparison_.prepare(bodies_.count(), request.probe); }});
    }
    if (request.tree_cells.most > 0) {
      measurements.push_back(
          {.prepare = [=, this] { plan_.kernel->tree()->prepare_cells(request.tree_cells, bodies_.count()); },
           .read = [=, this](
                       const DeviceBodies&) { plan_.kernel->tree()->pick_cells(request.tree_cells, stream_.get()); }});
    }
    if (request.accelerations) {
      measurements.push_back(
          {.prepare = [this] { magnitudes_.prepare(bodies_.count()); },
           .compute = [this] { magnitudes_.enqueue(bodies_.d_accelerations(), bodies_.count(), stream_.get()); }});
    }
    if (request.measure_conserved) {
      measurements.push_back({.prepare = [this] { sums_.prepare(bodies_.count(), bodies_.digits()); },
                              .read =
                                  [this](const DeviceBodies& bodies) {
                                    sums_.keep(bodies.positions, bodies.velocities, bodies.positions_low,
                                               bodies.velocities_low, bodies_.count(), stream_.get());
                                  },
                              .compute = [this] { sums_.enqueue(plan_.law, stream_.get()); }});
    }
    return measurements;
  }

  void enqueue_steps(CudaBatch& batch, const DeviceBodies& bodies) {
    const BatchRequest& request = batch.request;
    if (batch.is_tree) batch.count_interactions(device_, stream_.get());
    batch.begin.record(stream_.get());
    CudaStepOps ops{step_parts(), bodies, batch};
    const bool times = request.steps > max_timed_steps || batches_since_timed_ == 0;
    const int timed = times ? std::min(request.steps, max_timed_steps) : 0;
    if (request.steps > 0) batches_since_timed_ = (batches_since_timed_ + 1) % batches_for_a_timed_one;
    for (int step = 0; step < request.steps; ++step) {
      ops.begin_step(request.begin.step + step + 1, batch.times_step(step, timed));
      plan_.integrator->step(ops, plan_.time_step);
    }
    const bool is_stale = (request.accelerations && !accelerations_current_) || residents_.lack_tree(plan_, request);
    if (request.steps == 0 && (request.probe.sample > 0 || is_stale)) {
      ops.begin_step(request.begin.step, /*timed=*/false);
      ops.force(/*store=*/true, 0);
    }
    ops.end_steps();
    batch.end.record(stream_.get());
    if (batch.is_tree) batch.fetch_interactions(stream_.get());
  }

  /// Before passes of the steps from `first` to `last` are enqueued.
  void number_passes(std::int64_t first, std::int64_t last) {
    if (!watch_.reaches(last)) stream_.synchronize();
    if (in_flight_.empty() || !watch_.reaches(last)) watch_.count_from(first);
  }

  void look_at(const DeviceBodies& bodies, std::int64_t step) {
    looked_at_ = true;
    const std::uint32_t pass = watch_.pass_after(step);
    if (residents_.hold()) return residents_.look(watch_.report(), pass);
    cuda::check_finite(bodies.positions, bodies.velocities, bodies_.count(), watch_.report(), pass, stream_.get());
  }

  /// Of a batch that the stream has passed.
  BatchResult result_of(const CudaBatch& batch) {
    BatchResult result;
    if (const auto& found = watch_.found(); found && found->step <= batch.last_step()) result.non_finite = found;
    const bool probed = batch.probed_step >= 0;
    result.timing = batch.timing(probed ? comparison_.ms() : 0, force_share_, result.non_finite);
    if (batch.timed_evaluations > 0 && result.timing.step_ms > 0) {
      force_share_ = result.timing.force_ms / result.timing.step_ms;
    }
    if (result.non_finite) return result;
    result.levels = batch.levels;
    result.device_loads = plan_.kernel->device_loads();
    if (batch.is_tree) describe_tree(*plan_.kernel->tree(), batch, result);
    if (probed) {
      result.force_probe = {.step = batch.probed_step,
                            .sample = comparison_.sample(),
                            .error = comparison_.error(),
                            .ms = comparison_.ms(),
                            .bodies = std::make_shared<const BodyErrors>(comparison_.body_errors())};
    }
    if (batch.request.accelerations) {
      result.accelerations =
          std::make_shared<const Accelerations>(Accelerations{batch.last_step(), magnitudes_.values()});
    }
    if (batch.request.domains) result.domains = domains_of(*plan_.kernel, batch.last_step(), bodies_.count());
    if (batch.request.measure_conserved) {
      result.conserved = {.step = batch.last_step(),
                          .sim_time = batch.request.begin.after(batch.request.steps, batch.time_step).sim_time,
                          .sums = sums_.sums(),
                          .ms = sums_.ms()};
    }
    return result;
  }

  /// Replaces the bodies by another number of them. There may not be memory for both: the old ones wait in host memory,
  /// and come back if the new ones do not fit.
  void replace_all(const Bodies& bodies, bool host_will_do) {
    const Bodies before = in_use_ ? bodies_.download() : Bodies{};
    const HermiteState doubles = in_use_ ? hermite_.state(stream_.get()) : HermiteState{};
    const bool before_allowed = bodies_.allows_host_memory();
    try {
      bodies_.allow_host_memory(host_will_do);
      resize(bodies);
    } catch (...) {
      bodies_.allow_host_memory(before_allowed);
      if (in_use_) bring_back(before, doubles);
      throw;
    }
  }
  void bring_back(const Bodies& before, const HermiteState& doubles) {
    try {
      resize(before);
      if (!doubles.bodies.empty()) hermite_.go_on(doubles, stream_.get());
    } catch (const std::exception& failure) {
      if (dynamic_cast<const BackendLost*>(&failure)) throw;
      throw CudaBodiesLost{std::string{"the bodies cannot be brought back: "} + failure_text(failure)};
    }
    accelerations_current_ = false;
  }
  void resize(const Bodies& bodies) {
    checkpoints_.forget();
    hermite_.forget();
    bodies_.resize(bodies.count(), bodies.digits());
    bodies_.replace(bodies);
  }
  CudaBatch take_batch() {
    if (free_.empty()) return CudaBatch{device_};
    CudaBatch batch = std::move(free_.back());
    free_.pop_back();
    batch.reset();
    return batch;
  }

  const cuda::Device& device_;
  cuda::Stream stream_{device_};
  CudaBodies bodies_;
  bool in_use_ = false;  // no other engine has the present bodies
  bool accelerations_current_ = false;
  CudaResidents residents_{bodies_, stream_.get(), accelerations_current_};  // says whether bodies_ is behind
  cuda::BodyLevels levels_{device_};
  cuda::HermiteBodies hermite_{device_};  // no memory but with an integrator that needs jerks
  StepPlan plan_;
  std::deque<CudaBatch> in_flight_;
  int batches_since_timed_ = 0;
  double force_share_ = 0;  // of a step's time, in the latest batch that was timed
  std::vector<CudaBatch> free_;
  cuda::ForceComparison comparison_{device_};
  cuda::ConservedSums sums_{device_};
  cuda::Magnitudes magnitudes_{device_};
  NonFiniteWatch watch_{device_, stream_.get()};
  bool looked_at_ = false;  // the uploaded bodies, whether they are finite
  Checkpoints checkpoints_{device_};
};

}  // namespace

std::unique_ptr<Engine> make_cuda_engine(const cuda::Device& device, DeviceStorage* storage) {
  return std::make_unique<CudaEngine>(device, storage);
}

}  // namespace orrery
