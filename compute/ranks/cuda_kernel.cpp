#include "compute/ranks/cuda_kernel.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/devices/load_balance.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/rank_device.h"
#include "compute/kernels/shared_facets.h"

namespace orrery {
namespace {

struct ConnectionLost {};  // thrown if another kernel has closed the connection

/// The leader's side of bodies that the CUDA devices of all ranks hold: sends the orders and does the leader's own
/// part. The next order tells the workers which kick-drift passes to make. RankResidents is a rank's side.
class LeaderResidents {
 public:
  /// `channel` and `own` (the leader's part of the kernel) must outlive this object. `key` identifies the kernel in
  /// orders.
  LeaderResidents(WorkerChannel& channel, int key, RankKernel& own) : channel_{channel}, key_{key}, own_{own} {}

  bool can_hold(int count) const { return own_.residents() && own_.residents()->can_hold(count, channel_.ranks()); }
  /// Allocates memory for `count` bodies on all ranks. Throws as ForceKernel::prepare().
  void prepare(int count) {
    forget();
    channel_.exchange({.order =
                           [&](int, MessageWriter& order) {
                             order.put(Order::prepare_residents);
                             order.put(key_);
                             order.put(count);
                           },
                       .own_part = [&] { own_.residents()->prepare(count, 0, channel_.ranks()); }});
    room_ = count;
  }

  bool has_room(int count) const { return room_ > 0 && room_ == count; }
  /// Returns the number of bodies that all ranks together hold; 0: none.
  int count() const { return held_; }
  /// Discards the bodies. prepare() is needed before the next hold().
  void forget() { held_ = room_ = 0; }

  // These implement ResidentFacet. If one of them throws, the bodies are lost.
  void hold(const ScatterSource& from, int count, CUstream_st* stream) {
    passes_.clear();
    do_on_all({.kind = ResidentOrder::hold,
               .put = [](MessageWriter&) {},
               .own_part = [&](RankResidents& own, bool connected,
                               CollectiveWork& work) { own.hold(from, connected, work, stream); }});
    held_ = count;
  }

  void kick_drift(const cuda::KickDrift& pass, const cuda::NonFiniteCheck& check, CUstream_st* stream) {
    require_residents();
    passes_.push_back(
        {.motion = pass, .frozen_below = check.frozen_below, .before = check.before, .after = check.after});
    or_forget([&] { own_.residents()->kick_drift(passes_.back(), check.report.seen, stream); });
  }
  void check_finite(const cuda::NonFiniteReport& report, std::uint32_t pass, CUstream_st* stream) {
    require_residents();
    do_on_all({.kind = ResidentOrder::check_finite,
               .put = [&](MessageWriter& order) { order.put(pass); },
               .own_part = [&](RankResidents& own, bool connected,
                               CollectiveWork& work) { own.check_finite(report, pass, connected, work, stream); }});
  }

  /// Evaluates all bodies. Sets ms[rank] to the time of each worker's part on its device, in ms.
  void evaluate(const ForceArgs& args, std::span<const Part> parts, std::span<double> ms) {
    if (held_ != args.count) throw std::logic_error("the ranks do not hold these bodies");
    ResidentEvaluation how;
    or_forget([&] { how.rounds = own_.residents()->begin(args); });
    do_on_all({.kind = ResidentOrder::evaluate,
               .put =
                   [&](MessageWriter& order) {
                     order.put(ResidentForce{
                         .count = args.count, .rounds = how.rounds, .masses = args.masses, .law = args.law});
                     order.put_all(std::vector<Part>(parts.begin(), parts.end()));
                   },
               .own_part =
                   [&](RankResidents& own, bool connected, CollectiveWork& work) {
                     how.connected = connected;
                     own.evaluate(args, how, parts, work);
                   },
               .own_work_ended = [&] { return own_.residents()->part_ended(); },
               .on_reply = [&](int rank,
                               MessageReader& reply) { ms[static_cast<std::size_t>(rank)] = reply.get<double>(); }});
  }

