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
#include "compute/devices/device_team.h"
#include "compute/devices/load_balance.h"
#include "compute/devices/nccl.h"
#include "compute/devices/resident_bodies.h"
#include "compute/devices/target_partition.h"
#include "compute/kernels/division.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/rank_device.h"

namespace orrery {
namespace {

std::size_t sum_of(std::span<const std::size_t> sizes) {
  std::size_t sum = 0;
  for (const std::size_t size : sizes) sum += size;
  return sum;
}

std::vector<std::size_t> sizes_of(std::span<const DeviceBlock> blocks) {
  std::vector<std::size_t> sizes;
  for (const DeviceBlock& block : blocks) sizes.push_back(block.bytes);
  return sizes;
}

/// Returns the input blocks of a worker with their sizes only: first the blocks for all workers, then its own.
PartitionFacet::Blocks blocks_of(const WorkerInput& input) {
  PartitionFacet::Blocks blocks;
  for (const auto& sizes : {std::span{input.common}, std::span{input.individual}}) {
    for (const std::size_t size : sizes) blocks.push_back({.bytes = size});
  }
  return blocks;
}

/// Returns the blocks with their sizes replaced by `sizes`, in bytes.
PartitionFacet::Blocks first_of(PartitionFacet::Blocks blocks, std::span<const std::size_t> sizes) {
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i].bytes = sizes[i];
  return blocks;
}

/// Page-locked host buffer for copies to and from device memory. Blocks are packed in it one after the other.
class Staging {
 public:
  explicit Staging(const cuda::Device& device) : device_{device} {}

  /// Returns the first `bytes` bytes of the buffer, and allocates it if needed. Earlier contents may be lost.
  std::span<std::byte> allocate(std::size_t bytes) {
    if (memory_.size() < bytes) {
      memory_ = {};  // frees the old memory before it allocates the new
      memory_ = {device_, bytes, /*pinned=*/true};
    }
    return first(bytes);
  }

  std::span<std::byte> first(std::size_t bytes) const { return memory_.all().first(bytes); }

  /// Enqueues copies of the blocks to the buffer. Returns the part of the buffer that they fill.
  std::span<std::byte> download(std::span<const DeviceBlock> blocks, cudaStream_t stream) {
    const std::span<std::byte> all = allocate(sum_of(sizes_of(blocks)));
    std::byte* to = all.data();
    for (const DeviceBlock& block : blocks) {
      if (block.bytes == 0) continue;
      cuda::download(static_cast<const std::byte*>(block.data), std::span{to, block.bytes}, stream);
      to += block.bytes;
    }
    return all;
  }

  /// Enqueues copies from the buffer to the blocks.
  void upload(std::span<const DeviceBlock> blocks, cudaStream_t stream) const {
    const std::byte* from = first(sum_of(sizes_of(blocks))).data();
    for (const DeviceBlock& block : blocks) {
      if (block.bytes == 0) continue;
      cuda::upload(std::span{from, block.bytes}, static_cast<std::byte*>(block.data), stream);
      from += block.bytes;
    }
  }

 private:
  const cuda::Device& device_;
  cuda::HostArray<std::byte> memory_;
};

using BlocksByRank = std::vector<PartitionFacet::Blocks>;  ///< one entry per rank; the entry of this rank is unused

/// All-to-all exchange of device memory between the ranks: through host memory, or by NCCL.
class BlockExchange {
 public:
  /// Returns the blocks for each rank. Work already enqueued on the stream fills them.
  using Outgoing = std::function<BlocksByRank()>;
  /// Allocates and returns memory for the blocks that `rank` sends, with these sizes in bytes.
  using Places = std::function<PartitionFacet::Blocks(int rank, std::span<const std::size_t> sizes)>;

  virtual ~BlockExchange() = default;
  /// Collective. Work that is enqueued on the stream afterwards finds the blocks in place, unless work.ok() is false.
  virtual void exchange(const Outgoing& outgoing, const Places& places, CollectiveWork& work, cudaStream_t stream) = 0;
  /// Collective: exchanges blocks whose sizes both ends know, into memory that is already allocated. Through host
  /// memory, returns false on all ranks if one has failed before. By NCCL, always returns true, because other ranks
  /// notice a failure later: their streams may wait for its data until wait() or an order of the leader ends that.
  virtual bool exchange_known(const BlocksByRank& outgoing, const BlocksByRank& incoming, CollectiveWork& work,
                              cudaStream_t stream) = 0;
  /// Collective: sends `own`, whose size is the same on all ranks, to every other rank by exchange_known().
  void all_gather(const DeviceBlock& own, const std::function<DeviceBlock(int rank)>& place_of, CollectiveWork& work,
                  cudaStream_t stream) {
    BlocksByRank to(static_cast<std::size_t>(work.size())), from(to.size());
    work.for_each_other([&](int rank) {
      to[static_cast<std::size_t>(rank)] = {own};
      from[static_cast<std::size_t>(rank)] = {place_of(rank)};
    });
    (void)exchange_known(to, from, work, stream);
  }

