#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "compute/cuda/stream.h"
#include "compute/devices/nccl_connection.h"
#include "compute/devices/rank_part.h"
#include "compute/kernels/rank_device.h"

namespace orrery {

/// Evaluations that the devices of all ranks divide, whose data go from device to device by NCCL.
class NcclDivision final : public ConnectedDivision, public BlockExchange {
 public:
  /// All references must outlive this. `part` is of a kernel on `device`; `stream`: of another rank than the leader.
  NcclDivision(const cuda::Device& device, const RankPart& part, const cuda::Stream& stream,
               std::shared_ptr<NcclConnection> connection)
      : device_{device}, part_{part}, division_{part.division()}, stream_{stream}, connection_{std::move(connection)} {}

  bool is_open() const { return connection_->is_open(); }

  std::vector<Handout> share_out(const ForceArgs& args, std::span<const Part> parts) override;
  void evaluate(const ForceArgs& args, std::span<const Part> parts, JointWork& work) override;
  bool part_ended() override { return reached(part_.end()); }
  bool ended() override { return reached(ended_); }
  void join(const ForceArgs& args, std::span<const Part> parts) override { division_.join(args, parts); }

  void evaluate_part(const ForceArgs& args, const Handout& handout, std::span<const Part> parts, const Part& own,
                     JointWork& work) override;

  void disconnect() noexcept override { connection_->abort(); }

  void exchange(const Outgoing& outgoing, const Places& places, JointWork& work, cudaStream_t stream) override;
  bool exchange_known(const BlocksByRank& outgoing, const BlocksByRank& incoming, JointWork& work,
                      cudaStream_t stream) override;
  bool reached(const cuda::OrderEvent& event) const override;

 private:
  using Blocks = DivisionFacet::Blocks;

  void evaluate_alone(const ForceArgs& args, const Part& own);
  void wait(const JointWork& work, cudaStream_t stream) override;

  const cuda::Device& device_;
  const RankPart& part_;
  DivisionFacet& division_;
  const cuda::Stream& stream_;
  const std::shared_ptr<NcclConnection> connection_;
  cuda::OrderEvent ended_{device_};  // this rank's part with all that it sends or receives
  cuda::OrderEvent come_{device_};   // what wait() waits for
  // Of the leader, in an evaluation.
  Blocks with_all_;
  BlocksByRank with_one_, places_;  // of the results
};

}  // namespace orrery
