#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "compute/core/backend.h"
#include "compute/core/bodies.h"
#include "compute/core/error.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/diagnostics/diagnostics_cuda.h"
#include "compute/integrators/hermite_bodies_cuda.h"
#include "compute/integrators/update_cuda.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/shared_facets.h"
#include "compute/sim/cuda_bodies.h"
#include "compute/sim/engine.h"

namespace orrery {
namespace {

/// Maximum number of steps that are timed in one batch. A longer batch times a sample of its steps, since two events
/// cost some microseconds.
constexpr int max_timed_steps = 8;

/// Maximum number of evaluations that are timed in one batch, which keeps two events for each. A step of
/// hermite4-blocks may have 32,768 evaluations.
constexpr std::size_t max_timed_evaluations = 2048;

/// One of this many short batches is timed. Events prevent a kernel from starting while the previous one ends, which
/// would lengthen every step.
constexpr int batches_for_a_timed_one = 16;

/// A batch on the stream: its request, and the time stamps of its steps.
struct CudaBatch {
  explicit CudaBatch(const cuda::Device& device)
      : begin{device}, end{device}, probe_begin{device}, probe_end{device}, done{device} {}

  BatchRequest request;
  int evaluations = 0;
  std::vector<int> evaluations_before;  // evaluations before each step
  double interactions = 0;              // of all evaluations; not used for a tree
  float time_step = 0;
  double map_ms = 0, unmap_ms = 0;
  cuda::Event begin, end;              // begin and end of the steps
  cuda::Event probe_begin, probe_end;  // begin and end of the comparison of forces between them, if probed_step >= 0
  cuda::Event done;                    // end of the measurements after the steps
  bool times_evaluations = false;      // whether the evaluations of the current step are timed
  std::vector<std::pair<cuda::Event, cuda::Event>> evaluation_events;  // begin and end of each timed evaluation
  std::size_t timed_evaluations = 0;  // number of entries of `evaluation_events` that this batch used
  std::int64_t probed_step = -1;      // -1: none
  bool is_tree = false;
  std::optional<LevelCounts> levels;              // bodies per level in the last step; none without block steps
  cuda::DeviceArray<std::uint64_t> evaluated;     // interactions of a tree, counted on the device
  cuda::HostArray<std::uint64_t> evaluated_here;  // host copy of `evaluated`, valid once `done`

  /// Prepares this object for another batch. The events are reused.
  void reset() {
    evaluations = 0;
    evaluations_before.clear();
    interactions = 0;
    levels.reset();
    timed_evaluations = 0;
    probed_step = -1;
  }

  /// Counts an evaluation with `of_it` interactions.
  void count_evaluation(double of_it) {
    ++evaluations;
    interactions += of_it;
  }

  /// Call before an evaluation is enqueued. If it is timed, records its begin and returns the event of its end, which
  /// the caller records; otherwise returns null.
  const cuda::Event* begin_evaluation(const cuda::Device& device, cudaStream_t stream) {
    if (!times_evaluations || timed_evaluations == max_timed_evaluations) return nullptr;
    if (timed_evaluations == evaluation_events.size())
      evaluation_events.emplace_back(cuda::Event{device}, cuda::Event{device});
    const auto& [from, to] = evaluation_events[timed_evaluations++];
    from.record(stream);
    return &to;
  }

  /// Discards the timed evaluations after the first `most`: they had no bodies.
  void keep_timed(std::size_t most) { timed_evaluations = std::min(timed_evaluations, most); }

  /// Sets the count of a tree's interactions to 0. Call before the steps of a tree.
  void count_interactions(const cuda::Device& device, cudaStream_t stream) {
    if (evaluated.size() == 0) {
      evaluated = cuda::DeviceArray<std::uint64_t>(device, 1);
      evaluated_here = cuda::HostArray<std::uint64_t>(device, 1, /*pinned=*/true);
    }
    ORRERY_CUDA_CHECK(cudaMemsetAsync(evaluated.data(), 0, sizeof(std::uint64_t), stream));
  }
  /// Enqueues the copy of the count to the host. Call after the steps of a tree.
  void fetch_interactions(cudaStream_t stream) { cuda::download(evaluated.data(), evaluated_here.first(1), stream); }
  /// Returns the mean number of interactions. Call once `done`.
  double interactions_per_evaluation() const {
    const double all = is_tree ? static_cast<double>(evaluated_here.first(1)[0]) : interactions;
    return all / std::max(evaluations, 1);
  }