  /// Returns whether the device has reached the event, which may follow an exchange. Throws the error of this rank, or
  /// Stopped if another rank has failed, so that the event will never be reached.
  virtual bool reached(const cuda::OrderEvent& event) const = 0;
  /// Blocks until all work on the stream has ended, including exchanges. Throws Stopped if another rank has failed.
  virtual void wait(const CollectiveWork& work, cudaStream_t stream) = 0;
};

/// The part of an evaluation that one rank's device computes, with its time. Independent of the transport.
class RankEvaluation {
 public:
  /// `partition` must outlive this object.
  RankEvaluation(const cuda::Device& device, PartitionFacet& partition)
      : partition_{partition}, begins_{device}, begun_{device}, resumed_{device}, ends_{device} {}

  PartitionFacet& partition() const { return partition_; }
  /// Allocates the memory for evaluations of `count` bodies as rank `index` of `ranks`.
  void prepare(int count, int index, int ranks) const {
    partition_.prepare_partition(count, index, ranks);
    if (auto* const choice = dynamic_cast<ChoiceFacet*>(&partition_)) choice->prepare_choice();
  }

  void begin(const ForceArgs& args, const Part& part) const {
    const ProfilerRange range{"begin a part"};
    begins_.record(args.stream);
    partition_.begin_part(args, part);
    begun_.record(args.stream);
  }
  /// Collective: exchanges locally essential trees between all ranks. Call after begin() if
  /// PartitionFacet::exchanges().
  void exchange(const ForceArgs& args, CollectiveWork& work, BlockExchange& by) const {
    const ProfilerRange range{"exchange cells"};
    auto& choice = dynamic_cast<ChoiceFacet&>(partition_);  // every kernel that exchanges() implements ChoiceFacet
    by.all_gather(
        choice.outline(), [&](int rank) { return choice.place_of_outline(rank); }, work, args.stream);
    by.exchange([&] { return choice.choose(args, [&] { by.wait(work, args.stream); }); },
                [&](int rank, std::span<const std::size_t> sizes) { return choice.places_of_chosen(rank, sizes); },
                work, args.stream);
    work.attempt([&] { choice.take_chosen(args); });
  }

  void evaluate(const ForceArgs& args, const Part& part) const {
    const ProfilerRange range{"evaluate a part"};
    resumed_.record(args.stream);
    partition_.evaluate_part(args, part);
    ends_.record(args.stream);
  }
  const cuda::Event& end() const { return ends_; }
  /// Returns the device time of begin() and evaluate() together, in ms. Call when the part has ended.
  double ms() const { return cuda::elapsed_ms(begins_, begun_) + cuda::elapsed_ms(resumed_, ends_); }

 private:
  PartitionFacet& partition_;
  cuda::Event begins_, begun_, resumed_, ends_;
};

/// Capacity of the leader's buffers, in bodies for all workers together: about 50 MB.
constexpr int bodies_of_pieces = 1 << 20;

/// Returns the bodies [first, first + count).
ResidentBodies range_of(const ResidentBodies& bodies, int first, int count) {
  return {.count = count,
          .positions = bodies.positions + first,
          .velocities = bodies.velocities + first,
          .accelerations = bodies.accelerations ? bodies.accelerations + first : nullptr,
          .ids = bodies.ids + first};
}

/// Returns the arrays that hold() sends: positions and velocities.
PartitionFacet::Blocks blocks_to_hold(const ResidentBodies& bodies) {
  const std::size_t bytes = static_cast<std::size_t>(bodies.count) * sizeof(Vec4);
  return {{bodies.positions, bytes}, {bodies.velocities, bytes}};
}

/// Returns the arrays that collect() sends: the ids and the wanted arrays.
PartitionFacet::Blocks blocks_to_collect(const ResidentBodies& bodies, const GatherSelection& wanted) {
  const auto count = static_cast<std::size_t>(bodies.count);
  const auto vectors = [&](const Vec4* array, bool is_wanted) {
    return DeviceBlock{const_cast<Vec4*>(array), is_wanted && array ? count * sizeof(Vec4) : 0};
  };
  return {{bodies.ids, count * sizeof(int)},
          vectors(bodies.positions, wanted.positions),
          vectors(bodies.velocities, wanted.velocities),
          vectors(bodies.accelerations, wanted.accelerations)};
}

/// RankResidents on CUDA, for kernels with MigrationFacet, ChoiceFacet and ShipmentFacet.
class CudaRankResidents final : public RankResidents {
 public:
  /// Returns the transport: NCCL if `connected`, otherwise host memory.
  using SelectExchange = std::function<BlockExchange&(bool connected)>;
  /// `device`, `part` and `stream` must outlive this object. The leader uses its caller's stream instead of `stream`.
  CudaRankResidents(const cuda::Device& device, const RankEvaluation& part, cudaStream_t stream,
                    SelectExchange select_exchange)
      : device_{device},
        part_{part},
        stream_{stream},
        select_exchange_{std::move(select_exchange)},
        migration_{dynamic_cast<MigrationFacet&>(part.partition())},
        shipment_{dynamic_cast<ShipmentFacet&>(part.partition())} {}

