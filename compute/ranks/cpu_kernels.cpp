#include "compute/ranks/cpu_kernels.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/law.h"
#include "compute/core/message.h"
#include "compute/core/threads.h"
#include "compute/devices/load_balance.h"
#include "compute/diagnostics/conserved.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/kernel_sharing.h"
#include "compute/kernels/shared_facets.h"
#include "compute/ranks/communicator.h"
#include "compute/ranks/protocol.h"
#include "compute/ranks/rank_bodies.h"

namespace orrery {
namespace {

/// Reduces the non-finite bodies that two ranks found to the earlier one: the lower pass, then the lower index.
void find_first(StepResult& first, const StepResult& other) {
  if (other.not_finite < 0) return;
  const auto place = [](const StepResult& found) { return std::pair{found.found_in, found.not_finite}; };
  if (first.not_finite >= 0 && place(first) < place(other)) return;
  first.found_in = other.found_in;
  first.not_finite = other.not_finite;
}

void add_figures(StepResult& sum, const StepResult& other) {
  sum.by_tree += other.by_tree;
  sum.vector_instructions += other.vector_instructions;
  sum.interactions += other.interactions;
  sum.cells += other.cells;
  sum.depth = std::max(sum.depth, other.depth);
}

/// The leader's side of bodies that the ranks hold from step to step: sends the orders and does the leader's own part.
/// RankBodies is a rank's side.
class LeaderBodies {
 public:
  /// `channel` must outlive this object. `key` identifies the kernel in orders.
  LeaderBodies(WorkerChannel& channel, int key) : channel_{channel}, key_{key} {}

  /// Scatters the bodies in equal intervals of their indices. `has_domains`: the kernel has DomainFacet. Bodies then
  /// migrate to their ranks in the first evaluation.
  void spread(const Bodies& bodies, const MassRange& masses, bool has_domains) {
    if (!has_domains) arrays_.prepare(bodies.count());
    const std::vector<Part> parts = PartSizes{channel_.ranks()}.parts();
    bool more = true;
    for (std::size_t offset = 0; more; offset += RankBodies::most_in_message) {
      more = false;
      const auto put = [&](int rank, MessageWriter& order) {
        more |= RankBodies::put_first(bodies, masses, parts[static_cast<std::size_t>(rank)], offset, order);
      };
      channel_.exchange({.order =
                             [&](int rank, MessageWriter& order) {
                               order.put(Order::scatter);
                               order.put(key_);
                               put(rank, order);
                             },
                         .own_part =
                             [&] {
                               MessageWriter own;
                               put(0, own);
                               own_.take_first(MessageReader{own.bytes()});
                             }});
    }
    count_ = bodies.count();
  }

  /// Runs one step, see SpreadFacet::step(). `kernel`: the leader's instance of the kernel.
  SpreadResult step(const SpreadStep& step, ForceKernel& kernel) {
    const StepOrder order{.key = key_, .time_step = step.time_step, .law = step.law, .subnormals = subnormals_here()};
    StepResult all;
    others_ = {};
    bool complete = true;
    try {
      channel_.exchange(
          {.order =
               [&](int, MessageWriter& message) {
                 message.put(Order::step);
                 message.put(order);
                 message.put_text(step.integrator_id);
               },
           .own_part =
               [&] { all = own_.step(order, step.integrator_id, kernel, arrays_, channel_.others(), step.cancelled); },
           .on_reply =
               [&](int, MessageReader& reply) {
                 const auto other = reply.get<StepResult>();
                 complete &= other.complete;
                 find_first(all, other);
                 add_figures(others_, other);
               },
           .cancelled = &step.cancelled});
    } catch (...) {
      undo();
      throw;
    }
    complete &= all.complete;
    if (!complete) undo();
    return {.complete = complete,
            .not_finite = all.not_finite,
            .evaluations = all.evaluations,
            .force_ms = all.force_ms,
            .by_tree = all.by_tree + others_.by_tree};
  }

