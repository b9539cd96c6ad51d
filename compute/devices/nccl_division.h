#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "compute/cuda/event.h"
#include "compute/cuda/stream.h"
#include "compute/devices/nccl_connection.h"
#include "compute/kernels/division_facet.h"
#include "compute/kernels/rank_device.h"

namespace orrery {

/// Evaluations that the devices of all ranks divide, whose data go from device to device by NCCL.
class NcclDivision final : public ConnectedDivision {
 public:
  /// All references must outlive this. `division` is of a kernel on `device`; `stream`: of another rank than the
  /// leader.
  NcclDivision(const cuda::Device& device, DivisionFacet& division, const cuda::Stream& stream,
               std::shared_ptr<NcclConnection> connection)
      : device_{device}, division_{division}, stream_{stream}, connection_{std::move(connection)} {}

  bool is_open() const { return connection_->is_open(); }

  std::vector<std::size_t> share_out(const ForceArgs& args, std::span<const Part> parts) override;
  void evaluate(const ForceArgs& args, std::span<const Part> parts) override;
  bool part_ended() override { return reached(part_ended_); }
  bool ended() override { return reached(ended_); }
  void join(const ForceArgs& args, std::span<const Part> parts) override { division_.join(args, parts); }

  void evaluate_part(const ForceArgs& args, std::span<const std::size_t> sizes, std::span<const Part> parts,
                     const Part& own, const std::atomic<bool>& stopped) override;

  void disconnect() noexcept override { connection_->abort(); }

 private:
  using Blocks = DivisionFacet::Blocks;

  bool reached(const cuda::OrderEvent& event) const;
  void enqueue_part(const ForceArgs& args, const Part& part);

  const cuda::Device& device_;
  DivisionFacet& division_;
  const cuda::Stream& stream_;
  const std::shared_ptr<NcclConnection> connection_;
  // This rank's part, and that with all that it sends or receives.
  cuda::OrderEvent part_ended_{device_}, ended_{device_};
  // Of the leader, in an evaluation.
  Blocks shared_;
  std::vector<Blocks> places_;  // of the results, by rank; none of its own
};

}  // namespace orrery