  bool can_hold(int count, int ranks) const override { return migration_.can_hold(count, ranks); }
  void prepare(int count, int rank, int ranks) override {
    device_.activate();
    rank_ = rank;
    ranks_ = ranks;
    migration_.prepare_residence(count, rank, PartSizes{ranks}.parts());
    shipment_.prepare_shipment();
    dynamic_cast<ChoiceFacet&>(part_.partition()).prepare_choice();
    const auto take = [&](auto& array, std::size_t size) {
      take_scratch(device_, array, size, "the exchange buffers of the bodies", "fewer bodies");
    };
    take(findings_, static_cast<std::size_t>(ranks));
    if (!is_leader()) return;
    const auto all = static_cast<std::size_t>(piece_bodies()) * static_cast<std::size_t>(ranks - 1);
    for (auto* array : {&piece_positions_, &piece_velocities_, &piece_accelerations_}) take(*array, all);
    take(piece_ids_, all);
    // Index 0 for all: if a lost connection delivers no bodies, they are then written to a valid address.
    cuda::clear(device_, piece_ids_);
  }

  /// Frees the buffers that prepare() allocates.
  void forget() {
    for (auto* array : {&piece_positions_, &piece_velocities_, &piece_accelerations_}) *array = {};
    piece_ids_ = {}, owners_ = {};
  }
  void hold(const ScatterSource& from, bool connected, CollectiveWork& work, CUstream_st* stream) override {
    together(connected, work, stream, [&](BlockExchange& by, cudaStream_t on) {
      work.attempt([&] { begin_to_hold(from, on); });
      int first = 0;
      std::vector<int> first_of;
      for (int rank = 0; rank < ranks_; first += shipment_.bodies_of(rank++)) first_of.push_back(first);
      for (int number = 0; number < pieces(); ++number) scatter_piece(from, first_of, number, by, work, on);
    });
  }

  void kick_drift(const PassOrder& pass, int* seen, CUstream_st* stream) override {
    const auto move = [&](cudaStream_t on) {
      const cuda::NonFiniteReport report{.d_first = own_finding(), .seen = seen ? seen : unread_.all().data()};
      kick_drift_residents(device_, migration_.residents(), pass.motion, pass.check(report), on);
    };
    is_leader() ? move(stream) : on_device(device_, [&] { move(stream_); });
  }

  void check_finite(const cuda::NonFiniteReport& report, std::uint32_t pass, bool connected, CollectiveWork& work,
                    CUstream_st* stream) override {
    together(connected, work, stream, [&](BlockExchange& by, cudaStream_t on) {
      int* const seen = is_leader() ? report.seen : unread_.all().data();
      work.attempt(
          [&] { check_residents(migration_.residents(), {.d_first = own_finding(), .seen = seen}, pass, on); });
      reduce_all_findings(by, work, on);
      work.attempt([&] {
        if (is_leader()) reduce_findings({.of = {own_finding()}, .devices = 1}, report, on);
      });
    });
  }

  int begin(const ForceArgs& args) override { return migration_.begin_residents(args); }
  void evaluate(const ForceArgs& args, const ResidentEvaluation& how, std::span<const Part> parts,
                CollectiveWork& work) override {
    together(how.connected, work, args.stream, [&](BlockExchange& by, cudaStream_t on) {
      ForceArgs here = args;
      here.stream = on;
      const Part& own = parts[static_cast<std::size_t>(rank_)];
      work.attempt([&] { migration_.divide(here, parts, how.rounds); });
      reduce_all_findings(by, work, on);
      if (how.rounds > 0) migrate(here, how.rounds, by, work);
      work.attempt([&] { part_.begin(here, own); });
      part_.exchange(here, work, by);
      work.attempt([&] { part_.evaluate(here, own); });
      by.all_gather(
          shipment_.counted(), [&](int rank) { return shipment_.place_of_counted(rank); }, work, on);
      work.attempt([&] {
        if (is_leader()) migration_.finish_residents(here);
      });
    });
  }

  void collect(const GatherSelection& wanted, const GatherBuffers& places, bool connected, CollectiveWork& work,
               CUstream_st* stream) override {
    together(connected, work, stream, [&](BlockExchange& by, cudaStream_t on) {
      work.attempt([&] {
        if (is_leader()) write(migration_.residents(), 0, places, on);
      });
      for (int number = 0; number < pieces(); ++number) gather_piece(wanted, places, number, by, work, on);
    });
  }

  int* owner_buffer(int count) override {
    take_scratch(device_, owners_, static_cast<std::size_t>(count), "the ranks of the bodies", "fewer bodies");
    return owners_.data();
  }
  bool part_ended() const override { return select_exchange_(connected_).reached(part_.end()); }
  bool ended() const override { return select_exchange_(connected_).reached(ended_); }