  /// Returns all bodies. Sets `owners` to the rank of each body.
  Bodies gather(std::vector<int>& owners) {
    const auto count = static_cast<std::size_t>(count_);
    Bodies all;
    all.positions.resize(count);
    all.velocities.resize(count);
    std::vector<int> ranks(count);
    for (std::size_t first = 0; first < count; first += PieceRange::most) {
      const PieceRange piece{first, count};
      const auto part = [&](auto& array) { return std::span{array}.subspan(piece.first, piece.size()); };
      gather_piece(piece, part(all.positions), part(all.velocities), [&](int rank, std::span<const int> places) {
        for (const int place : places) part(ranks)[static_cast<std::size_t>(place)] = rank;
      });
    }
    owners = std::move(ranks);
    return all;
  }

  /// Returns a source of the bodies, which stay on their ranks. Valid until the next step() or spread(), at most as
  /// long as this object.
  std::unique_ptr<BodySource> source() { return std::make_unique<Source>(*this); }
  /// Returns the sums of the workers' figures of the latest step, see StepResult.
  const StepResult& others() const { return others_; }

 private:
  class Source final : public BodySource {
   public:
    explicit Source(LeaderBodies& of) : BodySource{static_cast<std::size_t>(of.count_), Digits::single}, of_{of} {}

    std::optional<BodyBounds> bounds() override { return of_.bounds(); }
    bool write_jointly(const JointRows& rows) override { return of_.write_jointly(rows); }

   protected:
    Piece piece_with(std::size_t body) override {
      const PieceRange range{body, count()};
      piece_.positions.resize(range.size());
      piece_.velocities.resize(range.size());
      of_.gather_piece(range, piece_.positions, piece_.velocities, [](int, std::span<const int>) {});
      return piece_of(piece_, range.first);
    }

   private:
    LeaderBodies& of_;
    Bodies piece_;
  };
  /// Gathers the bodies of a piece into arrays that begin with its first body. Calls found() for each rank, with the
  /// indices of its bodies within the piece.
  void gather_piece(const PieceRange& piece, std::span<Vec4> positions, std::span<Vec4> velocities,
                    const std::function<void(int rank, std::span<const int> places)>& found) {
    const int first = static_cast<int>(piece.first), last = static_cast<int>(piece.last);
    std::size_t count = 0;
    const auto take = [&](int rank, MessageReader& message) {
      const std::vector<int> places = RankBodies::get(message, positions, velocities);
      found(rank, places);
      count += places.size();
    };
    channel_.exchange({.order =
                           [&](int, MessageWriter& order) {
                             order.put(Order::gather);
                             order.put(key_);
                             order.put(first);
                             order.put(last);
                           },
                       .own_part =
                           [&] {
                             MessageWriter own;
                             own_.put(first, last, own);
                             MessageReader reader{own.bytes()};
                             take(0, reader);
                           },
                       .on_reply = take});
    if (count != piece.size()) throw std::logic_error("the ranks hold another number of bodies than was scattered");
  }

  // See BodySource:
  BodyBounds bounds() {
    BodyBounds all;
    channel_.exchange({.order =
                           [&](int, MessageWriter& order) {
                             order.put(Order::bounds);
                             order.put(key_);
                           },
                       .own_part = [&] { all.add(own_.bounds()); },
                       .on_reply = [&](int, MessageReader& reply) { all.add(reply.get<BodyBounds>()); }});
    return all;
  }

  bool write_jointly(const JointRows& rows) {
    bool written = false;
    CollectiveWrite own{own_, static_cast<std::size_t>(count_), channel_.others()};
    channel_.exchange({.order =
                           [&](int, MessageWriter& order) {
                             order.put(Order::write_rows);
                             order.put(key_);
                             order.put(static_cast<std::size_t>(count_));
                             put_rows(order, rows);
                           },
                       .own_part = [&] { written = own.write(rows); },
                       .is_long = [](int) { return false; },  // no limit for others: a file system may be slow
                       .is_long_between = false});
    return written;
  }

  void undo() {
    MessageWriter order;
    order.put(Order::undo);
    order.put(key_);
    channel_.notify(order);
    own_.undo();
  }

