#include "compute/devices/rank_residents.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "compute/cuda/profiler_range.h"
#include "compute/devices/held_bodies.h"
#include "compute/devices/member_work.h"
#include "compute/devices/on_device.h"
#include "compute/devices/part_sizes.h"
#include "compute/kernels/choice_facet.h"
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/rank_device.h"

namespace orrery {
namespace {

/// Bodies of all other ranks in the leader's pieces: some 50 MB.
constexpr int bodies_of_pieces = 1 << 20;

/// Some of the bodies that follow each other.
ResidentBodies range_of(const ResidentBodies& bodies, int first, int count) {
  return {.count = count,
          .positions = bodies.positions + first,
          .velocities = bodies.velocities + first,
          .accelerations = bodies.accelerations ? bodies.accelerations + first : nullptr,
          .ids = bodies.ids + first};
}

/// Without accelerations.
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

}  // namespace

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
  // If a connection is lost, bodies that did not come go to the place of the first one, not anywhere.
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
  int shipments = 1;  // a rank that fails takes part in one exchange: then all know
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

}  // namespace orrery
