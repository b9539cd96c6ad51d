#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compute/cuda/stream.h"
#include "compute/devices/block_exchange.h"
#include "compute/devices/nccl_division.h"
#include "compute/devices/owners_reader.h"
#include "compute/devices/rank_part.h"
#include "compute/devices/rank_residents.h"
#include "compute/devices/staging.h"
#include "compute/devices/target_division.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/rank_device.h"

namespace orrery {

/// A rank's kernel on its CUDA device. What it exchanges with other ranks goes through page-locked host memory, or by
/// the connection that it was made with.
class HostedKernel final : public HostedDivision, private BlockExchange {
 public:
  /// `connection`: with the devices of the other ranks; may be null.
  HostedKernel(std::shared_ptr<const cuda::Device> device, const KernelInfo& info, const Settings& settings,
               std::shared_ptr<NcclConnection> connection);
  HostedKernel(const HostedKernel&) = delete;
  HostedKernel& operator=(const HostedKernel&) = delete;
  /// Copies may still read and write the memory of this object. If another rank has failed, the connection was left
  /// before, which ends what this device waits for. If a rank was lost at another time, this may wait for ever, and the
  /// rank watch ends the process.
  ~HostedKernel() override;

  ForceKernel& kernel() override { return *kernel_; }
  ConnectedDivision* connected() override { return connected_ && connected_->is_open() ? &*connected_ : nullptr; }
  void prepare(int count, int index, int ranks) override;
  void bodies_replaced() override {
    kernel_->bodies_replaced();
    owners_.forget();
  }

  std::vector<Handout> share_out(const ForceArgs& args, std::span<const Part> parts) override;
  std::span<const std::byte> shared_with_all() const override { return with_all_; }
  std::span<const std::byte> shared_with(int rank) const override { return with_one_[static_cast<std::size_t>(rank)]; }
  std::span<std::byte> place(const ForceArgs& args, const Part& part) override;
  void end_part(const ForceArgs& args, std::span<const Part> parts, JointWork& work) override;
  void join(const ForceArgs& args, std::span<const Part> parts) override;

  void take_room(std::size_t bytes) override { shared_.front().take(bytes); }
  std::span<std::byte> room(std::size_t bytes) override { return shared_.front().first(bytes); }
  std::span<const std::byte> evaluate(const ForceArgs& args, const Handout& handout, std::span<const Part> parts,
                                      const Part& own, JointWork& work) override;

  double part_ms() const override { return part_.ms(); }
  bool works_alone() const override { return division().works_alone(); }
  bool keeps_parts() const override { return division().keeps_parts(); }
  void read_owners(int count, const int* d_owners, CUstream_st* stream) override;
  std::optional<std::vector<int>> owners(int count) const override { return owners_.owners(count); }
  MessageWriter cells(int index) override;
  void place_cells(int index, MessageReader& cells, CUstream_st* stream) override;
  HeldPart* held() override { return residents_ ? &*residents_ : nullptr; }

 private:
  using Blocks = DivisionFacet::Blocks;

  DivisionFacet& division() const { return by_targets_ ? *by_targets_ : *kernel_->division(); }
  void exchange(const Outgoing& outgoing, const Places& places, JointWork& work, cudaStream_t stream) override {
    (void)exchange_all(outgoing, places, work, stream);
  }
  /// Returns whether all ranks sent what they had to.
  bool exchange_all(const Outgoing& outgoing, const Places& places, JointWork& work, cudaStream_t stream);
  bool exchange_known(const BlocksByRank& outgoing, const BlocksByRank& incoming, JointWork& work,
                      cudaStream_t stream) override;
  bool reached(const cuda::OrderEvent& event) const override { return event.reached(); }
  void wait(const JointWork& /*work*/, cudaStream_t stream) override {
    ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream));  // for nothing of other ranks
  }
  /// Puts blocks into a message.
  void give_blocks(std::span<const DeviceBlock> blocks, MessageWriter& message, cudaStream_t stream);
  /// Enqueues copies of what another rank has put into a message.
  void take_blocks(MessageReader& message, int rank, const Places& places, cudaStream_t stream);

  const std::shared_ptr<const cuda::Device> device_;
  std::unique_ptr<ForceKernel> kernel_;
  std::unique_ptr<TargetDivision> by_targets_;  // null: the kernel divides itself
  RankPart part_{*device_, division()};
  cuda::Stream stream_{*device_};  // of another rank than the leader
  Staging given_{*device_};        // to other ranks
  std::vector<Staging> taken_;     // from other ranks, by rank; not results
  // Blocks that the leader shares: on it, those that all get, and by rank those of one alone; on others, all of theirs.
  std::vector<Staging> shared_;
  OwnersReader owners_{*device_};
  // The leader's, in an evaluation:
  std::span<const std::byte> with_all_;
  std::vector<std::span<const std::byte>> with_one_;  // by rank
  std::vector<Staging> returned_;                     // results of others, by rank
  cuda::OrderEvent is_shared_{*device_}, joined_{*device_};
  // Last: they use the kernel.
  std::optional<NcclDivision> connected_;
  std::optional<RankResidents> residents_;
};

}  // namespace orrery