 private:
  using Blocks = PartitionFacet::Blocks;

  /// Collective work on a stream.
  using Together = std::function<void(BlockExchange& by, cudaStream_t stream)>;
  /// Range of the bodies that one rank holds.
  struct Piece {
    int first, count;
  };

  bool is_leader() const { return rank_ == 0; }
  cuda::PackedFinding* own_finding() const { return findings_.data() + rank_; }
  /// Runs `what` with the device active. `leading`: the leader's stream. Throws the error of this rank, or Stopped if
  /// another rank failed.
  void together(bool connected, CollectiveWork& work, cudaStream_t leading, const Together& what) {
    connected_ = connected;
    cudaStream_t const stream = is_leader() ? leading : stream_;
    const auto all = [&] {
      what(select_exchange_(connected), stream);
      work.attempt([&] { ended_.record(stream); });
      require_end(work);
    };
    is_leader() ? all() : on_device(device_, all);
  }

  /// Reduces the findings of all ranks to the earliest one, on every rank.
  void reduce_all_findings(BlockExchange& by, CollectiveWork& work, cudaStream_t stream) {
    const auto finding_of = [&](int rank) { return DeviceBlock{findings_.data() + rank, sizeof(cuda::PackedFinding)}; };
    by.all_gather(finding_of(rank_), finding_of, work, stream);
    OnAll<const cuda::PackedFinding> all{.of = {}, .devices = ranks_};
    for (int rank = 0; rank < ranks_; ++rank) all.of[rank] = findings_.data() + rank;
    work.attempt([&] { reduce_findings(all, {.d_first = own_finding()}, stream); });
  }