  void collect(const GatherBuffers& places, CUstream_st* stream) {
    require_residents();
    const GatherSelection wanted = places.wanted();
    do_on_all({.kind = ResidentOrder::collect,
               .put = [&](MessageWriter& order) { order.put(wanted); },
               .own_part = [&](RankResidents& own, bool connected,
                               CollectiveWork& work) { own.collect(wanted, places, connected, work, stream); }});
  }

  /// Gathers the rank of each body in device memory of the leader, and returns that memory. Throws UsageError if memory
  /// is short.
  const int* collect_owners(CUstream_st* stream) {
    int* const room = own_.residents()->owner_buffer(held_);
    collect({.d_owners = room}, stream);
    return room;
  }

 private:
  /// An operation that all ranks carry out together.
  struct Work {
    ResidentOrder kind;
    /// Writes the data of this operation at the end of the order.
    std::function<void(MessageWriter& order)> put;
    std::function<void(RankResidents& own, bool connected, CollectiveWork& work)> own_part;
    /// Returns whether the leader only waits for data of other ranks, see WorkerChannel::Exchange. The default is
    /// false, because this is not known.
    std::function<bool()> own_work_ended = [] { return false; };
    std::function<void(int rank, MessageReader& reply)> on_reply = [](int, MessageReader&) {};
  };
  /// Carries out the work on all ranks. If it fails, the bodies are lost.
  void do_on_all(const Work& what) {
    or_forget([&] { exchange(what); });
  }
  /// Calls `what`. If it throws, the bodies are lost.
  template <class What>
  void or_forget(const What& what);
  /// Sends the order and does the leader's part. While orders are written, the connection is open on all ranks or on
  /// none: after a failure, all ranks close it before another kernel can use the channel.
  void exchange(const Work& what) {
    CollectiveWork work{channel_.others(), nullptr};
    bool connected = false;
    channel_.exchange({.order =
                           [&](int, MessageWriter& order) {
                             connected = own_.connected() != nullptr;
                             order.put(Order::residents);
                             order.put(key_);
                             order.put(ResidentHeader{.kind = what.kind, .connected = connected});
                             order.put_all(passes_);
                             what.put(order);
                           },
                       .own_part = [&] { what.own_part(*own_.residents(), connected, work); },
                       .own_ended = [&] { return own_.residents()->ended(); },
                       .own_work_ended = what.own_work_ended,
                       .on_reply = what.on_reply,
                       .after_failure =
                           [&](MessageWriter& order) {
                             if (ConnectedRankKernel* const connection = own_.connected()) connection->disconnect();
                             order.put(Order::disconnect_kernel);
                             order.put(key_);
                           }});
    passes_.clear();
  }

  void require_residents() const {
    if (held_ == 0) throw std::logic_error("the ranks hold no bodies");
  }

  WorkerChannel& channel_;
  const int key_;
  RankKernel& own_;
  int room_ = 0, held_ = 0;
  std::vector<PassOrder> passes_;  // passes that the next order sends to the workers
};

/// The leader's side of a CUDA kernel that the devices of all ranks evaluate. Either the leader's device sends the
/// bodies to the others in each evaluation, or each device holds the bodies of its part. Data go from device to device
/// while the ranks are connected, otherwise through host memory. The host blocks until all parts of an evaluation have
/// ended.
class LeaderCudaKernel final : public ForceKernel, public OwnersFacet, public ResidentFacet, private TreeFacet {
 public:
  /// See leader_cuda_kernel().
  LeaderCudaKernel(WorkerChannel& channel, int key, const KernelInfo& kernel, const Settings& settings,
                   RankDevice& device, Transport transport)
      : channel_{channel},
        key_{key},
        by_targets_{!kernel.divides},
        is_tree_{kernel.is_tree},
        transport_{std::move(transport)},
        parts_{channel.ranks()},
        ms_(static_cast<std::size_t>(channel.ranks())),
        instances_{channel, key, kernel, settings, [&] { own_ = device.make(kernel, settings); }},
        residents_{channel, key, *own_} {}

  /// Allocates memory for resident bodies if it can, because steps use them. Evaluations of copied bodies allocate on
  /// demand.
  void prepare(int count) override {
    if (count == instances_.prepared() || has_room(count)) return;
    if (can_hold(count)) {
      try {
        return allocate_residents(count);
      } catch (const UsageError&) {
        // copied bodies may need less memory
      }
    }
    allocate_inputs(count);
  }

