#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/integrators/update_cuda.h"
#include "compute/kernels/shared_facets.h"
#include "compute/sim/engine/cuda_bodies.h"
#include "compute/sim/engine/cuda_bodies_lost.h"
#include "compute/sim/engine/engine.h"
#include "compute/sim/engine/mapping.h"
#include "compute/sim/engine/non_finite_watch.h"

namespace orrery {

/// The bodies of a CUDA engine while the devices of its kernel hold them. The engine's own bodies are behind then,
/// until fetch(). All functions enqueue on the engine's stream or on those of other devices.
class CudaResidents {
 public:
  /// `accelerations_current` becomes false when the engine or the devices take over the bodies.
  CudaResidents(CudaBodies& bodies, cudaStream_t stream, bool& accelerations_current)
      : bodies_{bodies}, stream_{stream}, accelerations_current_{accelerations_current} {}

  /// Prepares for a batch, and returns whether the devices will make its steps. Throws as leave_to_engine().
  bool begin_batch(const StepPlan& plan, const BatchRequest& batch) {
    const bool stay = suit(plan, batch);
    stay ? spare_memory(batch) : leave_to_engine(batch);
    return stay;
  }
  /// Whether cells are asked for of a tree that only the devices had, so that the engine's own bodies need one.
  bool lack_tree(const StepPlan& plan, const BatchRequest& batch) const {
    return batch.tree_cells.most > 0 && !accelerations_current_ && can_be_held(plan);
  }

  /// Whether the devices of this kernel have the memory to hold these bodies in all batches that need nothing else of
  /// them. The engine's own may then be in host memory.
  static bool have_room(const StepPlan& plan, const Bodies& bodies) {
    const ResidentFacet* const devices = residents_of(*plan.kernel);
    return devices && bodies.digits() == Digits::single && moves_all_alike(*plan.integrator) &&
           devices->has_room(bodies.count());
  }

  /// Whether the devices hold the bodies.
  bool hold() const { return holder_ != nullptr; }

  /// Gives the bodies to the devices, unless they hold them, or there is no memory for that: the engine's own make the
  /// steps then, until other bodies come or another kernel: in this batch slowly, if they are in host memory, and later
  /// ones bring them to the device.
  void take(ForceKernel& kernel, const DeviceBodies& bodies, const cuda::NonFiniteReport& report) {
    if (hold()) return;
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
  // These throw CudaBodiesLost where the engine's own bodies are behind; otherwise as ForceKernel::evaluate().
  void evaluate(const ForceArgs& args) {
    by_devices([&] { holder_->evaluate_residents(args); });
  }
  /// As cuda::kick_drift().
  void kick_drift(const cuda::KickDrift& pass, const cuda::NonFiniteCheck& check) {
    ahead_ = true;
    by_devices([&] { holder_->kick_drift(pass, check, stream_); });
  }
  /// As cuda::check_finite(), also of what the devices reported before.
  void look(const cuda::NonFiniteReport& report, std::uint32_t pass) {
    by_devices([&] { holder_->check_finite(report, pass, stream_); });
  }
  /// As read_owners().
  void read_owners(ForceKernel& kernel) {
    by_devices([&] { orrery::read_owners(kernel, bodies_.count(), stream_); });
  }
  /// The bodies' positions and accelerations of the latest evaluation. The engine's own stay behind.
  void collect_forces(Vec4* d_positions, Vec4* d_accelerations) {
    by_devices([&] { holder_->collect(d_positions, nullptr, stream_, d_accelerations); });
  }
  /// Brings the engine's own bodies up to date. The devices go on to hold theirs.
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
  /// Call before the engine's own bodies change or make steps.
  void bring_home() {
    fetch();
    if (hold()) accelerations_current_ = false;
    forget();
  }
  /// Call before other bodies come, or another kernel or law.
  void end() {
    bring_home();
    refused_ = false;
  }
  /// Before the engine's own bodies make steps. Throws UsageError if its device has no memory for them.
  void leave_to_engine() {
    bring_home();
    bodies_.bring_to_device();
  }

 private:
  /// Whether its steps are kicks and drifts of all bodies, as the devices make them.
  static bool moves_all_alike(const IntegratorInfo& integrator) {
    return !integrator.block_steps && !integrator.needs_jerks;
  }
  /// Whether the devices of this kernel can hold the bodies during the batch.
  bool suit(const StepPlan& plan, const BatchRequest& batch) const {
    return !refused_ && batch.steps > 0 && !needs_engine(batch) && moves_all_alike(*plan.integrator) &&
           can_be_held(plan);
  }
  /// Before a batch whose steps the devices make. If they hold the bodies, the engine's own give back their memory,
  /// until the batch or anyone else needs it; then they keep it.
  void spare_memory(const BatchRequest& batch) {
    const bool compares = batch.probe.sample > 0;
    if (compares) bodies_.take_accelerations();
    if (compares || batch.measure_conserved) return bodies_.take_back();
    if (!hold() || spared_) return;
    spared_ = ahead_ = true;
    bodies_.give_back();
  }
  /// Before a batch whose steps the devices do not make.
  void leave_to_engine(const BatchRequest& batch) {
    if (batch.steps > 0 || needs_engine(batch)) return leave_to_engine();
    fetch();
  }
  /// The devices do not give what it measures.
  static bool needs_engine(const BatchRequest& batch) {
    return (batch.probe.sample > 0 && batch.steps == 0) || batch.accelerations || batch.tree_cells.most > 0;
  }
  /// Devices could not bring drawn bodies home: they do not reach memory of OpenGL, although they reach the rest of the
  /// first device's.
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
  ResidentFacet* holder_ = nullptr;  // of the plan's kernel; null: its devices do not hold these bodies
  bool ahead_ = false;
  bool spared_ = false;   // the memory of the engine's own was given back since
  bool refused_ = false;  // there was no memory to hold them
};

}  // namespace orrery