  void migrate(const ForceArgs& args, int rounds, BlockExchange& by, CollectiveWork& work) {
    const ProfilerRange range{"move bodies"};
    for (int round = 0; round < rounds; ++round) {
      work.attempt([&] { migration_.round(round, args); });
      by.all_gather(
          shipment_.found_in(round), [&](int rank) { return shipment_.place_of_found(round, rank); }, work,
          args.stream);
    }
    int shipments = 1;  // a failed rank joins one exchange, which informs all ranks
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

  // Bodies are scattered and gathered in pieces that fit into the leader's buffers. Pieces are numbered from 0.
  int piece_bodies() const { return bodies_of_pieces / (ranks_ - 1); }
  int pieces() const {
    int most = 0;
    for (int rank = 0; rank < ranks_; ++rank) most = std::max(most, shipment_.bodies_of(rank));
    return (most + piece_bodies() - 1) / piece_bodies();
  }
  Piece piece_of(int rank, int number) const {
    const int bodies = shipment_.bodies_of(rank), first = std::min(number * piece_bodies(), bodies);
    return {.first = first, .count = std::min(piece_bodies(), bodies - first)};
  }
  /// Returns the leader's buffer for a piece of another rank's bodies.
  ResidentBodies buffer_for(int rank, int count) const {
    return range_of({.positions = piece_positions_.data(),
                     .velocities = piece_velocities_.data(),
                     .accelerations = piece_accelerations_.data(),
                     .ids = piece_ids_.data()},
                    (rank - 1) * piece_bodies(), count);
  }

  /// Sets the ids and the finding of this rank. The leader also copies its own bodies.
  void begin_to_hold(const ScatterSource& from, cudaStream_t stream) {
    const ResidentBodies own = migration_.residents();
    int first = 0;
    for (int rank = 0; rank < rank_; ++rank) first += shipment_.bodies_of(rank);
    set_ids(own, first, stream);
    if (!is_leader()) {
      ORRERY_CUDA_CHECK(cudaMemsetAsync(own_finding(), 0xff, sizeof(cuda::PackedFinding), stream));
      return;
    }
    copy_entries(from.d_finding, own_finding(), 1, stream);
    copy_entries(from.d_positions, own.positions, own.count, stream);
    copy_entries(from.d_velocities, own.velocities, own.count, stream);
  }

  /// Sends piece `number` of every rank. `first_of`: index of each rank's first body among all bodies.
  void scatter_piece(const ScatterSource& from, std::span<const int> first_of, int number, BlockExchange& by,
                     CollectiveWork& work, cudaStream_t stream) {
    const auto outgoing = [&] {
      BlocksByRank blocks(static_cast<std::size_t>(ranks_));
      for (int rank = 1; is_leader() && rank < ranks_; ++rank) {
        const Piece piece = piece_of(rank, number);
        const ResidentBodies room = buffer_for(rank, piece.count);
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
      return blocks_to_hold(range_of(migration_.residents(), piece.first, piece.count));
    };
    by.exchange(outgoing, places, work, stream);
  }

  void gather_piece(const GatherSelection& wanted, const GatherBuffers& places, int number, BlockExchange& by,
                    CollectiveWork& work, cudaStream_t stream) {
    const auto outgoing = [&] {
      BlocksByRank blocks(static_cast<std::size_t>(ranks_));
      if (is_leader()) return blocks;
      const Piece piece = piece_of(rank_, number);
      blocks.front() = blocks_to_collect(range_of(migration_.residents(), piece.first, piece.count), wanted);
      return blocks;
    };
    const auto rooms = [&](int rank, std::span<const std::size_t>) -> Blocks {
      if (!is_leader()) return {};
      return blocks_to_collect(buffer_for(rank, piece_of(rank, number).count), wanted);
    };
    by.exchange(outgoing, rooms, work, stream);
    work.attempt([&] {
      for (int rank = 1; is_leader() && rank < ranks_; ++rank) {
        write(buffer_for(rank, piece_of(rank, number).count), rank, places, stream);
      }
    });
  }

  /// Writes gathered bodies to their destinations.
  static void write(const ResidentBodies& bodies, int rank, const GatherBuffers& places, cudaStream_t stream) {
    if (bodies.count == 0) return;
    if (places.d_positions || places.d_velocities || places.d_accelerations) {
      gather_bodies(bodies, places.d_positions, places.d_velocities, places.d_accelerations, stream);
    }
    if (places.d_owners) set_owner(bodies, rank, places.d_owners, stream);
  }

  const cuda::Device& device_;
  const RankEvaluation& part_;
  cudaStream_t const stream_;
  const SelectExchange select_exchange_;
  MigrationFacet& migration_;
  ShipmentFacet& shipment_;
  int rank_ = 0, ranks_ = 1;
  bool connected_ = false;                                    // argument of the latest call, see RankResidents
  cuda::OrderEvent ended_{device_};                           // end of the work of the latest call
  cuda::DeviceArray<cuda::PackedFinding> findings_;           // one entry per rank
  cuda::HostArray<int> unread_{device_, 1, /*pinned=*/true};  // target of NonFiniteReport::seen if nothing reads it
  // Leader's buffers:
  cuda::DeviceArray<Vec4> piece_positions_, piece_velocities_, piece_accelerations_;
  cuda::DeviceArray<int> piece_ids_, owners_;
};

/// ConnectedRankKernel by NCCL, which transfers data from device to device.
class NcclRankKernel final : public ConnectedRankKernel, public BlockExchange {
 public:
  /// All references must outlive this object. `part`: of a kernel on `device`. `stream`: of a worker; the leader uses
  /// its caller's stream instead.
  NcclRankKernel(const cuda::Device& device, const RankEvaluation& part, const cuda::Stream& stream,
                 std::shared_ptr<NcclConnection> connection)
      : device_{device},
        part_{part},
        partition_{part.partition()},
        stream_{stream},
        connection_{std::move(connection)} {}

  bool is_open() const { return connection_->is_open(); }

  /// Allocates memory for the results before the device waits for another rank, since allocating may wait for the
  /// device. The kernel itself may still allocate later.
  std::vector<WorkerInput> prepare_inputs(const ForceArgs& args, std::span<const Part> parts) override {
    common_ = partition_.prepare_inputs(args, parts);
    individual_.assign(parts.size(), {});
    places_.assign(parts.size(), {});
    std::vector<WorkerInput> inputs(parts.size());
    for (std::size_t rank = 1; rank < parts.size(); ++rank) {
      individual_[rank] = partition_.input_of(args, parts[rank]);
      places_[rank] = partition_.places(args, parts[rank]);
      inputs[rank] = {
          .common = sizes_of(common_), .individual = sizes_of(individual_[rank]), .exchanges = partition_.exchanges()};
    }
    return inputs;
  }

  void evaluate(const ForceArgs& args, std::span<const Part> parts, CollectiveWork& work) override {
    const Part& own = parts.front();
    if (partition_.works_alone()) return evaluate_alone(args, own);
    work.attempt([&] {
      connection_->broadcast(common_, args.stream);
      connection_->exchange(individual_, BlocksByRank(parts.size()), args.stream);
      part_.begin(args, own);
    });
    if (partition_.exchanges()) part_.exchange(args, work, *this);
    work.attempt([&] {
      part_.evaluate(args, own);
      connection_->exchange(BlocksByRank(parts.size()), places_, args.stream);
      ended_.record(args.stream);
    });
    require_end(work);
  }

  bool part_ended() override { return reached(part_.end()); }
  bool ended() override { return reached(ended_); }
  void join(const ForceArgs& args, std::span<const Part> parts) override { partition_.join(args, parts); }

  /// Enqueues the sending of the results. Returns when the part has ended.
  void evaluate_part(const ForceArgs& args, const WorkerInput& input, std::span<const Part> parts, const Part& own,
                     CollectiveWork& work) override {
    on_device(device_, [&] {
      ForceArgs on_stream = args;
      on_stream.stream = stream_.get();
      work.attempt([&] {
        const Blocks places = partition_.receive(on_stream, parts, blocks_of(input));
        const std::span all{places};
        const auto individual = all.subspan(input.common.size());
        BlocksByRank from_leader(parts.size());
        from_leader.front().assign(individual.begin(), individual.end());
        connection_->broadcast(all.first(input.common.size()), on_stream.stream);
        connection_->exchange(BlocksByRank(parts.size()), from_leader, on_stream.stream);
        part_.begin(on_stream, own);
      });
      if (input.exchanges) part_.exchange(on_stream, work, *this);
      work.attempt([&] {
        part_.evaluate(on_stream, own);
        BlocksByRank to_leader(parts.size());
        to_leader.front() = partition_.results(on_stream, own);
        connection_->exchange(to_leader, BlocksByRank(parts.size()), on_stream.stream);
        ended_.record(on_stream.stream);
      });
      require_end(work);
    });
    while (!part_ended()) {
      if (!work.ok()) throw Stopped{};
      std::this_thread::yield();
    }
  }

  void disconnect() noexcept override { connection_->abort(); }

  /// Two messages precede the transfer: the sizes, and an acknowledgement that memory is allocated. After these, only
  /// the driver or NCCL can fail. A rank that waits for data of a failed rank finds out in wait().
  void exchange(const Outgoing& outgoing, const Places& places, CollectiveWork& work, cudaStream_t stream) override {
    BlocksByRank to, from(static_cast<std::size_t>(work.size()));
    work.attempt([&] {
      to = outgoing();
      work.for_each_other([&](int rank) { work.to(rank).put_all(sizes_of(to[static_cast<std::size_t>(rank)])); });
    });
    if (!work.exchange()) return;
    work.attempt([&] {
      work.for_each_other([&](int rank) {
        std::vector<std::size_t> sizes;
        MessageReader message = work.from(rank);
        message.get_all(sizes);
        from[static_cast<std::size_t>(rank)] = first_of(places(rank, sizes), sizes);
      });
      work.put_for_all(true);
    });
    if (!work.exchange()) return;
    work.attempt([&] {
      to[static_cast<std::size_t>(work.rank())].clear();
      connection_->exchange(to, from, stream);
    });
  }

  /// Sends no messages between the hosts, since both ends know the sizes.
  bool exchange_known(const BlocksByRank& outgoing, const BlocksByRank& incoming, CollectiveWork& work,
                      cudaStream_t stream) override {
    work.attempt([&] { connection_->exchange(outgoing, incoming, stream); });
    return true;
  }
  bool reached(const cuda::OrderEvent& event) const override {
    connection_->check();
    return event.reached();
  }

 private:
  using Blocks = PartitionFacet::Blocks;

  /// Computes everything on the leader. Sends nothing, since the workers have no orders.
  void evaluate_alone(const ForceArgs& args, const Part& own) {
    part_.begin(args, own);
    part_.evaluate(args, own);
    ended_.record(args.stream);
  }
  /// Throws Stopped if the data will never arrive: a failed rank sends an empty message instead of joining the next
  /// exchange.
  void wait(const CollectiveWork& work, cudaStream_t stream) override {
    waited_for_.record(stream);
    while (!reached(waited_for_)) {
      if (!work.ok() || work.others_stop()) throw Stopped{};
      std::this_thread::yield();
    }
  }

  const cuda::Device& device_;
  const RankEvaluation& part_;
  PartitionFacet& partition_;
  const cuda::Stream& stream_;
  const std::shared_ptr<NcclConnection> connection_;
  cuda::OrderEvent ended_{device_};       // end of this rank's part and of its transfers
  cuda::OrderEvent waited_for_{device_};  // recorded by wait()
  // Leader only, during an evaluation:
  Blocks common_;
  BlocksByRank individual_, places_;  // blocks for one rank; destinations of the rank's results
};

/// RankKernel on CUDA. Data go to other ranks through page-locked host memory, or by NCCL if there is a connection.
class CudaRankKernel final : public RankKernel, private BlockExchange {
 public:
  /// `connection`: NCCL connection to the other ranks' devices; null: none.
  CudaRankKernel(std::shared_ptr<const cuda::Device> device, const KernelInfo& info, const Settings& settings,
                 std::shared_ptr<NcclConnection> connection)
      : device_{std::move(device)},
        kernel_{info.make(settings, device_.get())},
        by_targets_{info.divides ? nullptr
                                 : std::make_unique<TargetPartition>(*kernel_, info.reads_low_words, *device_)} {
    inputs_.emplace_back(*device_);
    if (connection) connected_.emplace(*device_, part_, stream_, std::move(connection));
    if (!dynamic_cast<ShipmentFacet*>(&partition())) return;
    residents_.emplace(*device_, part_, stream_.get(), [this](bool connected) -> BlockExchange& {
      if (!connected) return *this;
      if (!connected_) throw Stopped{"there is no connection"};
      return *connected_;
    });
  }

  CudaRankKernel(const CudaRankKernel&) = delete;
  CudaRankKernel& operator=(const CudaRankKernel&) = delete;
  /// Blocks until the device has finished, since copies may still use this object's memory. After a failed evaluation,
  /// the connection is closed, so the device waits for no other rank. If a rank is lost between evaluations, this may
  /// block until the rank watch ends the process.
  ~CudaRankKernel() override {
    ORRERY_CUDA_WARN(cudaSetDevice(device_->ordinal()));
    ORRERY_CUDA_WARN(cudaDeviceSynchronize());
  }

  ForceKernel& kernel() override { return *kernel_; }
  ConnectedRankKernel* connected() override { return connected_ && connected_->is_open() ? &*connected_ : nullptr; }
  void prepare(int count, int index, int ranks) override {
    device_->activate();
    owners_.forget();
    if (residents_) residents_->forget();
    part_.prepare(count, index, ranks);
    const auto all = static_cast<std::size_t>(ranks);
    while (index == 0 && returned_.size() < all) returned_.emplace_back(*device_);
    while (index == 0 && inputs_.size() < all) inputs_.emplace_back(*device_);
  }

  void bodies_replaced() override {
    kernel_->bodies_replaced();
    owners_.forget();
  }

  std::vector<WorkerInput> prepare_inputs(const ForceArgs& args, std::span<const Part> parts) override {
    const Blocks for_all = partition().prepare_inputs(args, parts);
    common_ = inputs_.front().download(for_all, args.stream);
    individual_.assign(parts.size(), {});
    std::vector<WorkerInput> inputs(parts.size());
    for (std::size_t rank = 1; rank < parts.size(); ++rank) {
      const Blocks for_one = partition().input_of(args, parts[rank]);
      individual_[rank] = inputs_[rank].download(for_one, args.stream);
      inputs[rank] = {
          .common = sizes_of(for_all), .individual = sizes_of(for_one), .exchanges = partition().exchanges()};
    }
    inputs_ready_.record(args.stream);
    part_.begin(args, parts.front());
    if (!partition().exchanges()) part_.evaluate(args, parts.front());
    inputs_ready_.synchronize();
    return inputs;
  }

  std::span<const std::byte> common_input() const override { return common_; }
  std::span<const std::byte> individual_input(int rank) const override {
    return individual_[static_cast<std::size_t>(rank)];
  }
  std::span<std::byte> place(const ForceArgs& args, const Part& part) override {
    joined_.synchronize();  // earlier copies may still read this memory
    return returned_[static_cast<std::size_t>(part.index)].allocate(sum_of(sizes_of(partition().places(args, part))));
  }
  void end_part(const ForceArgs& args, std::span<const Part> parts, CollectiveWork& work) override {
    if (partition().exchanges()) {
      part_.exchange(args, work, *this);
      work.attempt([&] { part_.evaluate(args, parts.front()); });
      require_end(work);
    }
    part_.end().synchronize();
  }

  void join(const ForceArgs& args, std::span<const Part> parts) override {
    for (const Part& part : parts.subspan(1)) {
      returned_[static_cast<std::size_t>(part.index)].upload(partition().places(args, part), args.stream);
    }
    partition().join(args, parts);
    joined_.record(args.stream);
  }

  void reserve_input(std::size_t bytes) override { inputs_.front().allocate(bytes); }
  std::span<std::byte> input_buffer(std::size_t bytes) override { return inputs_.front().first(bytes); }
  std::span<const std::byte> evaluate(const ForceArgs& args, const WorkerInput& input, std::span<const Part> parts,
                                      const Part& own, CollectiveWork& work) override {
    std::span<const std::byte> found;
    on_device(*device_, [&] {
      ForceArgs on_stream = args;
      on_stream.stream = stream_.get();
      work.attempt([&] {
        const Blocks places = partition().receive(on_stream, parts, blocks_of(input));
        inputs_.front().upload(places, on_stream.stream);
        part_.begin(on_stream, own);
      });
      if (input.exchanges) part_.exchange(on_stream, work, *this);
      work.attempt([&] {
        part_.evaluate(on_stream, own);
        found = outgoing_.download(partition().results(on_stream, own), on_stream.stream);
        stream_.synchronize();
      });
      require_end(work);
    });
    return found;
  }

  double part_ms() const override { return part_.ms(); }
  bool works_alone() const override { return partition().works_alone(); }
  bool keeps_parts() const override { return partition().keeps_parts(); }
  void read_owners(int count, const int* d_owners, CUstream_st* stream) override {
    const int* const found = d_owners ? d_owners : partition().find_owners(count, stream);
    if (found) owners_.read(found, count, stream);
  }
  std::optional<std::vector<int>> owners(int count) const override { return owners_.owners(count); }
  MessageWriter cells(int index) override {
    MessageWriter message;
    on_device(*device_, [&] { pack_blocks(partition().cells(index), message, stream_.get()); });
    return message;
  }
  void place_cells(int index, MessageReader& cells, CUstream_st* stream) override {
    const auto places = [&](int rank, std::span<const std::size_t> /*sizes*/) {
      return partition().places_of_cells(rank);
    };
    unpack_blocks(cells, index, places, stream);
    ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream));  // the next exchange reuses the buffer
  }