  void bodies_replaced() override {
    own_->bodies_replaced();
    MessageWriter order;
    order.put(Order::bodies_replaced);
    order.put(key_);
    channel_.notify(order);
  }

  TreeFacet* tree() override { return own_->kernel().tree() ? this : nullptr; }
  std::string chosen(int count, const MassRange& masses) const override {
    const std::string own = own_->kernel().chosen(count, masses);
    return own + (own.empty() ? "" : ", ") + "ranks " + std::to_string(channel_.ranks()) + ", " +
           transport_.to_string(own_->connected() != nullptr);
  }
  MainLaunch main_launch(const Law& law, int count, const MassRange& masses) const override {
    return own_->kernel().main_launch(law, count, masses);
  }
  /// Returns the rank of each body. It is unknown if the ranks divide the pairs, instead of the targets or the bodies.
  std::optional<BodyOwners> owners(int count) const override {
    if (!why_no_owners_.empty()) return BodyOwners{.why_unknown = why_no_owners_};
    BodyOwners owners;
    if (by_targets_) {
      owners.of_body = parts_.owners(count);
    } else if (!is_tree_) {
      return BodyOwners{.why_unknown = "the ranks divide the pairs, not the bodies"};
    } else if (std::optional<std::vector<int>> read = own_->owners(count)) {
      owners.of_body = std::move(*read);
    } else {
      return std::nullopt;
    }
    for (int rank = 0; rank < channel_.ranks(); ++rank) owners.names.push_back("rank " + std::to_string(rank));
    return owners;
  }

  /// Must not throw UsageError, since the steps of the batch are already enqueued. If memory is short, owners() reports
  /// that the owners are unknown.
  void read_owners(int count, CUstream_st* stream) override {
    const bool are_held = residents_.count() == count;
    if (!is_tree_ || (instances_.prepared() != count && !are_held)) return;
    try {
      why_no_owners_.clear();
      own_->read_owners(count, are_held ? residents_.collect_owners(stream) : nullptr, stream);
    } catch (const UsageError& lack) {
      why_no_owners_ = lack.what();
    }
  }

  bool can_hold(int count) const override { return residents_.can_hold(count); }
  bool has_room(int count) const override { return residents_.has_room(count); }
  void hold(const Vec4* d_positions, const Vec4* d_velocities, int count, const cuda::PackedFinding* d_finding,
            CUstream_st* stream) override {
    if (!can_hold(count)) throw std::logic_error("the devices cannot hold these bodies");
    allocate_residents(count);
    bodies_replaced();
    residents_.hold({.d_positions = d_positions, .d_velocities = d_velocities, .d_finding = d_finding}, count, stream);
  }

  void kick_drift(const cuda::KickDrift& pass, const cuda::NonFiniteCheck& check, CUstream_st* stream) override {
    residents_.kick_drift(pass, check, stream);
  }
  void check_finite(const cuda::NonFiniteReport& report, std::uint32_t pass, CUstream_st* stream) override {
    residents_.check_finite(report, pass, stream);
  }
  void evaluate_residents(const ForceArgs& args) override {
    try {
      residents_.evaluate(args, parts_.parts(), ms_);
    } catch (...) {
      bodies_replaced();
      throw;
    }
    learn_parts(args);
  }

  void collect(Vec4* d_positions, Vec4* d_velocities, CUstream_st* stream, Vec4* d_accelerations) override {
    residents_.collect({.d_positions = d_positions, .d_velocities = d_velocities, .d_accelerations = d_accelerations},
                       stream);
  }

 protected:
  void do_evaluate(const ForceArgs& args) override {
    if (args.count != instances_.prepared()) allocate_inputs(args.count);
    try {
      evaluate_parts(args);
    } catch (...) {
      instances_.forget();  // the ranks may have cached different data
      throw;
    }
  }

 private:
  using WorkerInputs = std::vector<WorkerInput>;  // one entry per rank

