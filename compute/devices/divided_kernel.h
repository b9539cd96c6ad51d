#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/cuda/event.h"
#include "compute/cuda/stream.h"
#include "compute/devices/device_team.h"
#include "compute/devices/part_sizes.h"
#include "compute/devices/part_times.h"
#include "compute/devices/target_division.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/owners_facet.h"

namespace orrery {

/// A kernel of which each device of a team evaluates a part. The first device has the bodies, as without a team; the
/// others get copies for each evaluation. Streams wait for each other; the host waits for none.
class DividedKernel final : public ForceKernel, public OwnersFacet {
 public:
  /// `team` must outlive this. Throws as KernelInfo::make(); what another device than the first throws names it.
  DividedKernel(const DeviceTeam& team, const KernelInfo& kernel, const Settings& settings);
  ~DividedKernel() override;

  void prepare(int count) override;
  void bodies_replaced() override;
  void check_other_devices() override;
  /// The first device's, which has the whole tree.
  TreeFacet* tree() override { return leader().kernel->tree(); }
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
    cuda::Event copied;   // what the leader shares
    cuda::Event done;     // its part
  };

  Member& leader() { return members_.front(); }
  /// Calls `work` for every device but the first, which is active then. Errors name the device.
  void for_others(const std::function<void(Member& member, std::size_t index)>& work);
  void evaluate_parts(const ForceArgs& args);
  void wait_for_all() const noexcept;

  const DeviceTeam& team_;
  std::vector<Member> members_;  // by device
  cuda::Event shared_;           // on the leader's stream: what it shares is ready
  PartSizes sizes_;
  PartTimes times_;
  bool learns_sizes_;  // from the times; otherwise the parts stay equal
  int prepared_ = 0;   // for so many bodies
};

}  // namespace orrery