  RankResidents* residents() override { return residents_ ? &*residents_ : nullptr; }

 private:
  using Blocks = PartitionFacet::Blocks;

  PartitionFacet& partition() const { return by_targets_ ? *by_targets_ : *kernel_->partition(); }
  void exchange(const Outgoing& outgoing, const Places& places, CollectiveWork& work, cudaStream_t stream) override {
    (void)exchange_all(outgoing, places, work, stream);
  }
  /// Exchanges blocks. Returns false on all ranks if one of them has failed.
  bool exchange_all(const Outgoing& outgoing, const Places& places, CollectiveWork& work, cudaStream_t stream) {
    work.attempt([&] {
      const BlocksByRank to = outgoing();
      work.for_each_other([&](int rank) { pack_blocks(to[static_cast<std::size_t>(rank)], work.to(rank), stream); });
    });
    if (!work.exchange()) return false;
    work.attempt([&] {
      work.for_each_other([&](int rank) {
        MessageReader message = work.from(rank);
        unpack_blocks(message, rank, places, stream);
      });
    });
    return true;
  }

  bool exchange_known(const BlocksByRank& outgoing, const BlocksByRank& incoming, CollectiveWork& work,
                      cudaStream_t stream) override {
    return exchange_all(
        [&] { return outgoing; },
        [&](int rank, std::span<const std::size_t> /*sizes*/) { return incoming[static_cast<std::size_t>(rank)]; },
        work, stream);
  }