  /// Returns whether the step with index `step` is timed. The `timed` steps are spread evenly over the batch.
  bool times_step(int step, int timed) const {
    const auto timed_before = [&](int end) { return static_cast<std::int64_t>(end) * timed / request.steps; };
    return timed_before(step + 1) != timed_before(step);
  }

  std::int64_t last_step() const { return request.begin.step + request.steps; }

  /// Returns the time of the comparison of forces, with its preparation; 0 if there was none.
  double probe_ms() const { return probed_step < 0 ? 0 : cuda::elapsed_ms(probe_begin, probe_end); }

  /// Returns the timing. If no evaluation was timed, `force_share` is the share of evaluations in the steps' time.
  /// After a non-finite body, the times are still those of whole steps, since the kernels continued.
  StepTiming timing(double force_share, const std::optional<NonFinite>& non_finite) const {
    const double steps_ms = cuda::elapsed_ms(begin, end) - probe_ms();
    double evaluation_ms = force_share * steps_ms / std::max(evaluations, 1);
    if (timed_evaluations > 0) {
      double timed_ms = 0;
      for (std::size_t i = 0; i < timed_evaluations; ++i)
        timed_ms += cuda::elapsed_ms(evaluation_events[i].first, evaluation_events[i].second);
      evaluation_ms = timed_ms / static_cast<double>(timed_evaluations);
    }
    StepTiming timing =
        batch_timing(request.tag, request.steps, evaluations, steps_ms, evaluation_ms, interactions_per_evaluation());
    timing.map_ms = map_ms;
    timing.unmap_ms = unmap_ms;
    if (non_finite) {
      timing.steps = static_cast<int>(std::max<std::int64_t>(non_finite->step - request.begin.step, 0));
      if (timing.steps < request.steps) {
        timing.evaluations = evaluations_before[static_cast<std::size_t>(timing.steps)];
      }
    }
    return timing;
  }
};

/// Adds the tree to the result of a batch that has ended on the stream. The report may belong to a later batch; the
/// interactions and the cells belong to this one.
void describe_tree(const TreeFacet& tree, const CudaBatch& batch, BatchResult& result) {
  if (batch.evaluations > 0) {
    result.tree = tree.report();
    if (result.tree) result.tree->interactions = std::llround(batch.interactions_per_evaluation());
  }
  if (const CellRequest& asked = batch.request.tree_cells; asked.most > 0) {
    result.tree_cells = tree_cells_of(tree, batch.last_step(), asked);
  }
}

/// Error: GPU memory is too small to restore the engine's bodies, or several GPUs that held the bodies failed.
struct CudaBodiesLost final : std::runtime_error, BodiesLost {
  using runtime_error::runtime_error;
  Backend backend() const noexcept override { return Backend::cuda; }
};

/// A measurement in a batch, on the stream of its steps. Functions that are not set do nothing.
struct CudaMeasurement {
  /// Allocates memory. Called before the first launch, since an allocation waits for the device and may fail.
  std::function<void()> prepare = [] {};
  /// Reads the bodies. Called after the steps, while the bodies are mapped.
  std::function<void(const DeviceBodies&)> read = [](const DeviceBodies&) {};
  /// Computes the result. Called after the bodies are unmapped, so that the display does not wait for it.
  std::function<void()> compute = [] {};
};

/// Target indices of one evaluation, in device memory; empty: every body is a target.
class DeviceTargets {
 public:
  DeviceTargets(const cuda::Device& device, std::span<const int> targets, cudaStream_t stream) {
    if (targets.empty()) return;
    indices_ = cuda::DeviceArray<int>(device, targets.size());
    cuda::upload(targets, indices_.data(), stream);
  }
  /// Returns `args` with these targets. This object must exist until the evaluation has ended.
  ForceArgs of(ForceArgs args) const {
    if (indices_.size() == 0) return args;
    args.targets = {.indices = indices_.data(), .count = static_cast<int>(indices_.size())};
    return args;
  }

 private:
  cuda::DeviceArray<int> indices_;
};

/// Checkpoints in device memory: one whose bodies are known to be finite, and one that is still to be checked.
class Checkpoints {
 public:
  explicit Checkpoints(const cuda::Device& device) : device_{device}, copies_{Copy{device}, Copy{device}} {}

  /// Enqueues a copy of the bodies. Does nothing if the last copy has not been judged yet, or if memory is short.
  void keep(const DeviceBodies& bodies, int count, const StepTime& now, cudaStream_t stream) {
    const Digits digits = bodies.positions_low ? Digits::compensated : Digits::single;
    Copy& next = copies_[1];
    if (next.at || !make_room(next, static_cast<std::size_t>(count), low_words_of(count, digits))) return;
    copy(bodies.positions, next.positions, stream);
    copy(bodies.velocities, next.velocities, stream);
    copy(bodies.positions_low, next.positions_low, stream);
    copy(bodies.velocities_low, next.velocities_low, stream);
    next.done.record(stream);
    next.at = now;
  }

