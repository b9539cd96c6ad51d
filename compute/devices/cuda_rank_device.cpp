#include "compute/devices/cuda_rank_device.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/cuda/profiler_range.h"
#include "compute/devices/block_exchange.h"
#include "compute/devices/device_team.h"
#include "compute/devices/held_bodies.h"
#include "compute/devices/nccl.h"
#include "compute/devices/owners_reader.h"
#include "compute/devices/part_sizes.h"
#include "compute/devices/rank_part.h"
#include "compute/devices/staging.h"
#include "compute/devices/target_division.h"
#include "compute/kernels/division.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/rank_device.h"

namespace orrery {
namespace {

/// HeldPart of a kernel that has MigrationFacet, ChoiceFacet and ShipmentFacet.
class RankResidents final : public HeldPart {
 public:
  /// Returns how data are sent: by connection, or through host memory.
  using Way = std::function<BlockExchange&(bool connected)>;
  /// `device`, `part` and the stream must outlive this. The leader does not use the stream.
  RankResidents(const cuda::Device& device, const RankPart& part, cudaStream_t stream, Way way);

  bool can_hold(int count, int ranks) const override { return migration_.can_hold(count, ranks); }
  void prepare(int count, int rank, int ranks) override;
  /// Frees the memory that this object has besides the kernel's.
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

  /// Work of all ranks together, on this stream.
  using Together = std::function<void(BlockExchange& by, cudaStream_t stream)>;
  /// Range of the bodies that a rank holds.
  struct Piece {
    int first, count;
  };

  bool is_leader() const { return rank_ == 0; }
  cuda::PackedFinding* own_finding() const { return findings_.data() + rank_; }
  /// Runs `what` with the device active. Throws what failed here, and Stopped if another rank failed.
  void together(bool connected, JointWork& work, cudaStream_t leading, const Together& what);
  /// Gives every rank the minimum of all ranks' findings.
  void share_findings(BlockExchange& by, JointWork& work, cudaStream_t stream);
  void migrate(const ForceArgs& args, int rounds, BlockExchange& by, JointWork& work);

  // Bodies travel to other ranks and back in pieces that fit into the leader's buffers.
  int piece_bodies() const;
  int pieces() const;
  Piece piece_of(int rank, int number) const;
  /// Returns the leader's buffer for a piece of another rank.
  ResidentBodies room_for(int rank, int count) const;
  void begin_to_hold(const HeldSource& from, cudaStream_t stream);
  /// `first_of`: index of each rank's first body.
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
  bool connected_ = false;                                    // in the latest call, see HeldPart
  cuda::OrderEvent ended_{device_};                           // end of the work enqueued by that call
  cuda::DeviceArray<cuda::PackedFinding> findings_;           // by rank
  cuda::HostArray<int> unread_{device_, 1, /*pinned=*/true};  // target of NonFiniteReport::seen that nothing reads
  // Buffers of the leader:
  cuda::DeviceArray<Vec4> piece_positions_, piece_velocities_, piece_accelerations_;
  cuda::DeviceArray<int> piece_ids_, owners_;
};

/// A rank's kernel on its CUDA device. Exchanges with other ranks go through page-locked host memory, or by the
/// connection given to the constructor.
class HostedKernel final : public HostedDivision, private BlockExchange {
 public:
  /// `connection`: to the devices of the other ranks; may be null.
  HostedKernel(std::shared_ptr<const cuda::Device> device, const KernelInfo& info, const Settings& settings,
               std::shared_ptr<NcclConnection> connection);
  HostedKernel(const HostedKernel&) = delete;
  HostedKernel& operator=(const HostedKernel&) = delete;
  /// Waits for copies that still use this object's memory. If another rank has failed, the connection was closed
  /// before, which ends the device's waiting. If a rank was lost at another time, this may block forever, and the rank
  /// watch ends the process.
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
    ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream));  // depends on no other rank
  }
  /// Copies blocks into a message.
  void give_blocks(std::span<const DeviceBlock> blocks, MessageWriter& message, cudaStream_t stream);
  /// Enqueues copies of the blocks in another rank's message to the device.
  void take_blocks(MessageReader& message, int rank, const Places& places, cudaStream_t stream);

  const std::shared_ptr<const cuda::Device> device_;
  std::unique_ptr<ForceKernel> kernel_;
  std::unique_ptr<TargetDivision> by_targets_;  // null: the kernel divides itself
  RankPart part_{*device_, division()};
  cuda::Stream stream_{*device_};  // not used by the leader
  Staging given_{*device_};        // data for other ranks
  std::vector<Staging> taken_;     // data from other ranks, by rank; not results
  // Blocks that the leader shares. On the leader: entry 0 has the blocks for all, entry `rank` the blocks for one rank.
  // On other ranks: entry 0 has all blocks they get.
  std::vector<Staging> shared_;
  OwnersReader owners_{*device_};
  // The leader's, during an evaluation:
  std::span<const std::byte> with_all_;
  std::vector<std::span<const std::byte>> with_one_;  // by rank
  std::vector<Staging> returned_;                     // results of other ranks, by rank
  cuda::OrderEvent is_shared_{*device_}, joined_{*device_};
  // Last members, since they use the kernel:
  std::optional<NcclDivision> connected_;
  std::optional<RankResidents> residents_;
};