  bool reached(const cuda::OrderEvent& event) const override { return event.reached(); }
  void wait(const CollectiveWork& /*work*/, cudaStream_t stream) override {
    ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream));  // the stream waits for no other rank
  }
  /// Appends blocks and their sizes to a message. Waits for the stream.
  void pack_blocks(std::span<const DeviceBlock> blocks, MessageWriter& message, cudaStream_t stream) {
    const std::span<const std::byte> bytes = outgoing_.download(blocks, stream);
    ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream));
    message.put_all(sizes_of(blocks));
    message.put_values(bytes);
  }
  /// Enqueues copies of the blocks in a message of pack_blocks() to the device. Call when the copies of the previous
  /// exchange have ended, because they use the same buffer.
  void unpack_blocks(MessageReader& message, int rank, const Places& places, cudaStream_t stream) {
    std::vector<std::size_t> sizes;
    message.get_all(sizes);
    while (incoming_.size() <= static_cast<std::size_t>(rank)) incoming_.emplace_back(*device_);
    Staging& staging = incoming_[static_cast<std::size_t>(rank)];
    message.get_values(staging.allocate(sum_of(sizes)));
    staging.upload(first_of(places(rank, sizes), sizes), stream);
  }

  const std::shared_ptr<const cuda::Device> device_;
  std::unique_ptr<ForceKernel> kernel_;
  std::unique_ptr<TargetPartition> by_targets_;  // null: the kernel implements PartitionFacet
  RankEvaluation part_{*device_, partition()};
  cuda::Stream stream_{*device_};  // not used by the leader
  Staging outgoing_{*device_};     // data for other ranks, except inputs
  std::vector<Staging> incoming_;  // data from each other rank, except results
  // Inputs of the workers. On the leader, entry 0 has the blocks for all, and entry `rank` those for one worker. On a
  // worker, entry 0 has all blocks.
  std::vector<Staging> inputs_;
  OwnersReader owners_{*device_};
  // Leader only, during an evaluation:
  std::span<const std::byte> common_;
  std::vector<std::span<const std::byte>> individual_;  // one entry per rank
  std::vector<Staging> returned_;                       // results of each other rank
  cuda::OrderEvent inputs_ready_{*device_}, joined_{*device_};
  // Declared last, since they use the members above:
  std::optional<NcclRankKernel> connected_;
  std::optional<CudaRankResidents> residents_;
};

/// RankDevice on CUDA.
class CudaRankDevice final : public RankDevice {
 public:
  RankDeviceFacts open(const RankDeviceSelection& which, int place) override {
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
    } catch (const std::exception&) {  // NCCL is missing, as on most machines
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
  std::unique_ptr<RankKernel> make(const KernelInfo& kernel, const Settings& settings) override {
    device_->activate();
    return std::make_unique<CudaRankKernel>(device_, kernel, settings, connection_);
  }

 private:
  std::shared_ptr<const cuda::Device> device_;
  std::shared_ptr<const Nccl> nccl_;            // null: not opened, or not installed
  std::shared_ptr<NcclConnection> connection_;  // NCCL connection of device_ to the other ranks; null: none
};

}  // namespace

std::unique_ptr<RankDevice> cuda_rank_device() {
  return std::make_unique<CudaRankDevice>();
}

}  // namespace orrery