  /// If the last copy is complete, makes it the checkpoint, or drops it if a body was not finite.
  void judge(NonFiniteWatch& watch) {
    Copy& next = copies_[1];
    if (!next.at || !next.done.reached()) return;
    const std::optional<NonFinite>& non_finite = watch.found();
    if (!non_finite || non_finite->step > next.at->step) std::swap(copies_[0], copies_[1]);
    copies_[1].at.reset();
  }

  const std::optional<StepTime>& at() const { return copies_[0].at; }
  /// Returns the checkpoint. Waits for the stream.
  Bodies download(cudaStream_t stream) const {
    const Copy& latest = copies_[0];
    Bodies bodies;
    download(latest.positions, bodies.positions, stream);
    download(latest.velocities, bodies.velocities, stream);
    download(latest.positions_low, bodies.positions_low, stream);
    download(latest.velocities_low, bodies.velocities_low, stream);
    ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream));
    return bodies;
  }

  /// Frees the memory. Call only while nothing is enqueued.
  void forget() { copies_ = {Copy{device_}, Copy{device_}}; }
  std::size_t bytes() const { return copies_[0].bytes() + copies_[1].bytes(); }

 private:
  struct Copy {
    explicit Copy(const cuda::Device& device) : done{device} {}
    std::size_t bytes() const { return 2 * (positions.size() + positions_low.size()) * sizeof(Vec4); }
    cuda::DeviceArray<Vec4> positions, velocities;
    cuda::DeviceArray<Vec4> positions_low, velocities_low;  // empty without low words
    cuda::Event done;
    std::optional<StepTime> at;  // none: the copy is not in use
  };

  bool make_room(Copy& copy, std::size_t size, std::size_t low_words) const {
    if (copy.positions.size() == size && copy.positions_low.size() == low_words) return true;
    if (device_.free_memory() < 2 * (size + low_words) * sizeof(Vec4) + reserve_bytes) return false;
    cuda::DeviceArray<Vec4> positions{device_, size}, velocities{device_, size};
    cuda::DeviceArray<Vec4> positions_low{device_, low_words}, velocities_low{device_, low_words};
    copy.positions = std::move(positions);  // from here on nothing can fail
    copy.velocities = std::move(velocities);
    copy.positions_low = std::move(positions_low);
    copy.velocities_low = std::move(velocities_low);
    return true;
  }
  static void copy(const Vec4* from, const cuda::DeviceArray<Vec4>& to, cudaStream_t stream) {
    ORRERY_CUDA_CHECK(cudaMemcpyAsync(to.data(), from, to.size() * sizeof(Vec4), cudaMemcpyDefault, stream));
  }
  static void download(const cuda::DeviceArray<Vec4>& from, std::vector<Vec4>& to, cudaStream_t stream) {
    to.resize(from.size());
    cuda::download<Vec4>(from.data(), to, stream);
  }

  const cuda::Device& device_;
  std::array<Copy, 2> copies_;  // the checkpoint, then the copy to be judged
};

/// Access to the bodies of a CUDA engine while the devices of its kernel hold them. The engine's own bodies are then
/// outdated until fetch(). All functions enqueue on the stream of the engine or of another device.
class CudaResidents {
 public:
  /// `accelerations_current` is set to false when the engine or the devices take over the bodies.
  CudaResidents(CudaBodies& bodies, cudaStream_t stream, bool& accelerations_current)
      : bodies_{bodies}, stream_{stream}, accelerations_current_{accelerations_current} {}

  /// Prepares for a batch, and returns whether the devices will run its steps. Throws as leave_to_engine().
  bool begin_batch(const StepPlan& plan, const BatchRequest& batch) {
    const bool stay = suit(plan, batch);
    stay ? spare_memory(batch) : leave_to_engine(batch);
    return stay;
  }
  /// Returns whether the batch reads the cells of a tree that only the devices had. The engine must then build one.
  bool lack_tree(const StepPlan& plan, const BatchRequest& batch) const {
    return batch.tree_cells.most > 0 && !accelerations_current_ && can_be_held(plan);
  }

  /// Returns whether the kernel's devices have the memory to hold these bodies, except in batches for which
  /// needs_engine() is true. The engine's own bodies may then be in host memory.
  static bool have_room(const StepPlan& plan, const Bodies& bodies) {
    const ResidentFacet* const devices = residents_of(*plan.kernel);
    return devices && bodies.digits() == Digits::single && moves_all_alike(*plan.integrator) &&
           devices->has_room(bodies.count());
  }