  WorkerChannel& channel_;
  const int key_;
  int count_ = 0;
  RankBodies own_;
  RankArrays arrays_;  // replicas of all bodies; only for kernels without domains
  StepResult others_;
};

constexpr double most_pairs_in_block = 2e8;  // pairs per rank and block: about 0.2 s

/// Returns `end` so that [first, end) has the given share of the pairs in [first, last). Body i is paired with the i
/// bodies before it. So [a, b) has (b^2 - a^2) / 2 pairs, and end^2 = first^2 + share (last^2 - first^2).
int end_of_share(int first, int last, double share) {
  const double from = static_cast<double>(first) * first, to = static_cast<double>(last) * last;
  return share >= 1 ? last : static_cast<int>(std::lround(std::sqrt(from + share * (to - from))));
}

/// Returns the end of the block that begins at body `first`. A block has at least one body.
int end_of_block(int first, int count, int ranks) {
  const double pairs = (static_cast<double>(count) * count - static_cast<double>(first) * first) / 2;
  return std::max(first + 1, end_of_share(first, count, most_pairs_in_block * ranks / std::max(pairs, 1.0)));
}

/// Returns one rank's part of the block [first, last).
PotentialReplica::Block block_of(int rank, int ranks, const Law& law, int first, int last, int count) {
  const auto end_of = [&](int parts) { return end_of_share(first, last, static_cast<double>(parts) / ranks); };
  return {.law = law,
          .first = rank == 0 ? first : end_of(rank),
          .last = end_of(rank + 1),
          .receives = first == 0,
          .is_last = last == count};
}

void let_workers_prepare(WorkerChannel& channel, int key, const Bodies& bodies) {
  channel.exchange({.order =
                        [&](int, MessageWriter& order) {
                          order.put(Order::replicate_positions);
                          order.put(key);
                          order.put(bodies.count());
                          order.put(bodies.digits());
                        },
                    .own_part = [] {},
                    .is_long = [](int rank) { return rank > 0; }});
}

/// Returns the potentials of all bodies, computed by potentials_with_earlier() on all ranks in blocks. Other threads
/// may use the channel between blocks. Throws as WorkerChannel::exchange().
std::vector<double> distributed_potentials(WorkerChannel& channel, int key, const Bodies& bodies, const Law& law,
                                           const std::atomic<bool>* cancelled) {
  std::vector<double> all(bodies.positions.size());
  let_workers_prepare(channel, key, bodies);
  for (int first = 0, last = 0; first < bodies.count() && !(cancelled && *cancelled); first = last) {
    last = end_of_block(first, bodies.count(), channel.ranks());
    const auto block = [&](int rank) { return block_of(rank, channel.ranks(), law, first, last, bodies.count()); };
    const auto places = [&](const PotentialReplica::Block& of) {
      return std::span{all}.subspan(static_cast<std::size_t>(of.first), static_cast<std::size_t>(of.last - of.first));
    };
    channel.exchange({.order =
                          [&](int rank, MessageWriter& order) {
                            order.put(Order::potentials);
                            order.put(key);
                            order.put(block(rank));
                          },
                      .own_part =
                          [&] {
                            const PotentialReplica::Block own = block(0);
                            if (own.receives) {
                              channel.broadcast(std::as_bytes(std::span{bodies.positions}));
                              channel.broadcast(std::as_bytes(std::span{bodies.positions_low}));
                            }
                            std::ranges::copy(potentials_with_earlier(bodies.positions, bodies.positions_low, own.first,
                                                                      own.last, law, cancelled),
                                              places(own).begin());
                          },
                      .on_reply = [&](int rank, MessageReader& reply) { reply.get_values(places(block(rank))); },
                      .cancelled = cancelled});
  }

  return all;
}

/// The leader's side of a CPU kernel with an instance on every rank. The workers get copies of bodies for each
/// evaluation, or they hold bodies from step to step, see SpreadFacet.
class LeaderCpuKernel : public ForceKernel, public OwnersFacet, public PotentialFacet, public SpreadFacet {
 public:
  void prepare(int count) override {
    instances_.prepare(count, [&] {
      own_->prepare(count);
      prepare_own(count);
    });
  }
  void bodies_replaced() override {
    own_->bodies_replaced();
    owners_.clear();
  }
  std::string chosen(int count, const MassRange& masses) const override {
    const std::string own = own_->chosen(count, masses);
    return own + (own.empty() ? "" : ", ") + "ranks " + std::to_string(channel_.ranks());
  }
  std::vector<double> potentials(const Bodies& bodies, const Law& law, const std::atomic<bool>* cancelled) override {
    return distributed_potentials(channel_, key_, bodies, law, cancelled);
  }
  void spread(const Bodies& bodies, const MassRange& masses) override {
    prepare_for(bodies.count());
    spread_.spread(bodies, masses, own_->domains() != nullptr);
  }
  SpreadResult step(const SpreadStep& step) override { return spread_.step(step, *own_); }
  Bodies gather() override { return spread_.gather(owners_); }
  std::unique_ptr<BodySource> source() override { return spread_.source(); }
  std::optional<BodyOwners> owners(int count) const override {
    if (owners_.size() != static_cast<std::size_t>(count)) return std::nullopt;
    BodyOwners owners{.of_body = owners_};
    for (std::size_t rank = 0; rank < ranks(); ++rank) owners.names.push_back("rank " + std::to_string(rank));
    return owners;
  }