  // These two allocate memory on all ranks for `count` bodies: to hold them, or for copies of all bodies.
  void allocate_residents(int count) {
    instances_.forget();
    untimed_ = 2;
    parts_.forget_times();
    residents_.prepare(count);
  }
  void allocate_inputs(int count) {
    residents_.forget();
    untimed_ = 2;
    parts_.forget_times();
    instances_.prepare(count, [&] { own_->prepare(count, 0, channel_.ranks()); });
  }
  void evaluate_parts(const ForceArgs& args) {
    const std::vector<Part> parts = parts_.parts();
    ConnectedRankKernel* const connected = own_->connected();
    if (!connected || !evaluate_connected(*connected, args, parts)) evaluate_through_host(args, parts);
    if (!own_->works_alone()) learn_parts(args);
  }
  /// Evaluates with data that go from device to device. Returns false, without effect, if another kernel has closed the
  /// connection; see LeaderResidents::exchange(). Does not forward args.cancelled, which would tell the workers that
  /// another rank has failed. After a failure, the simulation continues through host memory.
  bool evaluate_connected(ConnectedRankKernel& own, const ForceArgs& args, const std::vector<Part>& parts) {
    const WorkerInputs inputs = own.prepare_inputs(args, parts);
    CollectiveWork work{channel_.others(), nullptr};
    if (own_->works_alone()) {
      own.evaluate(args, parts, work);
      own.join(args, parts);
      return true;
    }
    WorkerChannel::Exchange exchange = exchange_for(args, parts, inputs, /*connected=*/true);
    exchange.order = [&, write = std::move(exchange.order)](int rank, MessageWriter& order) {
      if (!own_->connected()) throw ConnectionLost{};
      write(rank, order);
    };
    exchange.own_part = [&] { own.evaluate(args, parts, work); };
    exchange.own_ended = [&] { return own.ended(); };
    exchange.own_work_ended = [&] { return own.part_ended(); };
    exchange.on_reply = [&](int rank, MessageReader& reply) {
      ms_[static_cast<std::size_t>(rank)] = reply.get<double>();
    };
    exchange.after_failure = [&](MessageWriter& order) {
      own.disconnect();
      order.put(Order::disconnect_kernel);
      order.put(key_);
    };
    try {
      channel_.exchange(exchange);
    } catch (const ConnectionLost&) {
      own_->bodies_replaced();  // undoes prepare_inputs(): its evaluation will not happen
      return false;
    }
    own.join(args, parts);
    return true;
  }

  /// Evaluates with data that go through host memory. The workers wait for the broadcast that their orders announce.
  /// Everything else that can fail on the leader therefore happens before the orders are sent, or after the broadcast.
  void evaluate_through_host(const ForceArgs& args, const std::vector<Part>& parts) {
    const WorkerInputs inputs = own_->prepare_inputs(args, parts);
    if (own_->works_alone()) return own_->join(args, parts);
    reserve_input(inputs);
    std::vector<std::span<std::byte>> places;
    for (const Part& part : parts) places.push_back(part.index > 0 ? own_->place(args, part) : std::span<std::byte>{});
    CollectiveWork work{channel_.others(), nullptr};
    WorkerChannel::Exchange exchange = exchange_for(args, parts, inputs, /*connected=*/false);
    exchange.order = [&, write = std::move(exchange.order)](int rank, MessageWriter& order) {
      write(rank, order);
      order.put_values(own_->individual_input(rank));
    };
    exchange.own_part = [&] {
      channel_.broadcast(own_->common_input());
      own_->end_part(args, parts, work);
    };
    exchange.on_reply = [&](int rank, MessageReader& reply) {
      ms_[static_cast<std::size_t>(rank)] = reply.get<double>();
      reply.get_values(places[static_cast<std::size_t>(rank)]);
    };
    exchange.cancelled = args.cancelled;
    channel_.exchange(exchange);
    own_->join(args, parts);
  }