  /// Returns whether the devices hold the bodies.
  bool have_bodies() const { return holder_ != nullptr; }

  /// Gives the bodies to the devices, unless they hold them already or lack the memory. If they lack it, the engine
  /// runs the steps until the bodies or the kernel are replaced. If its bodies are in host memory, this batch is slow;
  /// later ones move them to the device.
  void take(ForceKernel& kernel, const DeviceBodies& bodies, const cuda::NonFiniteReport& report) {
    if (have_bodies()) return;
    accelerations_current_ = false;
    ResidentFacet* const devices = residents_of(kernel);
    try {
      devices->hold(bodies.positions, bodies.velocities, bodies_.count(), report.d_first, stream_);
      holder_ = devices;
      spared_ = false;
    } catch (const UsageError&) {
      refused_ = true;
    }
  }
  // If the devices fail, the next functions throw CudaBodiesLost if the engine's own bodies are outdated; otherwise
  // they throw as ForceKernel::evaluate().
  void evaluate(const ForceArgs& args) {
    by_devices([&] { holder_->evaluate_residents(args); });
  }
  /// Enqueues cuda::kick_drift() on the devices.
  void kick_drift(const cuda::KickDrift& pass, const cuda::NonFiniteCheck& check) {
    ahead_ = true;
    by_devices([&] { holder_->kick_drift(pass, check, stream_); });
  }
  /// Enqueues cuda::check_finite() on the devices. The report includes their earlier findings.
  void look(const cuda::NonFiniteReport& report, std::uint32_t pass) {
    by_devices([&] { holder_->check_finite(report, pass, stream_); });
  }
  /// Enqueues read_owners() of the kernel.
  void read_owners(ForceKernel& kernel) {
    by_devices([&] { orrery::read_owners(kernel, bodies_.count(), stream_); });
  }
  /// Copies the positions and accelerations of the latest evaluation. The engine's own bodies stay outdated.
  void collect_forces(Vec4* d_positions, Vec4* d_accelerations) {
    by_devices([&] { holder_->collect(d_positions, nullptr, stream_, d_accelerations); });
  }
  /// Updates the engine's own bodies. The devices continue to hold the bodies.
  void fetch(const DeviceBodies& bodies) {
    if (ahead_) by_devices([&] { holder_->collect(bodies.positions, bodies.velocities, stream_); });
    ahead_ = false;
  }
  void fetch() {
    if (!ahead_) return;
    bodies_.take_back();
    Mapping mapping = bodies_.map();
    fetch(mapping.bodies);
    mapping.unmap();
  }
  /// Updates the engine's own bodies, and ends the devices' hold on theirs. Call before the engine changes its bodies
  /// or runs steps itself.
  void bring_home() {
    fetch();
    if (have_bodies()) accelerations_current_ = false;
    forget();
  }
  /// Calls bring_home(), and lets take() try again after devices lacked memory. Call before the bodies, the kernel or
  /// the law are replaced.
  void end() {
    bring_home();
    refused_ = false;
  }
  /// Calls bring_home(), and moves the engine's bodies to its device. Call before the engine runs steps itself. Throws
  /// UsageError if device memory is short.
  void leave_to_engine() {
    bring_home();
    bodies_.bring_to_device();
  }

