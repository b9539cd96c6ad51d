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

/// On the leader, bodies that the CUDA devices of all ranks hold: the orders for them, and the leader's own part. Other
/// ranks learn of passes over the bodies by the order that comes next.
class DeviceResidents {
 public:
  /// `line` and `own`, the leader's, must outlive this. `key` names the kernel in orders.
  DeviceResidents(WorkerLine& line, int key, HostedDivision& own) : line_{line}, key_{key}, own_{own} {}

  bool can_hold(int count) const { return own_.held() && own_.held()->can_hold(count, line_.ranks()); }
  /// Takes the memory of all ranks for so many bodies. Throws as ForceKernel::prepare().
  void prepare(int count);
  bool has_room(int count) const { return room_ > 0 && room_ == count; }
  /// So many are held; 0: none.
  int count() const { return held_; }
  /// They are held no more, and there is no room for them.
  void forget() { held_ = room_ = 0; }

  // As ResidentFacet. What these throw, the bodies do not survive.
  void hold(const HeldSource& from, int count, CUstream_st* stream);
  void kick_drift(const cuda::KickDrift& pass, const cuda::NonFiniteCheck& check, CUstream_st* stream);
  void check_finite(const cuda::NonFiniteReport& report, std::uint32_t pass, CUstream_st* stream);
  /// `ms`: what each rank's device took for its part.
  void evaluate(const ForceArgs& args, std::span<const Part> parts, std::span<double> ms);
  void collect(const HeldPlaces& places, CUstream_st* stream);
  /// Collects the rank of each body in memory of the leader. Throws UsageError if there is none.
  const int* collect_owners(CUstream_st* stream);

 private:
  struct Work {
    HeldOrder kind;
    /// Puts what follows the passes.
    std::function<void(MessageWriter& order)> put;
    std::function<void(HeldPart& own, bool connected, JointWork& work)> own_part;
    /// Whether rank 0 only waits for data of others, so that its time is a measure of theirs (RankWatch). By default,
    /// nobody knows.
    std::function<bool()> own_work_ended = [] { return false; };
    std::function<void(int rank, MessageReader& reply)> take = [](int, MessageReader&) {};
  };
  /// Does it on all ranks. If that fails, the bodies are held no more.
  void do_on_all(const Work& what);
  /// Calls it; what it throws, the bodies do not survive.
  template <class What>
  void or_forget(const What& what);
  void exchange(const Work& what);
  void require_residents() const;

  WorkerLine& line_;
  const int key_;
  HostedDivision& own_;
  int room_ = 0, held_ = 0;
  std::vector<HeldPass> passes_;  // of which the other ranks do not know yet
};

/// How data get from the device of one rank to those of the others.
struct DataWay {
  std::string text{};      ///< "NCCL 2.28.3", or "MPI (why)"
  bool connected = false;  ///< from device to device, until the connection is lost
  /// What is to be said while the connection is open, or is not.
  std::string now(bool is_open) const { return connected && !is_open ? "MPI (" + text + " was lost)" : text; }
};

/// A CUDA kernel of which the device of each rank evaluates a part. The bodies are on the leader's device, as without
/// ranks, and the others get copies for each evaluation; or each device holds the bodies of its part. Data go from
/// device to device while the ranks are connected, else through host memory. The host waits for an evaluation until all
/// parts have ended.
class DeviceKernel final : public ForceKernel, public OwnersFacet, public ResidentFacet, private TreeFacet {
 public:
  /// `line` must outlive this. `key` names the kernel in orders. `device`: the leader's. `way`: of the device,
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

  /// Take the memory to hold so many bodies, or to hand them out.
  void take_residents(int count);
  void take_division(int count);
  void evaluate_parts(const ForceArgs& args);
  /// Returns false, and does nothing that counts, if another kernel has lost the connection meanwhile.
  bool evaluate_connected(ConnectedDivision& own, const ForceArgs& args, const std::vector<Part>& parts);
  void evaluate_hosted(const ForceArgs& args, const std::vector<Part>& parts);
  /// Refers to all but the first. Lacks what depends on the way of the data.
  WorkerLine::Exchange exchange_for(const ForceArgs& args, const std::vector<Part>& parts, const Handouts& handouts,
                                    bool connected) const;
  void take_room(const Handouts& handouts);
  void learn_parts(const ForceArgs& args);

  // The leader's, with what only the others have of their trees.
  std::optional<TreeReport> report() const override { return own_->kernel().tree()->report(); }
  void prepare_cells(const CellRequest& request, int count) override {
    own_->kernel().tree()->prepare_cells(request, count);
  }
  void pick_cells(const CellRequest& request, CUstream_st* stream) override;
  std::optional<PickedCells> cells() const override { return own_->kernel().tree()->cells(); }

  WorkerLine& line_;
  const int key_;
  const bool by_targets_;  // otherwise the kernel divides something else
  const bool is_tree_;     // whose work depends on where bodies are: its parts change with the times
  const DataWay way_;
  LearnedParts parts_;
  std::vector<double> ms_;  // of the latest evaluation, by rank
  int unlearned_ = 0;       // the next evaluations, which load code, say nothing about times
  std::string why_no_owners_;
  std::unique_ptr<HostedDivision> own_;
  MadeKernel made_;  // after own_, which it makes
  DeviceResidents residents_;
  std::size_t room_ = 0;  // bytes for which the workers have room
};

}  // namespace orrery
