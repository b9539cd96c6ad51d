#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <span>

#include "compute/cuda/arrays.h"
#include "compute/cuda/stream.h"
#include "compute/devices/block_exchange.h"
#include "compute/devices/rank_part.h"
#include "compute/kernels/held_part.h"
#include "compute/kernels/migration_facet.h"
#include "compute/kernels/on_all.h"
#include "compute/kernels/shipment_facet.h"

namespace orrery {

/// The HeldPart of a kernel that has MigrationFacet, ChoiceFacet and ShipmentFacet.
class RankResidents final : public HeldPart {
 public:
  /// How data go: by connection, or through host memory.
  using Way = std::function<BlockExchange&(bool connected)>;
  /// `device`, `part` and the stream must outlive this. The leader does not use the stream.
  RankResidents(const cuda::Device& device, const RankPart& part, cudaStream_t stream, Way way);

  bool can_hold(int count, int ranks) const override { return migration_.can_hold(count, ranks); }
  void prepare(int count, int rank, int ranks) override;
  /// Gives memory back that is not the kernel's.
  void forget();
  void hold(const HeldSource& from, bool connected, JointWork& work, CUstream_st* stream) override;
  void kick_drift(const HeldPass& pass, int* seen, CUstream_st* stream) override;
  void check_finite(const cuda::NonFiniteReport& report, std::uint32_t pass, bool connected, JointWork& work,
                    CUstream_st* stream) override;
  int begin(const ForceArgs& args) override { return migration_.begin_residents(args); }
  void evaluate(const ForceArgs& args, const HeldEvaluation& how, std::span<const Part> parts,
                JointWork& work) override;
  void collect(const HeldWanted& wanted, const HeldPlaces& places, bool connected, JointWork& work,
               CUstream_st* stream) override;
  int* owners_room(int count) override;
  bool part_ended() const override { return way_(connected_).reached(part_.end()); }
  bool ended() const override { return way_(connected_).reached(ended_); }

 private:
  using Blocks = DivisionFacet::Blocks;

  /// What all ranks do together, on this stream.
  using Together = std::function<void(BlockExchange& by, cudaStream_t stream)>;
  /// Some of the bodies that a rank holds.
  struct Piece {
    int first, count;
  };

  bool is_leader() const { return rank_ == 0; }
  cuda::PackedFinding* own_finding() const { return findings_.data() + rank_; }
  /// Does it with the device active. Throws what failed here, and Stopped if another rank failed.
  void together(bool connected, JointWork& work, cudaStream_t leading, const Together& what);
  /// Every rank gets the first one.
  void share_findings(BlockExchange& by, JointWork& work, cudaStream_t stream);
  void migrate(const ForceArgs& args, int rounds, BlockExchange& by, JointWork& work);

  // Bodies go to other ranks, and come back, in pieces for which the leader has room.
  int piece_bodies() const;
  int pieces() const;
  Piece piece_of(int rank, int number) const;
  /// The leader: for a piece of another rank.
  ResidentBodies room_for(int rank, int count) const;
  void begin_to_hold(const HeldSource& from, cudaStream_t stream);
  /// `first_of`: the number of each rank's first body.
  void hand_out(const HeldSource& from, std::span<const int> first_of, int number, BlockExchange& by, JointWork& work,
                cudaStream_t stream);
  void take_pieces(const HeldWanted& wanted, const HeldPlaces& places, int number, BlockExchange& by, JointWork& work,
                   cudaStream_t stream);
  static void place(const ResidentBodies& bodies, int rank, const HeldPlaces& places, cudaStream_t stream);

  const cuda::Device& device_;
  const RankPart& part_;
  cudaStream_t const stream_;
  const Way way_;
  MigrationFacet& migration_;
  ShipmentFacet& shipment_;
  int rank_ = 0, ranks_ = 1;
  bool connected_ = false;                                    // in the latest function, see HeldPart
  cuda::OrderEvent ended_{device_};                           // behind what that function has enqueued
  cuda::DeviceArray<cuda::PackedFinding> findings_;           // by rank
  cuda::HostArray<int> unread_{device_, 1, /*pinned=*/true};  // for NonFiniteReport::seen
  // The leader's:
  cuda::DeviceArray<Vec4> piece_positions_, piece_velocities_, piece_accelerations_;
  cuda::DeviceArray<int> piece_ids_, owners_;
};

}  // namespace orrery