 private:
  /// Returns whether the integrator's steps are kicks and drifts of all bodies, which the devices can run.
  static bool moves_all_alike(const IntegratorInfo& integrator) {
    return !integrator.block_steps && !integrator.needs_jerks;
  }
  /// Returns whether the devices of this kernel can hold the bodies during the batch.
  bool suit(const StepPlan& plan, const BatchRequest& batch) const {
    return !refused_ && batch.steps > 0 && !needs_engine(batch) && moves_all_alike(*plan.integrator) &&
           can_be_held(plan);
  }
  /// Frees the memory of the engine's own bodies while the devices hold them, unless the batch needs it. If a later
  /// batch needs it, allocates it again and keeps it. Call before a batch whose steps the devices run.
  void spare_memory(const BatchRequest& batch) {
    const bool compares = batch.probe.sample > 0;
    if (compares) bodies_.take_accelerations();
    if (compares || batch.measure_conserved) return bodies_.take_back();
    if (!have_bodies() || spared_) return;
    spared_ = ahead_ = true;
    bodies_.give_back();
  }
  /// Prepares the engine's own bodies for a batch whose steps the devices do not run.
  void leave_to_engine(const BatchRequest& batch) {
    if (batch.steps > 0 || needs_engine(batch)) return leave_to_engine();
    fetch();
  }
  /// Returns whether the batch needs the engine's own bodies: to compare forces without a step, to read the
  /// accelerations, or to read cells of the tree.
  static bool needs_engine(const BatchRequest& batch) {
    return (batch.probe.sample > 0 && batch.steps == 0) || batch.accelerations || batch.tree_cells.most > 0;
  }
  /// Returns whether the kernel's devices can hold the bodies. They cannot hold drawn bodies, because the other devices
  /// cannot write to OpenGL's memory on the first device.
  bool can_be_held(const StepPlan& plan) const {
    const ResidentFacet* const devices = residents_of(*plan.kernel);
    return devices && !bodies_.are_drawn() && bodies_.digits() == Digits::single && devices->can_hold(bodies_.count());
  }
  void forget() {
    holder_ = nullptr;
    ahead_ = false;
  }
  template <class Work>
  void by_devices(const Work& work) {
    try {
      work();
    } catch (const std::exception& failure) {
      const bool lost = ahead_ && !dynamic_cast<const BackendLost*>(&failure);
      refused_ |= dynamic_cast<const UsageError*>(&failure) != nullptr;  // no memory
      forget();
      if (!lost) throw;
      throw CudaBodiesLost{std::string{"the bodies that the devices held are lost: "} + failure_text(failure)};
    }
  }

  CudaBodies& bodies_;
  cudaStream_t stream_;
  bool& accelerations_current_;
  ResidentFacet* holder_ = nullptr;  // facet of the plan's kernel; null: its devices do not hold these bodies
  bool ahead_ = false;
  bool spared_ = false;   // the engine's own memory was freed since take()
  bool refused_ = false;  // the devices lacked memory
};

/// The operations of Hermite integrators on the mapped arrays, for one batch.
class CudaHermiteOps final : public HermiteOps {
 public:
  struct Parts {
    cuda::HermiteBodies& state;
    StateArrays arrays;
    int count;
    Vec4* d_accelerations;
    bool& accelerations_current;
    const StepPlan& plan;
    const cuda::Device& device;
    cudaStream_t stream;
    CudaBatch& batch;
    std::function<cuda::NonFiniteCheck()> next_check;
  };

  explicit CudaHermiteOps(Parts parts) : parts_{std::move(parts)} {}

  int begin(float time_step, bool share_steps) override {
    cuda::HermiteBodies& state = parts_.state;
    if (!state.started()) state.start(parts_.arrays, parts_.stream);
    if (!state.pulls_current()) {
      state.predict_begin(parts_.stream);
      evaluate_active();
      state.take_first_pulls(parts_.plan.criterion(), parts_.plan.law.effective_drag(), parts_.stream);
    }
    return state.begin(time_step, share_steps, parts_.stream);
  }
  void predict(const Substep& now) override { parts_.state.predict(now, parts_.stream); }
  void evaluate(const Substep& /*now*/) override { evaluate_active(); }
  int correct(const Substep& now) override {
    return parts_.state.correct(now, parts_.plan.correction(), parts_.stream);
  }
  /// Runs the moments of a step. If the kernel counts targets on the device, the host enqueues several moments at a
  /// time, and waits once for their numbers and counts.
  void take_moments(float time_step, int deepest) override {
    if (!jerks().counts_targets_on_device(parts_.count)) return HermiteOps::take_moments(time_step, deepest);
    cuda::HermiteBodies& state = parts_.state;
    state.begin_moments(parts_.stream);
    for (bool ended = false; !ended;) {
      const std::size_t timed_before = parts_.batch.timed_evaluations;
      for (int place = 0; place < cuda::HermiteBodies::moments_at_once; ++place) {
        state.predict_next(place, time_step, parts_.stream);
        JerkArgs args = jerk_args({state.d_listed(), parts_.count});
        args.d_target_count = state.d_listed_count(place);
        enqueue(args);
        state.correct_next(place, time_step, parts_.plan.correction(), parts_.stream);
      }
      std::size_t taken = 0;
      for (const cuda::HermiteMoment& moment : state.take_moments(parts_.stream)) {
        ended = moment.number >= 1 << most_level;
        if (moment.active == 0) break;  // the step ended at an earlier moment
        parts_.batch.count_evaluation(static_cast<double>(moment.active) * parts_.count);
        ++taken;
      }
      parts_.batch.keep_timed(timed_before + taken);
    }
  }
  void end() override {
    parts_.state.write(parts_.arrays, parts_.d_accelerations, parts_.next_check(), parts_.stream);
    parts_.accelerations_current = false;  // the stored accelerations are those at predicted positions
    if (parts_.plan.integrator->block_steps) parts_.batch.levels = parts_.state.counts();
  }

