#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/cuda/event.h"
#include "compute/cuda/stream.h"
#include "compute/devices/device_team.h"
#include "compute/devices/learned_parts.h"
#include "compute/devices/part_times.h"
#include "compute/devices/target_division.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/owners_facet.h"

namespace orrery {

/// A kernel of which each device of a team evaluates a part. The first device has the bodies, as without a team; the
/// others get copies for each evaluation. Streams wait for each other; the host waits for none.
class DividedKernel final : public ForceKernel, public OwnersFacet, private TreeFacet {
 public:
  /// `team` must outlive this. Throws as KernelInfo::make(); what another device than the first throws names it.
  DividedKernel(const DeviceTeam& team, const KernelInfo& kernel, const Settings& settings);
  ~DividedKernel() override;

  void prepare(int count) override;
  void bodies_replaced() override;
  void check_other_devices() override;
  TreeFacet* tree() override { return leader().kernel->tree() ? this : nullptr; }
  std::string chosen(int count, const MassRange& masses) const override;
  std::vector<DeviceLoad> device_loads() const override { return times_.loads(); }
  /// Known if each device has a part of the targets.
  std::optional<BodyOwners> owners(int count) const override;
  MainLaunch main_launch(const Law& law, int count, const MassRange& masses) const override {
    return members_.front().kernel->main_launch(law, count, masses);
  }

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
    cuda::Stream stream;  // of the leader: not used
    cuda::Event began;    // its part: what it offers is ready
    cuda::Event done;     // its part
  };
  using Blocks = DivisionFacet::Blocks;

  Member& leader() { return members_.front(); }
  /// Calls `work` for every device but the first, which is active then. Errors name the device.
  void for_others(const std::function<void(Member& member, std::size_t index)>& work);
  void evaluate_parts(const ForceArgs& args);
  /// Copies what the leader shares to the other devices.
  void hand_out(const ForceArgs& args, std::span<const Part> parts);
  /// Begins all parts.
  void begin_parts(const ForceArgs& args, std::span<const Part> parts);
  /// Copies to a device what the others offer.
  void take_offers(Member& member, const ForceArgs& args, std::span<const Part> parts, std::size_t index);
  /// Behind all begins: takes the offers, and evaluates the part.
  void go_on(Member& member, const ForceArgs& args, std::span<const Part> parts, std::size_t index);
  /// Copies the results to the leader, which finishes the evaluation.
  void gather_results(const ForceArgs& args, std::span<const Part> parts);
  void mark(std::size_t index, PartTimes::Mark what, cudaStream_t stream);
  void wait_for_all() const noexcept;

  // The leader's, with what only the others have of their trees.
  std::optional<TreeReport> report() const override { return members_.front().kernel->tree()->report(); }
  void prepare_cells(const CellRequest& request, int count) override {
    leader().kernel->tree()->prepare_cells(request, count);
  }
  void pick_cells(const CellRequest& request, CUstream_st* stream) override;
  std::optional<PickedCells> cells() const override { return members_.front().kernel->tree()->cells(); }

  const DeviceTeam& team_;
  std::vector<Member> members_;  // by device
  cuda::Event shared_;           // on the leader's stream: what it shares is ready
  bool of_all_ = true;           // the present evaluation: it has no targets
  LearnedParts parts_;
  PartTimes times_;
  bool learns_parts_;  // from the times; otherwise the parts stay equal
  int prepared_ = 0;   // for so many bodies
};

}  // namespace orrery
