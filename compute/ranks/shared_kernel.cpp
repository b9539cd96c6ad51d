#include "compute/ranks/shared_kernel.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

namespace orrery {
namespace {

constexpr int evaluations_per_change = 4;

}  // namespace

SharedKernel::SharedKernel(WorkerLine& line, int key, const KernelInfo& kernel, const Settings& settings)
    : line_{line}, key_{key}, reads_low_words_{kernel.reads_low_words}, sizes_{line.ranks()} {
  try {
    line_.exchange({.order =
                        [&](int, MessageWriter& order) {
                          order.put(Order::make);
                          order.put(key_);
                          order.put_text(kernel.id);
                          order.put_text(settings.to_string());
                        },
                    .own_part = [&] { own_ = kernel.make(settings, nullptr); }});
  } catch (...) {
    drop();
    throw;
  }
}

SharedKernel::~SharedKernel() {
  drop();
}

void SharedKernel::drop() noexcept {
  MessageWriter order;
  order.put(Order::drop);
  order.put(key_);
  line_.tell(order);
}

void SharedKernel::prepare(int count) {
  prepared_ = 0;  // until every rank is
  line_.exchange({.order =
                      [&](int, MessageWriter& order) {
                        order.put(Order::prepare);
                        order.put(key_);
                        order.put(count);
                      },
                  .own_part =
                      [&] {
                        own_->prepare(count);
                        all_.resize(static_cast<std::size_t>(count));
                        std::iota(all_.begin(), all_.end(), 0);
                        sizes_ = PartSizes{line_.ranks()};
                        timed_ = -1;
                      },
                  .is_long = [](int rank) { return rank > 0; }});  // the leader needs far less memory
  prepared_ = count;
}

std::string SharedKernel::chosen(int count, const MassRange& masses) const {
  const std::string own = own_->chosen(count, masses);
  return own + (own.empty() ? "" : ", ") + "ranks " + std::to_string(line_.ranks());
}

void SharedKernel::share_out(const Targets& targets, int count) {
  if (count != prepared_) prepare(count);
  targets_ = targets ? std::span{targets.indices, static_cast<std::size_t>(targets.count)} : std::span{all_};
  bounds_.assign(1, 0);
  for (const Part& part : (targets ? PartSizes{line_.ranks()} : sizes_).parts()) {
    // Rounded up: the leader's share is never empty, so that it has a tree to report.
    bounds_.push_back(static_cast<std::size_t>(std::ceil(part.end * static_cast<double>(targets_.size()))));
  }
}

std::span<const int> SharedKernel::share(int rank) const {
  const auto at = static_cast<std::size_t>(rank);
  return targets_.subspan(bounds_[at], bounds_[at + 1] - bounds_[at]);
}

/// From the least times of several evaluations: other programs disturb some.
void SharedKernel::learn_sizes(std::span<const double> ms) {
  if (timed_ <= 0) least_ms_.assign(ms.begin(), ms.end());
  for (std::size_t rank = 0; rank < ms.size(); ++rank) least_ms_[rank] = std::min(least_ms_[rank], ms[rank]);
  if (++timed_ < evaluations_per_change) return;
  sizes_.learn(least_ms_);
  timed_ = 0;
}

Evaluation SharedKernel::part_of(int rank, Evaluation part) const {
  part.targets = static_cast<int>(share(rank).size());
  return part;
}

void SharedKernel::do_evaluate(const ForceArgs& args) {
  share_out(args.targets, args.count);
  const Epilogue& epilogue = args.epilogue;
  const Evaluation all{.key = key_,
                       .count = args.count,
                       .low_words = reads_low_words_ && args.bodies_low,
                       .masses = args.masses,
                       .law = args.law,
                       .stores = epilogue.accelerations != nullptr,
                       .stores_low = epilogue.accelerations_low != nullptr,
                       .kicks = epilogue.velocities != nullptr,
                       .kick_dt = epilogue.kick_dt,
                       .drag = epilogue.drag,
                       .subnormals = subnormals_here()};
  std::vector<double> ms(static_cast<std::size_t>(line_.ranks()));
  tree_interactions_ = 0;
  vector_instructions_ = 0;
  line_.exchange({.order =
                      [&](int rank, MessageWriter& order) {
                        order.put(Order::evaluate);
                        order.put(part_of(rank, all));
                        order.put_indices(share(rank));
                        if (all.kicks) order.put_entries(epilogue.velocities, share(rank));
                      },
                  .own_part =
                      [&] {
                        const auto count = static_cast<std::size_t>(args.count);
                        line_.broadcast(std::as_bytes(std::span{args.bodies, count}));
                        if (all.low_words) line_.broadcast(std::as_bytes(std::span{args.bodies_low, count}));
                        ForceArgs own = args;
                        own.targets = own_targets();
                        const auto begin = std::chrono::steady_clock::now();
                        own_->evaluate(own);
                        ms[0] =
                            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
                      },
                  .take =
                      [&](int rank, MessageReader& reply) {
                        const auto done = reply.get<Evaluated>();
                        if (!done.complete) return;
                        if (all.stores) reply.get_entries(epilogue.accelerations, share(rank));
                        if (all.stores_low) reply.get_entries(epilogue.accelerations_low, share(rank));
                        if (all.kicks) reply.get_entries(epilogue.velocities, share(rank));
                        if (args.evaluated) *args.evaluated += done.by_tree;
                        tree_interactions_ += static_cast<std::int64_t>(done.by_tree);
                        vector_instructions_ += done.vector_instructions;
                        ms[static_cast<std::size_t>(rank)] = done.ms;
                      },
                  .is_long = [&](int rank) { return !share(rank).empty(); },
                  .cancelled = args.cancelled});
  if (args.targets || !own_->tree()) return;
  if (!args.cancelled || !*args.cancelled) learn_sizes(ms);
  // Later evaluations walk from compact groups of bodies.
  if (std::vector<int> order = own_->tree()->order(); order.size() == all_.size()) all_ = std::move(order);
}

void SharedKernel::evaluate_jerks(const JerkArgs& args) {
  share_out(args.targets, args.count);
  const Evaluation all{
      .key = key_, .count = args.count, .jerks = true, .law = args.law, .subnormals = subnormals_here()};
  line_.exchange({.order =
                      [&](int rank, MessageWriter& order) {
                        order.put(Order::evaluate);
                        order.put(part_of(rank, all));
                        order.put_indices(share(rank));
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

/// The phases are those of this rank.
std::optional<TreeReport> SharedKernel::report() const {
  std::optional<TreeReport> report = own_->tree()->report();
  if (!report) return report;
  report->interactions += tree_interactions_;
  report->vector_instructions += vector_instructions_;
  return report;
}

}  // namespace orrery