  /// Returns the part of an exchange that is common to both transports; the caller adds the rest. `parts` and `inputs`
  /// must outlive the result.
  WorkerChannel::Exchange exchange_for(const ForceArgs& args, const std::vector<Part>& parts,
                                       const WorkerInputs& inputs, bool connected) const {
    const DeviceEvaluation all{.key = key_,
                               .count = args.count,
                               .targets = args.targets ? args.targets.count : 0,
                               .masses = args.masses,
                               .law = args.law,
                               .connected = connected};
    return {.order =
                [all, &parts, &inputs](int rank, MessageWriter& order) {
                  order.put(Order::evaluate_part);
                  order.put(all);
                  put_input(inputs[static_cast<std::size_t>(rank)], order);
                  order.put_all(parts);
                },
            .own_part = [] {},
            .is_long =
                [&parts, targets = args.target_count()](int rank) {
                  const Part& part = parts[static_cast<std::size_t>(rank)];
                  return part.first(targets) < part.last(targets);
                }};
  }

  /// Makes the workers allocate host memory for their inputs. Rounds up to a power of two, so that slowly growing
  /// inputs seldom need another order.
  void reserve_input(const WorkerInputs& inputs) {
    std::size_t bytes = 0;
    for (const WorkerInput& input : inputs) bytes = std::max(bytes, bytes_of(input).all());
    if (bytes <= reserved_) return;
    const std::size_t reserved = std::bit_ceil(bytes);
    reserved_ = 0;  // after a failure, workers may have no memory
    channel_.exchange({.order =
                           [&](int, MessageWriter& order) {
                             order.put(Order::reserve_input);
                             order.put(key_);
                             order.put(reserved);
                           },
                       .own_part = [] {},
                       .is_long = [](int rank) { return rank > 0; }});
    reserved_ = reserved;
  }

  /// Adjusts the parts to measured times. Ignores evaluations of listed targets, which are no measure for all bodies.
  void learn_parts(const ForceArgs& args) {
    const bool timed = is_tree_ && !args.targets && untimed_ == 0;
    if (untimed_ > 0) --untimed_;
    parts_.evaluated(own_->keeps_parts(), timed);
    if (!timed) return;
    ms_.front() = own_->part_ms();
    parts_.learn(ms_);
  }

  // The leader's tree, completed by the cells of other ranks.
  std::optional<TreeReport> report() const override { return own_->kernel().tree()->report(); }
  void prepare_cells(const CellRequest& request, int count) override {
    own_->kernel().tree()->prepare_cells(request, count);
  }
  void pick_cells(const CellRequest& request, CUstream_st* stream) override {
    TreeFacet& tree = *own_->kernel().tree();
    if (instances_.prepared() == 0) return tree.pick_cells({}, stream);  // there is no tree: shows no cells
    channel_.exchange({.order =
                           [&](int, MessageWriter& order) {
                             order.put(Order::cells);
                             order.put(key_);
                           },
                       .own_part = [] {},
                       .on_reply = [&](int rank, MessageReader& reply) { own_->place_cells(rank, reply, stream); },
                       .is_long = [](int rank) { return rank > 0; }});
    tree.pick_cells(request, stream);
  }

  std::optional<PickedCells> cells() const override { return own_->kernel().tree()->cells(); }

  WorkerChannel& channel_;
  const int key_;
  const bool by_targets_;  // each rank has a range of the targets; false: the kernel defines the parts
  const bool is_tree_;     // the work per body varies, so measured times change the parts
  const Transport transport_;
  LearnedParts parts_;
  std::vector<double> ms_;  // times of the latest evaluation, by rank
  int untimed_ = 0;         // number of evaluations whose times are still ignored, since they load code
  std::string why_no_owners_;
  std::unique_ptr<RankKernel> own_;
  KernelInstances instances_;  // after own_, which it makes
  LeaderResidents residents_;
  std::size_t reserved_ = 0;  // bytes that the workers have allocated for their inputs
};

/// Some ranks may have carried out a failed operation and others not, so the bodies are unusable.
template <class What>
void LeaderResidents::or_forget(const What& what) {
  try {
    what();
  } catch (...) {
    forget();
    throw;
  }
}

}  // namespace

std::unique_ptr<ForceKernel> leader_cuda_kernel(WorkerChannel& channel, int key, const KernelInfo& kernel,
                                                const Settings& settings, RankDevice& device,
                                                const Transport& transport) {
  return std::make_unique<LeaderCudaKernel>(channel, key, kernel, settings, device, transport);
}

}  // namespace orrery