HostedKernel::HostedKernel(std::shared_ptr<const cuda::Device> device, const KernelInfo& info, const Settings& settings,
                           std::shared_ptr<NcclConnection> connection)
    : device_{std::move(device)},
      kernel_{info.make(settings, device_.get())},
      by_targets_{info.divides ? nullptr : std::make_unique<TargetDivision>(*kernel_, info.reads_low_words, *device_)} {
  shared_.emplace_back(*device_);
  if (connection) connected_.emplace(*device_, part_, stream_, std::move(connection));
  if (!dynamic_cast<ShipmentFacet*>(&division())) return;
  residents_.emplace(*device_, part_, stream_.get(), [this](bool connected) -> BlockExchange& {
    if (!connected) return *this;
    if (!connected_) throw Stopped{"there is no connection"};
    return *connected_;
  });
}

HostedKernel::~HostedKernel() {
  ORRERY_CUDA_WARN(cudaSetDevice(device_->ordinal()));
  ORRERY_CUDA_WARN(cudaDeviceSynchronize());
}

void HostedKernel::prepare(int count, int index, int ranks) {
  device_->activate();
  owners_.forget();
  if (residents_) residents_->forget();
  part_.prepare(count, index, ranks);
  const auto all = static_cast<std::size_t>(ranks);
  while (index == 0 && returned_.size() < all) returned_.emplace_back(*device_);
  while (index == 0 && shared_.size() < all) shared_.emplace_back(*device_);
}

std::vector<Handout> HostedKernel::share_out(const ForceArgs& args, std::span<const Part> parts) {
  const Blocks for_all = division().share_out(args, parts);
  with_all_ = shared_.front().fill(for_all, args.stream);
  with_one_.assign(parts.size(), {});
  std::vector<Handout> handouts(parts.size());
  for (std::size_t rank = 1; rank < parts.size(); ++rank) {
    const Blocks for_one = division().share_of(args, parts[rank]);
    with_one_[rank] = shared_[rank].fill(for_one, args.stream);
    handouts[rank] = {
        .with_all = sizes_of(for_all), .with_one = sizes_of(for_one), .exchanges = division().exchanges()};
  }
  is_shared_.record(args.stream);
  part_.begin(args, parts.front());
  if (!division().exchanges()) part_.evaluate(args, parts.front());
  is_shared_.synchronize();
  return handouts;
}

std::span<std::byte> HostedKernel::place(const ForceArgs& args, const Part& part) {
  joined_.synchronize();  // copies of the previous evaluation read that memory until then
  return returned_[static_cast<std::size_t>(part.index)].take(sum_of(sizes_of(division().places(args, part))));
}

void HostedKernel::end_part(const ForceArgs& args, std::span<const Part> parts, JointWork& work) {
  if (division().exchanges()) {
    part_.exchange(args, work, *this);
    work.attempt([&] { part_.evaluate(args, parts.front()); });
    require_end(work);
  }
  part_.end().synchronize();
}

void HostedKernel::join(const ForceArgs& args, std::span<const Part> parts) {
  for (const Part& part : parts.subspan(1)) {
    returned_[static_cast<std::size_t>(part.index)].empty(division().places(args, part), args.stream);
  }
  division().join(args, parts);
  joined_.record(args.stream);
}

