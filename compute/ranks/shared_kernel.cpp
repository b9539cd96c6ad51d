#include "compute/ranks/shared_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>

#include "compute/diagnostics/conserved.h"
#include "compute/ranks/orders.h"

namespace orrery {
namespace {

constexpr double most_pairs_in_block = 2e8;  // per rank

/// Returns the end of the given share of the pairs of bodies in [first, last). Each body is paired with all bodies
/// before it.
int end_of_share(int first, int last, double share) {
  const double from = static_cast<double>(first) * first, to = static_cast<double>(last) * last;
  return share >= 1 ? last : static_cast<int>(std::lround(std::sqrt(from + share * (to - from))));
}

/// Returns the end of a block that begins at `first`: at least one body further.
int end_of_block(int first, int count, int ranks) {
  const double pairs = (static_cast<double>(count) * count - static_cast<double>(first) * first) / 2;
  return std::max(first + 1, end_of_share(first, count, most_pairs_in_block * ranks / std::max(pairs, 1.0)));
}

HeldPositions::Block block_of(int rank, int ranks, const Law& law, int first, int last, int count) {
  const auto end_of = [&](int parts) { return end_of_share(first, last, static_cast<double>(parts) / ranks); };
  return {.law = law,
          .first = rank == 0 ? first : end_of(rank),
          .last = end_of(rank + 1),
          .receives = first == 0,
          .is_last = last == count};
}

void let_workers_prepare(WorkerLine& line, int key, const Bodies& bodies) {
  line.exchange({.order =
                     [&](int, MessageWriter& order) {
                       order.put(Order::hold_positions);
                       order.put(key);
                       order.put(bodies.count());
                       order.put(bodies.digits());
                     },
                 .own_part = [] {},
                 .is_long = [](int rank) { return rank > 0; }});
}

}  // namespace

std::vector<double> shared_potentials(WorkerLine& line, int key, const Bodies& bodies, const Law& law,
                                      const std::atomic<bool>* cancelled) {
  std::vector<double> all(bodies.positions.size());
  let_workers_prepare(line, key, bodies);
  for (int first = 0, last = 0; first < bodies.count() && !(cancelled && *cancelled); first = last) {
    last = end_of_block(first, bodies.count(), line.ranks());
    const auto block = [&](int rank) { return block_of(rank, line.ranks(), law, first, last, bodies.count()); };
    const auto places = [&](const HeldPositions::Block& of) {
      return std::span{all}.subspan(static_cast<std::size_t>(of.first), static_cast<std::size_t>(of.last - of.first));
    };
    line.exchange({.order =
                       [&](int rank, MessageWriter& order) {
                         order.put(Order::potentials);
                         order.put(key);
                         order.put(block(rank));
                       },
                   .own_part =
                       [&] {
                         const HeldPositions::Block own = block(0);
                         if (own.receives) {
                           line.broadcast(std::as_bytes(std::span{bodies.positions}));
                           line.broadcast(std::as_bytes(std::span{bodies.positions_low}));
                         }
                         std::ranges::copy(potentials_with_earlier(bodies.positions, bodies.positions_low, own.first,
                                                                   own.last, law, cancelled),
                                           places(own).begin());
                       },
                   .take = [&](int rank, MessageReader& reply) { reply.get_values(places(block(rank))); },
                   .cancelled = cancelled});
  }
  return all;
}

void HeldPositions::prepare(MessageReader& order) {
  const auto count = static_cast<std::size_t>(order.get<int>());
  const bool has_low_words = order.get<Digits>() == Digits::compensated;
  positions_.resize(count);
  low_.resize(has_low_words ? count : 0);
}

void HeldPositions::receive(Communicator& ranks) {
  ranks.receive_broadcast(std::as_writable_bytes(std::span{positions_}));
  ranks.receive_broadcast(std::as_writable_bytes(std::span{low_}));
}

std::vector<double> HeldPositions::potentials(const Block& block, const std::atomic<bool>& cancelled) {
  std::vector<double> found = potentials_with_earlier(positions_, low_, block.first, block.last, block.law, &cancelled);
  if (block.is_last) *this = {};
  return found;
}

void SharedKernel::prepare_own(int count) {
  all_.resize(static_cast<std::size_t>(count));
  owners_.reserve(all_.size());
  std::iota(all_.begin(), all_.end(), 0);
}

void SharedKernel::share_out(const Targets& targets, int count) {
  prepare_for(count);
  targets_ = targets ? std::span{targets.indices, static_cast<std::size_t>(targets.count)} : std::span{all_};
  bounds_.clear();
  // Rounds up, so that the leader's share is never empty.
  for (std::size_t rank = 0; rank <= ranks(); ++rank)
    bounds_.push_back((targets_.size() * rank + ranks() - 1) / ranks());
  if (!targets) note_owners();
}

void SharedKernel::note_owners() {
  owners_.clear();
  for (std::size_t rank = 0; rank < ranks(); ++rank) owners_.resize(bounds_[rank + 1], static_cast<int>(rank));
}

std::span<const int> SharedKernel::share(int rank) const {
  const auto at = static_cast<std::size_t>(rank);
  return targets_.subspan(bounds_[at], bounds_[at + 1] - bounds_[at]);
}

Evaluation SharedKernel::part_of(int rank, Evaluation part) const {
  part.targets = static_cast<int>(share(rank).size());
  return part;
}

void SharedKernel::do_evaluate(const ForceArgs& args) {
  share_out(args.targets, args.count);
  const Epilogue& epilogue = args.epilogue;
  const Evaluation all = evaluation_of(args);
  line_.exchange({.order =
                      [&](int rank, MessageWriter& order) {
                        order.put(Order::evaluate);
                        order.put(part_of(rank, all));
                        order.put_values(share(rank));
                        if (all.kicks) order.put_entries(epilogue.velocities, share(rank));
                      },
                  .own_part =
                      [&] {
                        const auto count = static_cast<std::size_t>(args.count);
                        line_.broadcast(std::as_bytes(std::span{args.bodies, count}));
                        if (all.low_words) line_.broadcast(std::as_bytes(std::span{args.bodies_low, count}));
                        ForceArgs own = args;
                        own.targets = own_targets();
                        own_->evaluate(own);
                      },
                  .take =
                      [&](int rank, MessageReader& reply) {
                        if (!reply.get<Evaluated>().complete) return;
                        if (all.stores) reply.get_entries(epilogue.accelerations, share(rank));
                        if (all.stores_low) reply.get_entries(epilogue.accelerations_low, share(rank));
                        if (all.kicks) reply.get_entries(epilogue.velocities, share(rank));
                      },
                  .is_long = [&](int rank) { return !share(rank).empty(); },
                  .cancelled = args.cancelled});
}

void SharedKernel::evaluate_jerks(const JerkArgs& args) {
  share_out(args.targets, args.count);
  const Evaluation all{
      .key = key_, .count = args.count, .jerks = true, .law = args.law, .subnormals = subnormals_here()};
  line_.exchange({.order =
                      [&](int rank, MessageWriter& order) {
                        order.put(Order::evaluate);
                        order.put(part_of(rank, all));
                        order.put_values(share(rank));
                      },
                  .own_part =
                      [&] {
                        const std::span bodies{args.bodies, static_cast<std::size_t>(args.count)};
                        line_.broadcast(std::as_bytes(bodies));
                        JerkArgs own = args;
                        own.targets = own_targets();
                        own_->jerks()->evaluate_jerks(own);
                      },
                  .take =
                      [&](int rank, MessageReader& reply) {
                        if (reply.get<Evaluated>().complete) reply.get_entries(args.pulls, share(rank));
                      },
                  .is_long = [&](int rank) { return !share(rank).empty(); },
                  .cancelled = args.cancelled});
}

}  // namespace orrery
