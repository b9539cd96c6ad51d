#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/core/message.h"
#include "compute/core/threads.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/rank_device.h"
#include "compute/ranks/communicator.h"
#include "compute/ranks/cpu_kernels.h"
#include "compute/ranks/protocol.h"
#include "compute/ranks/rank_bodies.h"
#include "compute/ranks/rank_leader.h"

namespace orrery {
namespace {

/// Looks for Order::cancel on a separate thread while a worker evaluates. The leader sends no other message during this
/// time.
class CancelWatch {
 public:
  explicit CancelWatch(Communicator& ranks) : ranks_{ranks}, thread_{start_thread([this] { watch(); })} {}
  ~CancelWatch() {
    const std::lock_guard lock{mutex_};
    ended_ = true;
    changed_.notify_all();
  }
  CancelWatch(const CancelWatch&) = delete;
  CancelWatch& operator=(const CancelWatch&) = delete;

  /// Guard that watches while it exists. Other threads may then use the communicator only for exchanges.
  class Span {
   public:
    explicit Span(CancelWatch& watch) : watch_{watch} {
      watch_.cancelled_ = false;
      watch_.set(true);
    }
    ~Span() { watch_.set(false); }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    CancelWatch& watch_;
  };
  /// Returns whether the latest span was cancelled.
  const std::atomic<bool>& cancelled() const { return cancelled_; }
  /// Polls until ended() is true. Throws Stopped if the span is cancelled first. Call within a span. Yields instead of
  /// sleeping, because the device would wait for a sleeping host.
  template <class Ended>
  void wait_until(const Ended& ended) const {
    while (!ended()) {
      if (cancelled_) throw Stopped{};
      std::this_thread::yield();
    }
  }

 private:
  static constexpr std::chrono::milliseconds period{10};

  void set(bool watching) {
    const std::lock_guard lock{mutex_};
    watching_ = watching;
    changed_.notify_all();
  }
  void watch() {
    std::unique_lock lock{mutex_};
    while (true) {
      changed_.wait(lock, [this] { return ended_ || (watching_ && !cancelled_); });
      if (ended_) return;
      if (changed_.wait_for(lock, period, [this] { return ended_ || !watching_; })) continue;
      if (ranks_.has_message(0)) cancelled_ = true;
    }
  }

  Communicator& ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool watching_ = false;
  bool ended_ = false;
  std::atomic<bool> cancelled_ = false;
  std::jthread thread_;  // last: the thread uses the members above
};

/// Sends a worker's replies to the leader.
class RankReply {
 public:
  /// `ranks` must outlive this object.
  explicit RankReply(Communicator& ranks) : ranks_{ranks} {}

  /// Does the work and replies with its outcome. If it succeeds, `add` writes the data of the reply to message().
  template <class Work, class Add>
  void after(const Work& work, const Add& add) {
    const auto report = [&](Outcome outcome, const char* why) {
      message_.clear();
      message_.put(outcome);
      message_.put_text(why);
    };
    try {
      work();
      message_.clear();
      message_.put(Outcome::done);
      add();
      ranks_.check_size(message_.bytes().size());
    } catch (const UsageError& error) {
      report(Outcome::refused, error.what());
    } catch (const Stopped& stopped) {
      report(Outcome::stopped, stopped.what());
    } catch (const std::bad_alloc&) {
      report(Outcome::failed, "not enough memory");
    } catch (const std::exception& error) {
      report(Outcome::failed, failure_text(error).c_str());
    }
    ranks_.send(0, message_.bytes());
  }

  template <class Work>
  void after(const Work& work) {
    after(work, [] {});
  }
  /// Sends Outcome::part_ended. The final reply must follow.
  void report_part_ended() {
    message_.clear();
    message_.put(Outcome::part_ended);
    ranks_.send(0, message_.bytes());
  }
  MessageWriter& message() { return message_; }