 private:
  JerkFacet& jerks() const { return *parts_.plan.kernel->jerks(); }
  JerkArgs jerk_args(const Targets& targets) const {
    return {.bodies = parts_.state.d_predicted(),
            .count = parts_.count,
            .targets = targets,
            .law = parts_.plan.law,
            .pulls = parts_.state.d_pulls(),
            .stream = parts_.stream};
  }
  void evaluate_active() {
    const JerkArgs args = jerk_args({parts_.state.d_active(), parts_.state.active_count()});
    parts_.batch.count_evaluation(static_cast<double>(args.target_count()) * args.count);
    enqueue(args);
  }
  void enqueue(const JerkArgs& args) {
    const cuda::Event* const end = parts_.batch.begin_evaluation(parts_.device, parts_.stream);
    jerks().evaluate_jerks(args);
    if (end) end->record(parts_.stream);
  }

  Parts parts_;
};

/// The parts of a CUDA engine that its steps work on.
struct CudaStepParts {
  const cuda::Device& device;
  cudaStream_t stream;
  const StepPlan& plan;
  int count;
  MassRange masses;
  Vec4* d_accelerations;
  Vec4* d_accelerations_low;  // null: the kernel gives none, or the bodies have no low words
  bool& accelerations_current;
  cuda::BodyLevels& levels;
  cuda::HermiteBodies& hermite;
  cuda::ForceComparison& comparison;
  const NonFiniteWatch& watch;
  CudaResidents* residents = nullptr;  // null: the engine runs the steps itself

  ForceArgs force_args(const DeviceBodies& bodies, const Epilogue& epilogue) const {
    return {.bodies = bodies.positions,
            .bodies_low = bodies.positions_low,
            .count = count,
            .masses = masses,
            .law = plan.law,
            .epilogue = epilogue,
            .stream = stream};
  }
  StateArrays arrays(const DeviceBodies& bodies) const {
    return {.positions = bodies.positions,
            .velocities = bodies.velocities,
            .accelerations = d_accelerations,
            .positions_low = bodies.positions_low,
            .velocities_low = bodies.velocities_low,
            .accelerations_low = d_accelerations_low};
  }
};

/// The integrator's operations on the mapped arrays, for one batch.
class CudaStepOps final : public StepOps {
 public:
  CudaStepOps(const CudaStepParts& parts, const DeviceBodies& bodies, CudaBatch& batch)
      : parts_{parts},
        bodies_{bodies},
        batch_{batch},
        hermite_{{.state = parts.hermite,
                  .arrays = parts.arrays(bodies),
                  .count = parts.count,
                  .d_accelerations = parts.d_accelerations,
                  .accelerations_current = parts.accelerations_current,
                  .plan = parts.plan,
                  .device = parts.device,
                  .stream = parts.stream,
                  .batch = batch,
                  .next_check = [this] { return next_check(); }}} {}
  CudaStepOps(const CudaStepOps&) = delete;
  CudaStepOps& operator=(const CudaStepOps&) = delete;
  /// Begins a step. `timed`: whether its evaluations are timed.
  void begin_step(std::int64_t step, bool timed) {
    step_ = step;
    batch_.times_evaluations = timed;
    changed_ = false;
    drifts_ = 0;
    batch_.evaluations_before.push_back(batch_.evaluations);
  }

  /// Makes the last kick, if one is owed. Call after the last step of a batch.
  void end_steps() { make_owed_kick(); }

  /// Evaluates the accelerations. The kernel kicks only if velocities are floats and on one device. Other kicks are
  /// left to the next pass, which loads and stores the velocities anyway.
  void force(bool store, double kick_dt) override {
    make_owed_kick();  // uses the accelerations that this evaluation replaces
    const bool compares = this->compares();
    if (bodies_.velocities_low || parts_.residents) owed_kick_dt_ = kick_dt;
    const bool owes = owed_kick_dt_ != 0;
    store |= compares || batch_.request.accelerations || owes;
    const bool kernel_kicks = kick_dt != 0 && !owes;
    evaluate(parts_.force_args(bodies_, {.accelerations = store ? parts_.d_accelerations : nullptr,
                                         .velocities = kernel_kicks ? bodies_.velocities : nullptr,
                                         .kick_dt = static_cast<float>(kick_dt),
                                         .drag = parts_.plan.law.effective_drag(),
                                         .accelerations_low = parts_.d_accelerations_low}));
    if (store) parts_.accelerations_current = true;
    changed_ |= kick_dt != 0;
    if (compares) {
      batch_.probe_begin.record(parts_.stream);
      if (parts_.residents) parts_.residents->collect_forces(bodies_.positions, parts_.d_accelerations);
      compare();
    }
  }
  void kick_drift(double kick_dt, double drift_dt) override {
    update(kick_dt, drift_dt);
    parts_.accelerations_current = false;
  }
  bool accelerations_current() const override { return parts_.accelerations_current; }