std::span<const std::byte> HostedKernel::evaluate(const ForceArgs& args, const Handout& handout,
                                                  std::span<const Part> parts, const Part& own, JointWork& work) {
  std::span<const std::byte> found;
  on_device(*device_, [&] {
    ForceArgs on_stream = args;
    on_stream.stream = stream_.get();
    work.attempt([&] {
      const Blocks places = division().receive(on_stream, parts, blocks_of(handout));
      shared_.front().empty(places, on_stream.stream);
      part_.begin(on_stream, own);
    });
    if (handout.exchanges) part_.exchange(on_stream, work, *this);
    work.attempt([&] {
      part_.evaluate(on_stream, own);
      found = given_.fill(division().results(on_stream, own), on_stream.stream);
      stream_.synchronize();
    });
    require_end(work);
  });
  return found;
}

bool HostedKernel::exchange_all(const Outgoing& outgoing, const Places& places, JointWork& work, cudaStream_t stream) {
  work.attempt([&] {
    const BlocksByRank to = outgoing();
    work.for_each_other([&](int rank) { give_blocks(to[static_cast<std::size_t>(rank)], work.to(rank), stream); });
  });
  if (!work.exchange()) return false;
  work.attempt([&] {
    work.for_each_other([&](int rank) {
      MessageReader message = work.from(rank);
      take_blocks(message, rank, places, stream);
    });
  });
  return true;
}

bool HostedKernel::exchange_known(const BlocksByRank& outgoing, const BlocksByRank& incoming, JointWork& work,
                                  cudaStream_t stream) {
  return exchange_all(
      [&] { return outgoing; },
      [&](int rank, std::span<const std::size_t> /*sizes*/) { return incoming[static_cast<std::size_t>(rank)]; }, work,
      stream);
}

void HostedKernel::give_blocks(std::span<const DeviceBlock> blocks, MessageWriter& message, cudaStream_t stream) {
  const std::span<const std::byte> bytes = given_.fill(blocks, stream);
  ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream));
  message.put_all(sizes_of(blocks));
  message.put_values(bytes);
}

/// Copies of the previous exchange must have ended, since they use the same memory.
void HostedKernel::take_blocks(MessageReader& message, int rank, const Places& places, cudaStream_t stream) {
  std::vector<std::size_t> sizes;
  message.get_all(sizes);
  while (taken_.size() <= static_cast<std::size_t>(rank)) taken_.emplace_back(*device_);
  Staging& staging = taken_[static_cast<std::size_t>(rank)];
  message.get_values(staging.take(sum_of(sizes)));
  staging.empty(first_of(places(rank, sizes), sizes), stream);
}

void HostedKernel::read_owners(int count, const int* d_owners, CUstream_st* stream) {
  const int* const found = d_owners ? d_owners : division().find_owners(count, stream);
  if (found) owners_.read(found, count, stream);
}

MessageWriter HostedKernel::cells(int index) {
  MessageWriter message;
  on_device(*device_, [&] { give_blocks(division().cells(index), message, stream_.get()); });
  return message;
}

void HostedKernel::place_cells(int index, MessageReader& cells, CUstream_st* stream) {
  const auto places = [&](int rank, std::span<const std::size_t> /*sizes*/) {
    return division().places_of_cells(rank);
  };
  take_blocks(cells, index, places, stream);
  ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream));  // the next exchange uses the same memory
}

/// Number of bodies in the leader's pieces for all other ranks: about 50 MB.
constexpr int bodies_of_pieces = 1 << 20;

/// Returns the `count` bodies from `first` on.
ResidentBodies range_of(const ResidentBodies& bodies, int first, int count) {
  return {.count = count,
          .positions = bodies.positions + first,
          .velocities = bodies.velocities + first,
          .accelerations = bodies.accelerations ? bodies.accelerations + first : nullptr,
          .ids = bodies.ids + first};
}

/// Returns the positions and velocities; accelerations are not sent.
DivisionFacet::Blocks blocks_to_hold(const ResidentBodies& bodies) {
  const std::size_t bytes = static_cast<std::size_t>(bodies.count) * sizeof(Vec4);
  return {{bodies.positions, bytes}, {bodies.velocities, bytes}};
}

DivisionFacet::Blocks blocks_to_collect(const ResidentBodies& bodies, const HeldWanted& wanted) {
  const auto count = static_cast<std::size_t>(bodies.count);
  const auto vectors = [&](const Vec4* array, bool is_wanted) {
    return DeviceBlock{const_cast<Vec4*>(array), is_wanted && array ? count * sizeof(Vec4) : 0};
  };
  return {{bodies.ids, count * sizeof(int)},
          vectors(bodies.positions, wanted.positions),
          vectors(bodies.velocities, wanted.velocities),
          vectors(bodies.accelerations, wanted.accelerations)};
}