 private:
  Communicator& ranks_;
  MessageWriter message_;
};

/// Carries out Order::residents on a worker: its part of operations on bodies that the devices hold. All references
/// must outlive this object.
class ResidentOrders {
 public:
  ResidentOrders(Communicator& ranks, RankReply& reply, CancelWatch& watch)
      : ranks_{ranks}, reply_{reply}, watch_{watch} {}

  /// Carries out an order, whose key was read already. `kernel`: the kernel with this key. After a failure, this rank
  /// closes its connection immediately; the leader orders the other ranks to close theirs.
  void carry_out(RankKernel& kernel, MessageReader& order) {
    bool evaluates = false;
    reply_.after(
        [&] {
          const CancelWatch::Span watched{watch_};
          try {
            evaluates = take_part(*kernel.residents(), order);
          } catch (...) {
            if (ConnectedRankKernel* const connected = kernel.connected()) connected->disconnect();
            throw;
          }
        },
        [&] {
          if (evaluates) reply_.message().put(kernel.part_ms());
        });
  }

 private:
  /// Does the passes since the previous order, then the order. Returns whether the order was an evaluation. If a pass
  /// fails here, all ranks stop at their next exchange.
  bool take_part(RankResidents& part, MessageReader& order) {
    const auto head = order.get<ResidentHeader>();
    std::vector<PassOrder> passes;
    order.get_all(passes);
    CollectiveWork work{ranks_, &watch_.cancelled()};
    work.attempt([&] {
      for (const PassOrder& pass : passes) part.kick_drift(pass, nullptr, nullptr);
    });
    switch (head.kind) {
      case ResidentOrder::hold:
        part.hold({}, head.connected, work, nullptr);
        break;
      case ResidentOrder::check_finite:
        part.check_finite({}, order.get<std::uint32_t>(), head.connected, work, nullptr);
        break;
      case ResidentOrder::evaluate:
        evaluate(part, head.connected, work, order);
        break;
      case ResidentOrder::collect:
        part.collect(order.get<GatherSelection>(), {}, head.connected, work, nullptr);
        break;
    }
    watch_.wait_until([&] { return part.ended(); });
    return head.kind == ResidentOrder::evaluate;
  }

  void evaluate(RankResidents& part, bool connected, CollectiveWork& work, MessageReader& order) {
    const auto what = order.get<ResidentForce>();
    std::vector<Part> parts;
    order.get_all(parts);
    part.evaluate({.bodies = nullptr, .count = what.count, .masses = what.masses, .law = what.law, .epilogue = {}},
                  {.rounds = what.rounds, .connected = connected}, parts, work);
    watch_.wait_until([&] { return part.part_ended(); });
    reply_.report_part_ended();
  }

  Communicator& ranks_;
  RankReply& reply_;
  CancelWatch& watch_;
};

/// Keeps this rank's kernels and their bodies, and carries out orders.
class RankWorker {
 public:
  RankWorker(Communicator& ranks, const KernelCatalog& catalog, RankDevice* device)
      : ranks_{ranks}, catalog_{catalog}, device_{device}, reply_{ranks}, watch_{ranks} {}

  /// Carries out orders until Order::end.
  void run() {
    for (std::vector<std::byte> message;;) {
      ranks_.receive(0, message);
      MessageReader order{message};
      const auto kind = order.get<Order>();
      carry_out(kind, order);
      if (kind == Order::end) return;
    }
  }

 private:
  struct Instance {
    KernelPtr info;
    std::unique_ptr<ForceKernel> kernel{};        // null for a CUDA kernel
    std::unique_ptr<RankKernel> device_kernel{};  // null for a CPU kernel
    RankBodies bodies{};                          // bodies that this rank holds from step to step
    PotentialReplica replica{};
  };