  int assign_levels(float time_step) override {
    const int deepest = parts_.levels.assign(parts_.plan.criterion(), time_step, parts_.d_accelerations, parts_.stream);
    batch_.levels = parts_.levels.counts();
    return deepest;
  }
  void force_levels(const Substep& now) override {
    if (now.lowest_active() == 0) return force(/*store=*/true, 0);
    ForceArgs args = parts_.force_args(
        bodies_, {.accelerations = parts_.d_accelerations, .accelerations_low = parts_.d_accelerations_low});
    if (parts_.plan.takes_targets) args.targets = {parts_.levels.d_order(), parts_.levels.active_count(now)};
    evaluate(args);
  }
  void kick_drift_levels(const Substep& now) override {
    parts_.levels.kick_drift(now, parts_.arrays(bodies_), parts_.plan.law.effective_drag(), next_check(),
                             parts_.stream);
    if (now.number < now.last()) parts_.accelerations_current = false;
  }
  /// A comparison needs a separate evaluation, since the integrator evaluates at predicted positions. It is no part of
  /// the step's work and time.
  HermiteOps& hermite() override {
    if (!compares()) return hermite_;
    batch_.probe_begin.record(parts_.stream);
    parts_.plan.kernel->evaluate(parts_.force_args(
        bodies_, {.accelerations = parts_.d_accelerations, .accelerations_low = parts_.d_accelerations_low}));
    parts_.accelerations_current = true;
    compare();
    return hermite_;
  }

 private:
  bool compares() const { return batch_.request.probe.sample > 0 && batch_.probed_step < 0; }
  /// Compares the stored accelerations. Call after probe_begin has been recorded.
  void compare() {
    batch_.probed_step = step_;
    parts_.comparison.enqueue(bodies_.positions, bodies_.positions_low, parts_.count, batch_.request.probe,
                              parts_.plan.law, parts_.d_accelerations, parts_.stream);
    batch_.probe_end.record(parts_.stream);
  }
  void update(double kick_dt, double drift_dt) {
    const cuda::KickDrift pass{.owed_kick_dt = std::exchange(owed_kick_dt_, 0),
                               .kick_dt = kick_dt,
                               .drift_dt = drift_dt,
                               .drag = parts_.plan.law.effective_drag()};
    if (parts_.residents) return parts_.residents->kick_drift(pass, next_check());
    cuda::kick_drift(parts_.device, parts_.arrays(bodies_), parts_.count, pass, next_check(), parts_.stream);
  }
  void make_owed_kick() {
    if (owed_kick_dt_ != 0) update(0, 0);
  }
  void evaluate(ForceArgs args) {
    if (batch_.is_tree) args.evaluated = batch_.evaluated.data();
    args.times_phases = batch_.times_evaluations;
    batch_.count_evaluation(interactions_of(args));
    const cuda::Event* const end = batch_.begin_evaluation(parts_.device, parts_.stream);
    parts_.residents ? parts_.residents->evaluate(args) : parts_.plan.kernel->evaluate(args);
    if (end) end->record(parts_.stream);
  }
  cuda::NonFiniteCheck next_check() { return parts_.watch.check_in(step_, std::exchange(changed_, true), drifts_++); }

  CudaStepParts parts_;
  DeviceBodies bodies_;
  CudaBatch& batch_;
  std::int64_t step_ = 0;  // number of the current step
  bool changed_ = false;   // this step has changed the bodies
  int drifts_ = 0;         // drifts in this step
  double owed_kick_dt_ = 0;
  CudaHermiteOps hermite_;
};

/// Number of batches that may be in flight: enough to keep the GPU busy, few enough that commands take effect quickly.
constexpr std::size_t max_batches = 3;

/// The CUDA engine. Every function that uses CUDA activates the device first: the thread may have used another one
/// before.
class CudaEngine final : public Engine {
 public:
  CudaEngine(const cuda::Device& device, DeviceStorage* storage) : device_{device}, bodies_{device, storage, stream_} {}
  CudaEngine(const CudaEngine&) = delete;
  CudaEngine& operator=(const CudaEngine&) = delete;
  /// Waits, because kernels on the stream write to memory of this engine.
  ~CudaEngine() override { ORRERY_CUDA_WARN(cudaStreamSynchronize(stream_.get())); }

