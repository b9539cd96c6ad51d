#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/devices/part_sizes.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/rank_device.h"
#include "compute/kernels/shared_facets.h"
#include "compute/ranks/kernel_of_ranks.h"
#include "compute/ranks/orders.h"
#include "compute/ranks/worker_line.h"

namespace orrery {

/// Leader's side of bodies that the CUDA devices of all ranks hold: sends the orders and does the leader's own part.
/// Passes over the bodies reach the other ranks with the next order.
class DeviceResidents {
 public:
  /// `line` and `own` (the leader's division) must outlive this. `key` names the kernel in orders.
  DeviceResidents(WorkerLine& line, int key, HostedDivision& own) : line_{line}, key_{key}, own_{own} {}

  bool can_hold(int count) const { return own_.held() && own_.held()->can_hold(count, line_.ranks()); }
  /// Allocates room for `count` bodies on all ranks. Throws as ForceKernel::prepare().
  void prepare(int count);
  bool has_room(int count) const { return room_ > 0 && room_ == count; }
  /// Returns the number of bodies held; 0: none.
  int count() const { return held_; }
  /// Marks the bodies as no longer held, and their room as gone.
  void forget() { held_ = room_ = 0; }

  // See ResidentFacet. The bodies are lost if one of these throws.
  void hold(const HeldSource& from, int count, CUstream_st* stream);
  void kick_drift(const cuda::KickDrift& pass, const cuda::NonFiniteCheck& check, CUstream_st* stream);
  void check_finite(const cuda::NonFiniteReport& report, std::uint32_t pass, CUstream_st* stream);
  /// `ms`: receives the time of each rank's part on its device.
  void evaluate(const ForceArgs& args, std::span<const Part> parts, std::span<double> ms);
  void collect(const HeldPlaces& places, CUstream_st* stream);
  /// Collects the rank of each body in the leader's memory. Throws UsageError if memory is short.
  const int* collect_owners(CUstream_st* stream);

 private:
  struct Work {
    HeldOrder kind;
    /// Writes the part of the order after the passes.
    std::function<void(MessageWriter& order)> put;
    std::function<void(HeldPart& own, bool connected, JointWork& work)> own_part;
    /// Returns whether rank 0 only waits for data of others, so that its time is a measure of theirs (RankWatch). By
    /// default unknown: false.
    std::function<bool()> own_work_ended = [] { return false; };
    std::function<void(int rank, MessageReader& reply)> take = [](int, MessageReader&) {};
  };
  /// Carries out the work on all ranks. If it fails, the bodies are no longer held.
  void do_on_all(const Work& what);
  /// Calls `what`. The bodies are lost if it throws.
  template <class What>
  void or_forget(const What& what);
  void exchange(const Work& what);
  void require_residents() const;

  WorkerLine& line_;
  const int key_;
  HostedDivision& own_;
  int room_ = 0, held_ = 0;
  std::vector<HeldPass> passes_;  // passes that the other ranks have not been told yet
};

/// Transport of data between the devices of the ranks.
struct DataWay {
  std::string text{};      ///< "NCCL 2.28.3", or "MPI (why)"
  bool connected = false;  ///< data go from device to device until the connection is lost
  /// Returns the text to show, given whether the connection is open.
  std::string now(bool is_open) const { return connected && !is_open ? "MPI (" + text + " was lost)" : text; }
};

/// CUDA kernel whose evaluations the devices of all ranks divide. The leader's device has the bodies and the others get
/// copies for each evaluation, or each device holds the bodies of its part. Data go from device to device while the
/// ranks are connected, else through host memory. The host blocks until all parts of an evaluation have ended.
class DeviceKernel final : public ForceKernel, public OwnersFacet, public ResidentFacet, private TreeFacet {
 public:
  /// `line` must outlive this. `key` names the kernel in orders. `device`: the leader's. `way`: the device's transport,
  /// for chosen(). Throws as MadeKernel.
  DeviceKernel(WorkerLine& line, int key, const KernelInfo& kernel, const Settings& settings, RankDevice& device,
               DataWay way);

  void prepare(int count) override;
  void bodies_replaced() override;
  TreeFacet* tree() override { return own_->kernel().tree() ? this : nullptr; }
  std::string chosen(int count, const MassRange& masses) const override;
  MainLaunch main_launch(const Law& law, int count, const MassRange& masses) const override {
    return own_->kernel().main_launch(law, count, masses);
  }
  /// Known if each rank has a part of the targets, or of the bodies.
  std::optional<BodyOwners> owners(int count) const override;
  void read_owners(int count, CUstream_st* stream) override;

  bool can_hold(int count) const override { return residents_.can_hold(count); }
  bool has_room(int count) const override { return residents_.has_room(count); }
  void hold(const Vec4* d_positions, const Vec4* d_velocities, int count, const cuda::PackedFinding* d_finding,
            CUstream_st* stream) override;
  void kick_drift(const cuda::KickDrift& pass, const cuda::NonFiniteCheck& check, CUstream_st* stream) override {
    residents_.kick_drift(pass, check, stream);
  }
  void check_finite(const cuda::NonFiniteReport& report, std::uint32_t pass, CUstream_st* stream) override {
    residents_.check_finite(report, pass, stream);
  }
  void evaluate_residents(const ForceArgs& args) override;
  void collect(Vec4* d_positions, Vec4* d_velocities, CUstream_st* stream, Vec4* d_accelerations) override {
    residents_.collect({.d_positions = d_positions, .d_velocities = d_velocities, .d_accelerations = d_accelerations},
                       stream);
  }

 protected:
  void do_evaluate(const ForceArgs& args) override;

 private:
  using Handouts = std::vector<Handout>;  // by rank

  /// Allocate memory to hold `count` bodies on the ranks, or to hand them out.
  void take_residents(int count);
  void take_division(int count);
  void evaluate_parts(const ForceArgs& args);
  /// Returns false, without effect, if another kernel has lost the connection in the meantime.
  bool evaluate_connected(ConnectedDivision& own, const ForceArgs& args, const std::vector<Part>& parts);
  void evaluate_hosted(const ForceArgs& args, const std::vector<Part>& parts);
  /// Returns an exchange that refers to all arguments but `args`. The caller adds what depends on the transport.
  WorkerLine::Exchange exchange_for(const ForceArgs& args, const std::vector<Part>& parts, const Handouts& handouts,
                                    bool connected) const;
  void take_room(const Handouts& handouts);
  void learn_parts(const ForceArgs& args);

  // The leader's tree, completed by the parts of the trees that only other ranks have.
  std::optional<TreeReport> report() const override { return own_->kernel().tree()->report(); }
  void prepare_cells(const CellRequest& request, int count) override {
    own_->kernel().tree()->prepare_cells(request, count);
  }
  void pick_cells(const CellRequest& request, CUstream_st* stream) override;
  std::optional<PickedCells> cells() const override { return own_->kernel().tree()->cells(); }

  WorkerLine& line_;
  const int key_;
  const bool by_targets_;  // each rank has a part of the targets; otherwise, the kernel divides something else
  const bool is_tree_;     // the work of a tree depends on where bodies are, so its parts change with the times
  const DataWay way_;
  LearnedParts parts_;
  std::vector<double> ms_;  // times of the latest evaluation, by rank
  int unlearned_ = 0;       // next evaluations whose times are ignored, because they load code
  std::string why_no_owners_;
  std::unique_ptr<HostedDivision> own_;
  MadeKernel made_;  // after own_, which it makes
  DeviceResidents residents_;
  std::size_t room_ = 0;  // bytes for which the workers have room
};

}  // namespace orrery
