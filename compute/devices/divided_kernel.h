#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/devices/device_team.h"
#include "compute/devices/owners_reader.h"
#include "compute/devices/part_sizes.h"
#include "compute/devices/part_times.h"
#include "compute/devices/target_division.h"
#include "compute/kernels/division.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/shared_facets.h"

namespace orrery {

/// Kernel whose evaluations a team of devices divides. The first device has the bodies and the others get copies for
/// each evaluation, or each device holds the bodies of its part. Streams wait for each other; the host waits for none.
class DividedKernel final : public ForceKernel, public OwnersFacet, public ResidentFacet, private TreeFacet {
 public:
  /// `team` must outlive this. Throws as KernelInfo::make(). Errors of devices other than the first name the device.
  DividedKernel(const DeviceTeam& team, const KernelInfo& kernel, const Settings& settings);
  ~DividedKernel() override;

  void prepare(int count) override;
  void bodies_replaced() override;
  void check_other_devices() override;
  TreeFacet* tree() override { return leader().kernel->tree() ? this : nullptr; }
  std::string chosen(int count, const MassRange& masses) const override;
  std::vector<DeviceLoad> device_loads() const override { return times_.loads(); }
  std::optional<BodyOwners> owners(int count) const override;
  void read_owners(int count, CUstream_st* stream) override;
  MainLaunch main_launch(const Law& law, int count, const MassRange& masses) const override {
    return members_.front().kernel->main_launch(law, count, masses);
  }

  // Bodies that the devices hold:
  bool can_hold(int count) const override;
  bool has_room(int count) const override { return room_ == count && can_hold(count); }
  void hold(const Vec4* d_positions, const Vec4* d_velocities, int count, const cuda::PackedFinding* d_finding,
            CUstream_st* stream) override;
  void kick_drift(const cuda::KickDrift& pass, const cuda::NonFiniteCheck& check, CUstream_st* stream) override;
  void check_finite(const cuda::NonFiniteReport& report, std::uint32_t pass, CUstream_st* stream) override;
  void evaluate_residents(const ForceArgs& args) override;
  void collect(Vec4* d_positions, Vec4* d_velocities, CUstream_st* stream, Vec4* d_accelerations) override;

 protected:
  void do_evaluate(const ForceArgs& args) override;

 private:
  /// A device and its kernel.
  struct Member {
    Member(const cuda::Device& of, const KernelInfo& info, const Settings& settings);

    const cuda::Device& device;
    std::unique_ptr<ForceKernel> kernel;
    std::unique_ptr<TargetDivision> by_targets;  // null: the kernel divides itself
    DivisionFacet& division() const { return by_targets ? *by_targets : *kernel->division(); }
    /// Returns null if the device cannot hold bodies.
    MigrationFacet* migration() const { return dynamic_cast<MigrationFacet*>(&division()); }
    /// Returns null if the device cannot write into the others' memory.
    PeerFacet* peer() const { return dynamic_cast<PeerFacet*>(&division()); }
    cuda::Stream stream;                             // not used by the leader
    cuda::OrderEvent began;                          // the part's offer is ready, or a round has ended
    cuda::OrderEvent done;                           // the part has ended
    cuda::DeviceArray<cuda::PackedFinding> finding;  // first non-finite body
  };
  using Blocks = DivisionFacet::Blocks;

  Member& leader() { return members_.front(); }
  /// Calls `work` for every device but the first, with that device active. Errors name the device.
  void for_others(const std::function<void(Member& member, std::size_t index)>& work);
  void evaluate_parts(const ForceArgs& args);
  /// Copies the blocks that the leader shares to the other devices.
  void hand_out(const ForceArgs& args, std::span<const Part> parts);
  void begin_part(Member& member, const ForceArgs& args, std::span<const Part> parts, std::size_t index);
  /// Returns whether the kernels write into each other's memory, which all devices must be able to access.
  bool sends() const { return team_.is_direct() && members_.front().peer() != nullptr; }
  /// Connects the kernels for direct writes. Call when all devices are prepared.
  void connect_peers();
  /// Exchanges what the devices need of each other. Call after begin_part() of all parts.
  void exchange(const ForceArgs& args, std::span<const Part> parts);
  /// Copies the other devices' offers to this device.
  void take_offers(Member& member, const ForceArgs& args, std::span<const Part> parts, std::size_t index);
  void evaluate_part(Member& member, const ForceArgs& args, std::span<const Part> parts, std::size_t index);
  /// Copies the results to the leader, which finishes the evaluation.
  void gather_results(const ForceArgs& args, std::span<const Part> parts);
  /// Makes every stream wait for the latest `began` of all others. `leading`: the leader's stream.
  void meet(cudaStream_t leading);
  using OnStream = std::function<void(Member& member, cudaStream_t stream, std::size_t index)>;
  using OnPart = std::function<void(Member& member, const ForceArgs& args, std::size_t index)>;
  /// Calls `work` for every device, the leader first, with that device active and with its stream or arguments.
  void for_all(cudaStream_t leading, const OnStream& work);
  void for_all(const ForceArgs& args, const OnPart& work);
  /// Allocate memory to hold `count` bodies on the devices, or to hand them out. Each frees the memory of the other
  /// mode.
  void take_residents(int count);
  void take_division(int count);
  void require_residents() const;
  void read_owners_of_held(CUstream_st* stream);
  void evaluate_held(const ForceArgs& args);
  void migrate(const ForceArgs& args, std::span<const Part> parts);
  /// Makes the leader's stream wait for the work enqueued on the other streams so far.
  void wait_for_others(cudaStream_t leading);
  OnAll<const cuda::PackedFinding> findings() const;
  void mark(std::size_t index, PartTimes::Mark what, cudaStream_t stream);
  void wait_for_all() const noexcept;

  // The leader's tree, completed by the parts of the trees that only other devices have.
  std::optional<TreeReport> report() const override { return members_.front().kernel->tree()->report(); }
  void prepare_cells(const CellRequest& request, int count) override {
    leader().kernel->tree()->prepare_cells(request, count);
  }
  void pick_cells(const CellRequest& request, CUstream_st* stream) override;
  std::optional<PickedCells> cells() const override { return members_.front().kernel->tree()->cells(); }

  const DeviceTeam& team_;
  std::vector<Member> members_;  // by device
  cuda::OrderEvent shared_;      // on the leader's stream: the shared blocks are ready
  bool of_all_ = true;           // the current evaluation has no list of targets
  LearnedParts parts_;
  PartTimes times_;
  OwnersReader owners_;  // for trees, whose domains hold the bodies
  cuda::DeviceArray<int> owners_of_held_;
  std::string why_no_owners_;  // reason why the latest read failed; empty: it did not
  bool learns_parts_;          // whether times change the parts; otherwise they stay equal
  int prepared_ = 0;           // bodies that all devices are prepared to get from the leader
  int room_ = 0;               // bodies that the devices have room to hold; this or prepared_ is 0
  int held_ = 0;               // bodies that the devices hold; 0: none
};

}  // namespace orrery