  void upload(const Bodies& bodies, const StepPlan& plan) override {
    device_.activate();
    residents_.end();
    stream_.synchronize();
    checkpoints_.judge(watch_);  // before the watch is cleared
    levels_.forget();            // the next steps allocate them again
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
    hermite_.bodies_replaced();  // the integrator restarts from the new bodies
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

  /// Returns false while conserved sums are computed: steps enqueued after them would keep the drawn buffers from the
  /// display. Returns false while block steps run, since the next ones would wait for the stream.
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

    if (batch.is_tree) batch.count_interactions(device_, stream_.get());
    batch.begin.record(stream_.get());
    CudaStepOps ops{step_parts(), mapping.bodies, batch};
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
  /// Calls a function. If it fails because another device has failed, throws the error of that device.
  template <class Call>
  std::invoke_result_t<const Call&> named(const Call& call) {
    try {
      return call();
    } catch (const std::exception&) {
      if (plan_.kernel) plan_.kernel->check_other_devices();
      throw;
    }
  }
  /// Returns the data that the next enqueued steps work on.
  CudaStepParts step_parts() {
    return {.device = device_,
            .stream = stream_.get(),
            .plan = plan_,
            .count = bodies_.count(),
            .masses = bodies_.masses(),
            .d_accelerations = residents_.have_bodies() ? bodies_.d_accelerations() : bodies_.take_accelerations(),
            .d_accelerations_low = plan_.reads_low_words ? bodies_.d_accelerations_low() : nullptr,
            .accelerations_current = accelerations_current_,
            .levels = levels_,
            .hermite = hermite_,
            .comparison = comparison_,
            .watch = watch_,
            .residents = residents_.have_bodies() ? &residents_ : nullptr};
  }

  std::vector<CudaMeasurement> measurements_of(const BatchRequest& request) {
    std::vector<CudaMeasurement> measurements;
    if (request.probe.sample > 0) {  // CudaStepOps::force() enqueues it after the evaluation that it compares
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

  /// Call before passes of the steps from `first` to `last` are enqueued.
  void number_passes(std::int64_t first, std::int64_t last) {
    if (!watch_.reaches(last)) stream_.synchronize();
    if (in_flight_.empty() || !watch_.reaches(last)) watch_.count_from(first);
  }

  void look_at(const DeviceBodies& bodies, std::int64_t step) {
    looked_at_ = true;
    const std::uint32_t pass = watch_.pass_after(step);
    if (residents_.have_bodies()) return residents_.look(watch_.report(), pass);
    cuda::check_finite(bodies.positions, bodies.velocities, bodies_.count(), watch_.report(), pass, stream_.get());
  }

  /// Returns the result of a batch that has ended on the stream.
  BatchResult result_of(const CudaBatch& batch) {
    BatchResult result;
    if (const auto& found = watch_.found(); found && found->step <= batch.last_step()) result.non_finite = found;
    const bool probed = batch.probed_step >= 0;
    result.timing = batch.timing(force_share_, result.non_finite);
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
                            .preparation_ms = std::max(batch.probe_ms() - comparison_.ms(), 0.0),
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

  /// Replaces the bodies if their number changes. Keeps the old ones in host memory, and restores them if the new ones
  /// do not fit.
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
  bool in_use_ = false;  // this engine has the current bodies, and no other
  bool accelerations_current_ = false;
  CudaResidents residents_{bodies_, stream_.get(), accelerations_current_};  // knows whether bodies_ is outdated
  cuda::BodyLevels levels_{device_};
  cuda::HermiteBodies hermite_{device_};  // has memory only while the integrator needs jerks
  StepPlan plan_;
  std::deque<CudaBatch> in_flight_;
  int batches_since_timed_ = 0;
  double force_share_ = 0;  // share of forces in the time of the latest timed batch
  std::vector<CudaBatch> free_;
  cuda::ForceComparison comparison_{device_};
  cuda::ConservedSums sums_{device_};
  cuda::Magnitudes magnitudes_{device_};
  NonFiniteWatch watch_{device_, stream_.get()};
  bool looked_at_ = false;  // the uploaded bodies were checked for non-finite values
  Checkpoints checkpoints_{device_};
};

}  // namespace

std::unique_ptr<Engine> make_cuda_engine(const cuda::Device& device, DeviceStorage* storage) {
  return std::make_unique<CudaEngine>(device, storage);
}

}  // namespace orrery
