#include "compute/ranks/shared_kernel.h"

#include <algorithm>
#include <numeric>

namespace orrery {

void SharedKernel::prepare_own(int count) {
  all_.resize(static_cast<std::size_t>(count));
  owners_.reserve(all_.size());
  std::iota(all_.begin(), all_.end(), 0);
}

void SharedKernel::share_out(const Targets& targets, int count) {
  prepare_for(count);
  targets_ = targets ? std::span{targets.indices, static_cast<std::size_t>(targets.count)} : std::span{all_};
  bounds_.clear();
  // Rounded up: the leader's share is never empty.
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