 protected:
  /// `channel` must outlive this object. `key` identifies the kernel in orders. Throws as KernelInfo::make(), also for
  /// a worker's error.
  LeaderCpuKernel(WorkerChannel& channel, int key, const KernelInfo& kernel, const Settings& settings)
      : channel_{channel},
        key_{key},
        reads_low_words_{kernel.reads_low_words},
        spread_{channel, key},
        instances_{channel, key, kernel, settings, [&] { own_ = kernel.make(settings, nullptr); }} {}

  /// Allocates the leader's own memory for `count` bodies.
  virtual void prepare_own(int count) = 0;
  /// Calls prepare() if the ranks are not prepared for `count` bodies.
  void prepare_for(int count) {
    if (count != instances_.prepared()) prepare(count);
  }
  Evaluation evaluation_of(const ForceArgs& args) const {
    const Epilogue& epilogue = args.epilogue;
    return {.key = key_,
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
  }

  std::size_t ranks() const { return static_cast<std::size_t>(channel_.ranks()); }

  WorkerChannel& channel_;
  const int key_;
  const bool reads_low_words_;
  std::unique_ptr<ForceKernel> own_;
  LeaderBodies spread_;
  std::vector<int> owners_;  // rank of each body in the latest evaluation of all bodies; empty: unknown

 private:
  KernelInstances instances_;  // after own_, which its constructor sets
};

/// Kernel with replicated bodies: every rank gets all bodies and evaluates an equal number of targets.
class ReplicatedKernel final : public LeaderCpuKernel, public JerkFacet {
 public:
  ReplicatedKernel(WorkerChannel& channel, int key, const KernelInfo& kernel, const Settings& settings)
      : LeaderCpuKernel{channel, key, kernel, settings} {}

  JerkFacet* jerks() override { return own_->jerks() ? this : nullptr; }
  void evaluate_jerks(const JerkArgs& args) override {
    divide(args.targets, args.count);
    const Evaluation all{
        .key = key_, .count = args.count, .jerks = true, .law = args.law, .subnormals = subnormals_here()};
    channel_.exchange({.order =
                           [&](int rank, MessageWriter& order) {
                             order.put(Order::evaluate);
                             order.put(part_of(rank, all));
                             order.put_values(share(rank));
                           },
                       .own_part =
                           [&] {
                             const std::span bodies{args.bodies, static_cast<std::size_t>(args.count)};
                             channel_.broadcast(std::as_bytes(bodies));
                             JerkArgs own = args;
                             own.targets = own_targets();
                             own_->jerks()->evaluate_jerks(own);
                           },
                       .on_reply =
                           [&](int rank, MessageReader& reply) {
                             if (reply.get<EvaluationResult>().complete) reply.get_entries(args.pulls, share(rank));
                           },
                       .is_long = [&](int rank) { return !share(rank).empty(); },
                       .cancelled = args.cancelled});
  }