RankResidents::RankResidents(const cuda::Device& device, const RankPart& part, cudaStream_t stream, Way way)
    : device_{device},
      part_{part},
      stream_{stream},
      way_{std::move(way)},
      migration_{dynamic_cast<MigrationFacet&>(part.division())},
      shipment_{dynamic_cast<ShipmentFacet&>(part.division())} {}

void RankResidents::prepare(int count, int rank, int ranks) {
  device_.activate();
  rank_ = rank;
  ranks_ = ranks;
  migration_.prepare_residence(count, rank, PartSizes{ranks}.parts());
  shipment_.prepare_shipment();
  dynamic_cast<ChoiceFacet&>(part_.division()).prepare_choice();
  const auto take = [&](auto& array, std::size_t size) {
    take_scratch(device_, array, size, "the pieces of the bodies that ranks hold", "fewer bodies");
  };
  take(findings_, static_cast<std::size_t>(ranks));
  if (!is_leader()) return;
  const auto all = static_cast<std::size_t>(piece_bodies()) * static_cast<std::size_t>(ranks - 1);
  for (auto* array : {&piece_positions_, &piece_velocities_, &piece_accelerations_}) take(*array, all);
  take(piece_ids_, all);
  // If a connection is lost, bodies that did not arrive are written to index 0, not to an arbitrary address.
  cuda::clear(device_, piece_ids_);
}

void RankResidents::forget() {
  for (auto* array : {&piece_positions_, &piece_velocities_, &piece_accelerations_}) *array = {};
  piece_ids_ = {}, owners_ = {};
}

int RankResidents::piece_bodies() const {
  return bodies_of_pieces / (ranks_ - 1);
}

int RankResidents::pieces() const {
  int most = 0;
  for (int rank = 0; rank < ranks_; ++rank) most = std::max(most, shipment_.bodies_of(rank));
  return (most + piece_bodies() - 1) / piece_bodies();
}

auto RankResidents::piece_of(int rank, int number) const -> Piece {
  const int bodies = shipment_.bodies_of(rank), first = std::min(number * piece_bodies(), bodies);
  return {.first = first, .count = std::min(piece_bodies(), bodies - first)};
}

ResidentBodies RankResidents::room_for(int rank, int count) const {
  return range_of({.positions = piece_positions_.data(),
                   .velocities = piece_velocities_.data(),
                   .accelerations = piece_accelerations_.data(),
                   .ids = piece_ids_.data()},
                  (rank - 1) * piece_bodies(), count);
}

void RankResidents::together(bool connected, JointWork& work, cudaStream_t leading, const Together& what) {
  connected_ = connected;
  cudaStream_t const stream = is_leader() ? leading : stream_;
  const auto all = [&] {
    what(way_(connected), stream);
    work.attempt([&] { ended_.record(stream); });
    require_end(work);
  };
  is_leader() ? all() : on_device(device_, all);
}

void RankResidents::hold(const HeldSource& from, bool connected, JointWork& work, CUstream_st* stream) {
  together(connected, work, stream, [&](BlockExchange& by, cudaStream_t on) {
    work.attempt([&] { begin_to_hold(from, on); });
    int first = 0;
    std::vector<int> first_of;
    for (int rank = 0; rank < ranks_; first += shipment_.bodies_of(rank++)) first_of.push_back(first);
    for (int number = 0; number < pieces(); ++number) hand_out(from, first_of, number, by, work, on);
  });
}

void RankResidents::begin_to_hold(const HeldSource& from, cudaStream_t stream) {
  const ResidentBodies own = migration_.held();
  int first = 0;
  for (int rank = 0; rank < rank_; ++rank) first += shipment_.bodies_of(rank);
  number_bodies(own, first, stream);
  if (!is_leader()) {
    ORRERY_CUDA_CHECK(cudaMemsetAsync(own_finding(), 0xff, sizeof(cuda::PackedFinding), stream));
    return;
  }
  copy_entries(from.d_finding, own_finding(), 1, stream);
  copy_entries(from.d_positions, own.positions, own.count, stream);
  copy_entries(from.d_velocities, own.velocities, own.count, stream);
}