  void carry_out(Order kind, MessageReader& order) {
    switch (kind) {
      case Order::open_device:
        return open_device(order);
      case Order::nccl_version:
        return reply_with_nccl_version();
      case Order::connect:
        return reply_.after([&] { device_->connect(order.get<ConnectionId>(), ranks_.rank(), ranks_.size()); });
      case Order::disconnect:
        return device_->disconnect();
      case Order::disconnect_kernel:
        return disconnect_kernel(order);
      case Order::make:
        return reply_.after([&] { make(order); });
      case Order::prepare:
        return reply_.after([&] { prepare(order); });
      case Order::evaluate:
        return evaluate(order);
      case Order::evaluate_domain:
        return evaluate_domain(order);
      case Order::reserve_input:
        return reply_.after([&] { reserve_input(order); });
      case Order::evaluate_part:
        return evaluate_part(order);
      case Order::prepare_residents:
        return reply_.after([&] { prepare_residents(order); });
      case Order::residents:
        return resident_orders_.carry_out(*kernels_.at(order.get<int>()).device_kernel, order);
      case Order::bodies_replaced:
        return bodies_replaced(order);
      case Order::cells:
        return cells(order);
      case Order::scatter:
        return scatter(order);
      case Order::step:
        return step(order);
      case Order::undo:
        return kernels_.at(order.get<int>()).bodies.undo();
      case Order::gather:
        return gather(order);
      case Order::bounds:
        return bounds(order);
      case Order::write_rows:
        return write_rows(order);
      case Order::replicate_positions:
        return replicate_positions(order);
      case Order::potentials:
        return potentials(order);
      case Order::cancel:
        return;  // the cancelled order had already ended
      case Order::drop:
        return drop(order);
      case Order::end:
        return reply_.after([] {});
    }
  }

  void drop(MessageReader& order) { kernels_.erase(order.get<int>()); }

  void open_device(MessageReader& order) {
    RankDeviceFacts facts;
    reply_.after(
        [&] {
          RankDeviceSelection which{.first = order.get<int>()};
          order.get_all(which.listed);
          facts = device_->open(which, ranks_.place_on_host());
        },
        [&] { reply_.message().put(facts); });
  }

  void reply_with_nccl_version() {
    int version = 0;
    reply_.after([&] { version = device_->nccl_version(); }, [&] { reply_.message().put(version); });
  }

  void disconnect_kernel(MessageReader& order) {
    const auto instance = kernels_.find(order.get<int>());
    if (instance == kernels_.end()) return;
    if (ConnectedRankKernel* const connected = instance->second.device_kernel->connected()) connected->disconnect();
  }

  void make(MessageReader& order) {
    const int key = order.get<int>();
    const KernelPtr info = catalog_.find(order.get_text());
    const Settings settings{*info, Settings::values_of(order.get_text())};
    if (info->backend == Backend::cuda) {
      kernels_[key] = {.info = info, .device_kernel = device_->make(*info, settings)};
    } else {
      kernels_[key] = {.info = info, .kernel = info->make(settings, nullptr)};
    }
  }

  void prepare(MessageReader& order) {
    const Instance& instance = kernels_.at(order.get<int>());
    const int count = order.get<int>();
    if (instance.device_kernel) return instance.device_kernel->prepare(count, ranks_.rank(), ranks_.size());
    instance.kernel->prepare(count);
    const bool has_all = !instance.kernel->domains();
    if (has_all) arrays_.prepare(count, instance.info->reads_low_words, instance.info->gives_jerks);
  }

  void prepare_residents(MessageReader& order) {
    RankResidents& residents = *kernels_.at(order.get<int>()).device_kernel->residents();
    residents.prepare(order.get<int>(), ranks_.rank(), ranks_.size());
  }