 protected:
  void prepare_own(int count) override {
    all_.resize(static_cast<std::size_t>(count));
    owners_.reserve(all_.size());
    std::iota(all_.begin(), all_.end(), 0);
  }
  void do_evaluate(const ForceArgs& args) override {
    divide(args.targets, args.count);
    const Epilogue& epilogue = args.epilogue;
    const Evaluation all = evaluation_of(args);
    channel_.exchange({.order =
                           [&](int rank, MessageWriter& order) {
                             order.put(Order::evaluate);
                             order.put(part_of(rank, all));
                             order.put_values(share(rank));
                             if (all.kicks) order.put_entries(epilogue.velocities, share(rank));
                           },
                       .own_part =
                           [&] {
                             const auto count = static_cast<std::size_t>(args.count);
                             channel_.broadcast(std::as_bytes(std::span{args.bodies, count}));
                             if (all.low_words) channel_.broadcast(std::as_bytes(std::span{args.bodies_low, count}));
                             ForceArgs own = args;
                             own.targets = own_targets();
                             own_->evaluate(own);
                           },
                       .on_reply =
                           [&](int rank, MessageReader& reply) {
                             if (!reply.get<EvaluationResult>().complete) return;
                             if (all.stores) reply.get_entries(epilogue.accelerations, share(rank));
                             if (all.stores_low) reply.get_entries(epilogue.accelerations_low, share(rank));
                             if (all.kicks) reply.get_entries(epilogue.velocities, share(rank));
                           },
                       .is_long = [&](int rank) { return !share(rank).empty(); },
                       .cancelled = args.cancelled});
  }

 private:
  /// Divides the targets among the ranks in equal shares.
  void divide(const Targets& targets, int count) {
    prepare_for(count);
    targets_ = targets ? std::span{targets.indices, static_cast<std::size_t>(targets.count)} : std::span{all_};
    bounds_.clear();
    // Rounds the bounds up, so that the leader's share is never empty.
    for (std::size_t rank = 0; rank <= ranks(); ++rank)
      bounds_.push_back((targets_.size() * rank + ranks() - 1) / ranks());
    if (!targets) note_owners();
  }

  void note_owners() {
    owners_.clear();
    for (std::size_t rank = 0; rank < ranks(); ++rank) owners_.resize(bounds_[rank + 1], static_cast<int>(rank));
  }
  /// Returns the targets of a rank.
  std::span<const int> share(int rank) const {
    const auto at = static_cast<std::size_t>(rank);
    return targets_.subspan(bounds_[at], bounds_[at + 1] - bounds_[at]);
  }
  Targets own_targets() const { return {share(0).data(), static_cast<int>(share(0).size())}; }
  Evaluation part_of(int rank, Evaluation part) const {
    part.targets = static_cast<int>(share(rank).size());
    return part;
  }

  std::vector<int> all_;             // indices of all bodies
  std::span<const int> targets_;     // targets of the current evaluation
  std::vector<std::size_t> bounds_;  // rank r has targets [bounds_[r], bounds_[r + 1])
};

/// Kernel with partitioned bodies: each rank gets the bodies of one domain and evaluates the targets among them. The
/// sizes of the domains are adjusted until all ranks need the same time.
class PartitionedKernel final : public LeaderCpuKernel, public TreeFacet {
 public:
  PartitionedKernel(WorkerChannel& channel, int key, const KernelInfo& kernel, const Settings& settings)
      : LeaderCpuKernel{channel, key, kernel, settings}, sizes_{channel.ranks()} {}

  TreeFacet* tree() override { return own_->tree() ? this : nullptr; }
  /// Returns the leader's report with counts summed over all ranks. Phases and picked cells are only the leader's.
  std::optional<TreeReport> report() const override {
    std::optional<TreeReport> report = own_->tree()->report();
    if (!report) return report;
    report->interactions += static_cast<std::int64_t>(others_.by_tree);
    report->vector_instructions += others_.vector_instructions;
    report->cells += others_.cells;
    report->depth = std::max(report->depth, others_.depth);
    return report;
  }

  void pick_cells(const CellRequest& request, CUstream_st* stream) override {
    own_->tree()->pick_cells(request, stream);
  }
  std::optional<PickedCells> cells() const override { return own_->tree()->cells(); }

  SpreadResult step(const SpreadStep& step) override {
    const SpreadResult stepped = LeaderCpuKernel::step(step);
    const StepResult& others = spread_.others();
    others_ = {.by_tree = static_cast<std::uint64_t>(others.interactions),
               .vector_instructions = others.vector_instructions,
               .cells = others.cells,
               .depth = others.depth};
    return stepped;
  }