void RankResidents::hand_out(const HeldSource& from, std::span<const int> first_of, int number, BlockExchange& by,
                             JointWork& work, cudaStream_t stream) {
  const auto outgoing = [&] {
    BlocksByRank blocks(static_cast<std::size_t>(ranks_));
    for (int rank = 1; is_leader() && rank < ranks_; ++rank) {
      const Piece piece = piece_of(rank, number);
      const ResidentBodies room = room_for(rank, piece.count);
      const int first = first_of[static_cast<std::size_t>(rank)] + piece.first;
      copy_entries(from.d_positions + first, room.positions, piece.count, stream);
      copy_entries(from.d_velocities + first, room.velocities, piece.count, stream);
      blocks[static_cast<std::size_t>(rank)] = blocks_to_hold(room);
    }
    return blocks;
  };
  const auto places = [&](int rank, std::span<const std::size_t>) -> Blocks {
    if (rank > 0) return {};
    const Piece piece = piece_of(rank_, number);
    return blocks_to_hold(range_of(migration_.held(), piece.first, piece.count));
  };
  by.exchange(outgoing, places, work, stream);
}

void RankResidents::kick_drift(const HeldPass& pass, int* seen, CUstream_st* stream) {
  const auto move = [&](cudaStream_t on) {
    const cuda::NonFiniteReport report{.d_first = own_finding(), .seen = seen ? seen : unread_.all().data()};
    kick_drift_held(device_, migration_.held(), pass.motion, pass.check(report), on);
  };
  is_leader() ? move(stream) : on_device(device_, [&] { move(stream_); });
}

void RankResidents::check_finite(const cuda::NonFiniteReport& report, std::uint32_t pass, bool connected,
                                 JointWork& work, CUstream_st* stream) {
  together(connected, work, stream, [&](BlockExchange& by, cudaStream_t on) {
    int* const seen = is_leader() ? report.seen : unread_.all().data();
    work.attempt([&] { check_held(migration_.held(), {.d_first = own_finding(), .seen = seen}, pass, on); });
    share_findings(by, work, on);
    work.attempt([&] {
      if (is_leader()) join_findings({.of = {own_finding()}, .devices = 1}, report, on);
    });
  });
}

void RankResidents::share_findings(BlockExchange& by, JointWork& work, cudaStream_t stream) {
  const auto finding_of = [&](int rank) { return DeviceBlock{findings_.data() + rank, sizeof(cuda::PackedFinding)}; };
  by.share(finding_of(rank_), finding_of, work, stream);
  OnAll<const cuda::PackedFinding> all{.of = {}, .devices = ranks_};
  for (int rank = 0; rank < ranks_; ++rank) all.of[rank] = findings_.data() + rank;
  work.attempt([&] { join_findings(all, {.d_first = own_finding()}, stream); });
}

void RankResidents::evaluate(const ForceArgs& args, const HeldEvaluation& how, std::span<const Part> parts,
                             JointWork& work) {
  together(how.connected, work, args.stream, [&](BlockExchange& by, cudaStream_t on) {
    ForceArgs here = args;
    here.stream = on;
    const Part& own = parts[static_cast<std::size_t>(rank_)];
    work.attempt([&] { migration_.divide(here, parts, how.rounds); });
    share_findings(by, work, on);
    if (how.rounds > 0) migrate(here, how.rounds, by, work);
    work.attempt([&] { part_.begin(here, own); });
    part_.exchange(here, work, by);
    work.attempt([&] { part_.evaluate(here, own); });
    by.share(
        shipment_.counted(), [&](int rank) { return shipment_.place_of_counted(rank); }, work, on);
    work.attempt([&] {
      if (is_leader()) migration_.finish_residents(here);
    });
  });
}

void RankResidents::migrate(const ForceArgs& args, int rounds, BlockExchange& by, JointWork& work) {
  const cuda::ProfilerRange range{"move bodies"};
  for (int round = 0; round < rounds; ++round) {
    work.attempt([&] { migration_.round(round, args); });
    by.share(
        shipment_.found_in(round), [&](int rank) { return shipment_.place_of_found(round, rank); }, work, args.stream);
  }
  int shipments = 1;  // a rank that fails joins one exchange: then all ranks know
  work.attempt([&] { shipments = shipment_.shipments([&] { by.wait(work, args.stream); }, args.stream); });
  for (int shipment = 0; shipment < shipments; ++shipment) {
    BlocksByRank outgoing(static_cast<std::size_t>(ranks_)), incoming(outgoing.size());
    work.attempt([&] {
      outgoing = shipment_.leaving(shipment, args.stream);
      incoming = shipment_.arriving(shipment);
    });
    if (!by.exchange_known(outgoing, incoming, work, args.stream)) return;
  }
}