  /// Evaluates this rank's targets. Order::prepare has allocated the memory, so nothing can fail until all bodies have
  /// arrived.
  void evaluate(MessageReader& order) {
    const auto part = order.get<Evaluation>();
    const std::span targets = std::span{arrays_.targets}.first(static_cast<std::size_t>(part.targets));
    order.get_values(targets);
    if (part.kicks) order.get_entries(arrays_.velocities.data(), targets);
    const auto receive = [&](auto& array) {
      ranks_.receive_broadcast(std::as_writable_bytes(std::span{array}.first(static_cast<std::size_t>(part.count))));
    };
    if (part.jerks) {
      receive(arrays_.precise);
    } else {
      receive(arrays_.positions);
      if (part.low_words) receive(arrays_.positions_low);
    }
    EvaluationResult result;
    reply_.after(
        [&] {
          const CancelWatch::Span watched{watch_};
          const WithSubnormals as_the_leader{part.subnormals};
          if (!targets.empty()) evaluate_targets(part, targets, result);
          result.complete = !watch_.cancelled();
        },
        [&] {
          reply_.message().put(result);
          if (result.complete) put_results(part, targets);
        });
  }

  void evaluate_domain(MessageReader& order) {
    PartitionEvaluation part{order, arrays_};
    reply_.after(
        [&] {
          const CancelWatch::Span watched{watch_};
          part.evaluate(*kernels_.at(part.key()).kernel, ranks_, watch_.cancelled());
        },
        [&] { part.put_results(reply_.message()); });
  }

  void reserve_input(MessageReader& order) {
    RankKernel& kernel = *kernels_.at(order.get<int>()).device_kernel;
    kernel.reserve_input(order.get<std::size_t>());
  }

  void evaluate_part(MessageReader& order) {
    const auto what = order.get<DeviceEvaluation>();
    RankKernel& kernel = *kernels_.at(what.key).device_kernel;
    const WorkerInput input = get_input(order);
    std::vector<Part> parts;
    order.get_all(parts);
    const ForceArgs args{.count = what.count,
                         // Never dereferenced: a non-null pointer only means that targets are listed.
                         .targets = {.indices = what.targets > 0 ? &what.targets : nullptr, .count = what.targets},
                         .masses = what.masses,
                         .law = what.law,
                         .epilogue = {}};
    const Part& own = parts[static_cast<std::size_t>(ranks_.rank())];
    if (what.connected) return evaluate_connected(kernel, args, input, parts, own);
    // Order::reserve_input has allocated the memory.
    const InputBytes bytes = bytes_of(input);
    const std::span<std::byte> room = kernel.input_buffer(bytes.all());
    order.get_values(room.last(bytes.individual));
    ranks_.receive_broadcast(room.first(bytes.common));
    std::span<const std::byte> found;
    reply_.after(
        [&] {
          CollectiveWork work{ranks_, nullptr};
          found = kernel.evaluate(args, input, parts, own, work);
        },
        [&] {
          reply_.message().put(kernel.part_ms());
          reply_.message().put_values(found);
        });
  }

  /// Evaluates a part with data that go from device to device. After a failure, this rank closes its connection
  /// immediately; the leader orders the other ranks to close theirs.
  void evaluate_connected(RankKernel& kernel, const ForceArgs& args, const WorkerInput& input,
                          std::span<const Part> parts, const Part& own) {
    reply_.after(
        [&] {
          const CancelWatch::Span watched{watch_};
          CollectiveWork work{ranks_, &watch_.cancelled()};
          ConnectedRankKernel* const connected = kernel.connected();
          if (!connected) throw Stopped{};
          try {
            connected->evaluate_part(args, input, parts, own, work);
            reply_.report_part_ended();
            watch_.wait_until([&] { return connected->ended(); });
          } catch (...) {
            connected->disconnect();
            throw;
          }
        },
        [&] { reply_.message().put(kernel.part_ms()); });
  }

  void bodies_replaced(MessageReader& order) {
    const auto instance = kernels_.find(order.get<int>());
    if (instance != kernels_.end()) instance->second.device_kernel->bodies_replaced();
  }

  void cells(MessageReader& order) {
    MessageWriter found;
    reply_.after([&] { found = kernels_.at(order.get<int>()).device_kernel->cells(ranks_.rank()); },
                 [&] { reply_.message().put_values(found.bytes()); });
  }