 protected:
  void prepare_own(int count) override {
    rank_of_.resize(static_cast<std::size_t>(count));
    local_indices_.resize(rank_of_.size());
    sizes_ = LearnedSizes{channel_.ranks()};
  }
  void do_evaluate(const ForceArgs& args) override {
    prepare_for(args.count);
    divide(args);
    others_ = {};
    const Evaluation all = evaluation_of(args);
    const std::atomic<bool> never = false;
    own_order_.clear();
    own_reply_.clear();
    put_part(domains_[0], args, all, own_order_);
    channel_.exchange(
        {.order =
             [&](int rank, MessageWriter& order) {
               order.put(Order::evaluate_domain);
               put_part(domains_[static_cast<std::size_t>(rank)], args, all, order);
             },
         .own_part =
             [&] {
               PartitionEvaluation part{MessageReader{own_order_.bytes()}, arrays_};
               part.evaluate(*own_, channel_.others(), args.cancelled ? *args.cancelled : never);
               part.put_results(own_reply_);
             },
         .on_reply = [&](int rank,
                         MessageReader& reply) { take_results(domains_[static_cast<std::size_t>(rank)], args, reply); },
         .cancelled = args.cancelled});
    MessageReader reply{own_reply_.bytes()};
    take_results(domains_[0], args, reply);
    if (!args.targets && !(args.cancelled && *args.cancelled)) learn_sizes();
  }

 private:
  /// One rank's bodies and targets.
  struct Domain {
    std::vector<int> bodies;         // ascending indices among all bodies
    std::vector<int> targets;        // listed targets, as indices among all bodies, in any order
    std::vector<int> local_targets;  // the same targets, as indices into `bodies`
    double ms = 0;
  };

  void divide(const ForceArgs& args) {
    const std::vector<Part> parts = sizes_.parts();
    division_ = own_->domains()->divide({args.bodies, rank_of_.size()}, parts, rank_of_);
    domains_.resize(ranks());
    for (Domain& domain : domains_) domain.bodies.clear();
    for (std::size_t body = 0; body < rank_of_.size(); ++body) {
      domains_[static_cast<std::size_t>(rank_of_[body])].bodies.push_back(static_cast<int>(body));
    }
    if (args.targets) {
      divide_targets(args.targets);
    } else {
      owners_ = rank_of_;
    }
  }

  void divide_targets(const Targets& targets) {
    for (Domain& domain : domains_) {
      domain.targets.clear();
      domain.local_targets.clear();
      for (std::size_t place = 0; place < domain.bodies.size(); ++place) {
        local_indices_[static_cast<std::size_t>(domain.bodies[place])] = static_cast<int>(place);
      }
    }
    for (int k = 0; k < targets.count; ++k) {
      const auto body = static_cast<std::size_t>(targets.body(k));
      Domain& domain = domains_[static_cast<std::size_t>(rank_of_[body])];
      domain.targets.push_back(static_cast<int>(body));
      domain.local_targets.push_back(local_indices_[body]);
    }
  }

  static const std::vector<int>& targets_of(const Domain& domain, const ForceArgs& args) {
    return args.targets ? domain.targets : domain.bodies;
  }
  void put_part(const Domain& domain, const ForceArgs& args, Evaluation part, MessageWriter& order) const {
    part.count = static_cast<int>(domain.bodies.size());
    part.targets = static_cast<int>(targets_of(domain, args).size());
    part.lists_targets = static_cast<bool>(args.targets);
    order.put(part);
    order.put_entries(args.bodies, domain.bodies);
    if (part.lists_targets) order.put_values(std::span{domain.local_targets});
    if (part.kicks) order.put_entries(args.epilogue.velocities, targets_of(domain, args));
    order.put_values(division_.bytes());
  }

  void take_results(Domain& domain, const ForceArgs& args, MessageReader& reply) {
    const auto done = reply.get<EvaluationResult>();
    domain.ms = done.ms;
    if (!done.complete) return;
    const Epilogue& epilogue = args.epilogue;
    if (epilogue.accelerations) reply.get_entries(epilogue.accelerations, targets_of(domain, args));
    if (epilogue.velocities) reply.get_entries(epilogue.velocities, targets_of(domain, args));
    if (args.evaluated) *args.evaluated += done.by_tree;
    if (&domain == domains_.data()) return;  // the leader's kernel has these figures
    others_.by_tree += done.by_tree;
    others_.vector_instructions += done.vector_instructions;
    others_.cells += done.cells;
    others_.depth = std::max(others_.depth, done.depth);
  }