void RankResidents::collect(const HeldWanted& wanted, const HeldPlaces& places, bool connected, JointWork& work,
                            CUstream_st* stream) {
  together(connected, work, stream, [&](BlockExchange& by, cudaStream_t on) {
    work.attempt([&] {
      if (is_leader()) place(migration_.held(), 0, places, on);
    });
    for (int number = 0; number < pieces(); ++number) take_pieces(wanted, places, number, by, work, on);
  });
}

void RankResidents::take_pieces(const HeldWanted& wanted, const HeldPlaces& places, int number, BlockExchange& by,
                                JointWork& work, cudaStream_t stream) {
  const auto outgoing = [&] {
    BlocksByRank blocks(static_cast<std::size_t>(ranks_));
    if (is_leader()) return blocks;
    const Piece piece = piece_of(rank_, number);
    blocks.front() = blocks_to_collect(range_of(migration_.held(), piece.first, piece.count), wanted);
    return blocks;
  };
  const auto rooms = [&](int rank, std::span<const std::size_t>) -> Blocks {
    if (!is_leader()) return {};
    return blocks_to_collect(room_for(rank, piece_of(rank, number).count), wanted);
  };
  by.exchange(outgoing, rooms, work, stream);
  work.attempt([&] {
    for (int rank = 1; is_leader() && rank < ranks_; ++rank) {
      place(room_for(rank, piece_of(rank, number).count), rank, places, stream);
    }
  });
}

void RankResidents::place(const ResidentBodies& bodies, int rank, const HeldPlaces& places, cudaStream_t stream) {
  if (bodies.count == 0) return;
  if (places.d_positions || places.d_velocities || places.d_accelerations) {
    collect_bodies(bodies, places.d_positions, places.d_velocities, places.d_accelerations, stream);
  }
  if (places.d_owners) name_owner(bodies, rank, places.d_owners, stream);
}

int* RankResidents::owners_room(int count) {
  take_scratch(device_, owners_, static_cast<std::size_t>(count), "the bodies' ranks", "fewer bodies");
  return owners_.data();
}

class CudaRankDevice final : public RankDevice {
 public:
  RankDeviceFacts open(const DevicesOfRanks& which, int place) override {
    connection_.reset();
    device_ = std::make_shared<const cuda::Device>(device_at(which, place, static_cast<int>(cuda::devices().size())));
    const cuda::DeviceInfo& info = device_->info();
    cudaDeviceProp properties{};
    ORRERY_CUDA_CHECK(cudaGetDeviceProperties(&properties, info.ordinal));
    RankDeviceFacts facts{
        .ordinal = info.ordinal, .architecture = info.architecture(), .multiprocessors = info.multiprocessors};
    std::ranges::copy(properties.uuid.bytes, facts.uuid.begin());
    return facts;
  }
  int nccl_version() override {
    try {
      if (!nccl_) nccl_ = std::make_shared<const Nccl>();
      return nccl_->version();
    } catch (const std::exception&) {  // few machines have NCCL
      return 0;
    }
  }
  ConnectionId new_connection() override {
    ConnectionId id;
    nccl_->check(nccl_->make_id(&id), "ncclGetUniqueId");
    return id;
  }
  void connect(const ConnectionId& id, int rank, int ranks) override {
    connection_ = NcclConnection::make(nccl_, device_, id, rank, ranks);
  }
  void disconnect() noexcept override {
    if (connection_) connection_->abort();
    connection_.reset();
  }
  bool connected() const override { return connection_ && connection_->is_open(); }
  std::unique_ptr<HostedDivision> make(const KernelInfo& kernel, const Settings& settings) override {
    device_->activate();
    return std::make_unique<HostedKernel>(device_, kernel, settings, connection_);
  }

 private:
  std::shared_ptr<const cuda::Device> device_;
  std::shared_ptr<const Nccl> nccl_;            // null: not opened yet, or not installed
  std::shared_ptr<NcclConnection> connection_;  // connection of device_; null: none
};

}  // namespace

std::unique_ptr<RankDevice> cuda_rank_device() {
  return std::make_unique<CudaRankDevice>();
}

}  // namespace orrery