  void scatter(MessageReader& order) {
    reply_.after([&] {
      RankBodies& bodies = kernels_.at(order.get<int>()).bodies;
      bodies.take_first(order);
    });
  }

  void step(MessageReader& order) {
    const auto what = order.get<StepOrder>();
    StepResult result;
    reply_.after(
        [&] {
          const CancelWatch::Span watched{watch_};
          Instance& instance = kernels_.at(what.key);
          result = instance.bodies.step(what, order.get_text(), *instance.kernel, arrays_, ranks_, watch_.cancelled());
        },
        [&] { reply_.message().put(result); });
  }

  void gather(MessageReader& order) {
    const RankBodies& bodies = kernels_.at(order.get<int>()).bodies;
    const int first = order.get<int>(), last = order.get<int>();
    reply_.after([] {}, [&] { bodies.put(first, last, reply_.message()); });
  }

  void bounds(MessageReader& order) {
    const RankBodies& bodies = kernels_.at(order.get<int>()).bodies;
    reply_.after([] {}, [&] { reply_.message().put(bodies.bounds()); });
  }

  void write_rows(MessageReader& order) {
    reply_.after([&] {
      const RankBodies& bodies = kernels_.at(order.get<int>()).bodies;
      CollectiveWrite part{bodies, order.get<std::size_t>(), ranks_};
      part.write(get_rows(order), /*is_on_host_of_leader=*/ranks_.place_on_host() == ranks_.rank());
    });
  }

  void replicate_positions(MessageReader& order) {
    reply_.after([&] {
      PotentialReplica& replica = kernels_.at(order.get<int>()).replica;
      replica.prepare(order);
    });
  }

  void potentials(MessageReader& order) {
    PotentialReplica& replica = kernels_.at(order.get<int>()).replica;
    const auto block = order.get<PotentialReplica::Block>();
    if (block.receives) replica.receive(ranks_);
    std::vector<double> found;
    reply_.after(
        [&] {
          const CancelWatch::Span watched{watch_};
          found = replica.potentials(block, watch_.cancelled());
        },
        [&] { reply_.message().put_values(std::span<const double>{found}); });
  }

  void evaluate_targets(const Evaluation& part, std::span<const int> targets, EvaluationResult& result) {
    ForceKernel& kernel = *kernels_.at(part.key).kernel;
    const Targets wanted{targets.data(), part.targets};
    if (part.jerks) {
      return kernel.jerks()->evaluate_jerks({.bodies = arrays_.precise.data(),
                                             .count = part.count,
                                             .targets = wanted,
                                             .law = part.law,
                                             .pulls = arrays_.pulls.data(),
                                             .cancelled = &watch_.cancelled()});
    }
    ForceArgs args = arrays_.args_of(part);
    args.targets = wanted;
    args.evaluated = &result.by_tree;
    args.cancelled = &watch_.cancelled();
    kernel.evaluate(args);
  }

  void put_results(const Evaluation& part, std::span<const int> targets) {
    if (part.jerks) return reply_.message().put_entries(arrays_.pulls.data(), targets);
    if (part.stores) reply_.message().put_entries(arrays_.accelerations.data(), targets);
    if (part.stores_low) reply_.message().put_entries(arrays_.accelerations_low.data(), targets);
    if (part.kicks) reply_.message().put_entries(arrays_.velocities.data(), targets);
  }

  Communicator& ranks_;
  const KernelCatalog& catalog_;
  RankDevice* const device_;         // null: no CUDA kernels
  std::map<int, Instance> kernels_;  // by key
  RankArrays arrays_;
  RankReply reply_;
  CancelWatch watch_;
  ResidentOrders resident_orders_{ranks_, reply_, watch_};
};

}  // namespace

void serve_leader(Communicator& ranks, const KernelCatalog& kernels, RankDevice* device) {
  RankWorker{ranks, kernels, device}.run();
}

}  // namespace orrery