  void learn_sizes() {
    std::vector<double> ms;
    for (const Domain& domain : domains_) ms.push_back(domain.ms);
    sizes_.learn(ms);
  }

  RankArrays arrays_;               // bodies of the leader's domain
  std::vector<int> rank_of_;        // rank of each body
  std::vector<int> local_indices_;  // index of each body within its domain; only set if targets are listed
  std::vector<Domain> domains_;     // one entry per rank
  MessageWriter division_, own_order_, own_reply_;
  LearnedSizes sizes_;
  EvaluationResult others_;  // sums of the workers' figures in the latest evaluation
};

}  // namespace

std::unique_ptr<ForceKernel> leader_cpu_kernel(WorkerChannel& channel, int key, const KernelInfo& kernel,
                                               const Settings& settings) {
  if (kernel.is_tree) return std::make_unique<PartitionedKernel>(channel, key, kernel, settings);
  return std::make_unique<ReplicatedKernel>(channel, key, kernel, settings);
}

void PartitionEvaluation::read_bodies() {
  arrays_.prepare(part_.count);
  rest_.get_values(std::span{arrays_.positions}.first(static_cast<std::size_t>(part_.count)));
  if (part_.lists_targets) rest_.get_values(targets());
  if (!part_.kicks) return;
  if (part_.lists_targets) {
    rest_.get_entries(arrays_.velocities.data(), targets());
  } else {
    rest_.get_values(std::span{arrays_.velocities}.first(static_cast<std::size_t>(part_.count)));
  }
}

std::span<int> PartitionEvaluation::targets() const {
  return std::span{arrays_.targets}.first(static_cast<std::size_t>(part_.targets));
}

void PartitionEvaluation::evaluate(ForceKernel& kernel, RankExchange& ranks, const std::atomic<bool>& cancelled) {
  const WithSubnormals as_the_leader{part_.subnormals};
  CollectiveWork work{ranks, &cancelled};
  work.attempt([&] { read_bodies(); });
  const auto begin = std::chrono::steady_clock::now();
  ForceArgs args = arrays_.args_of(part_);
  if (part_.lists_targets) args.targets = {arrays_.targets.data(), part_.targets};
  args.evaluated = &result_.by_tree;
  args.cancelled = &cancelled;
  kernel.domains()->evaluate_domain(args, {}, rest_, work);
  const std::chrono::duration<double, std::milli> own = std::chrono::steady_clock::now() - begin - work.waited();
  result_.ms = own.count();
  result_.complete = work.finish();
  if (!kernel.tree()) return;
  const std::optional<TreeReport> report = kernel.tree()->report();
  if (!report) return;
  result_.vector_instructions = report->vector_instructions;
  result_.cells = report->cells;
  result_.depth = report->depth;
}

void PartitionEvaluation::put_results(MessageWriter& reply) const {
  reply.put(result_);
  if (!result_.complete) return;
  const auto put = [&](const std::vector<Vec4>& array) {
    if (part_.lists_targets) {
      reply.put_entries(array.data(), targets());
    } else {
      reply.put_values(std::span{array}.first(static_cast<std::size_t>(part_.count)));
    }
  };
  if (part_.stores) put(arrays_.accelerations);
  if (part_.kicks) put(arrays_.velocities);
}

void PotentialReplica::prepare(MessageReader& order) {
  const auto count = static_cast<std::size_t>(order.get<int>());
  const bool has_low_words = order.get<Digits>() == Digits::compensated;
  positions_.resize(count);
  low_.resize(has_low_words ? count : 0);
}

void PotentialReplica::receive(Communicator& ranks) {
  ranks.receive_broadcast(std::as_writable_bytes(std::span{positions_}));
  ranks.receive_broadcast(std::as_writable_bytes(std::span{low_}));
}

std::vector<double> PotentialReplica::potentials(const Block& block, const std::atomic<bool>& cancelled) {
  std::vector<double> found = potentials_with_earlier(positions_, low_, block.first, block.last, block.law, &cancelled);
  if (block.is_last) *this = {};
  return found;
}

}  // namespace orrery
