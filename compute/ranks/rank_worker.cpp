#include "compute/ranks/rank_worker.h"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compute/core/message.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/rank_device.h"
#include "compute/ranks/communicator.h"
#include "compute/ranks/domain_kernel.h"
#include "compute/ranks/joint_writing.h"
#include "compute/ranks/orders.h"
#include "compute/ranks/rank_bodies.h"
#include "compute/ranks/rank_watch.h"
#include "compute/ranks/shared_kernel.h"

namespace orrery {
namespace {

/// Carries out a worker's orders for bodies that its CUDA device holds. All references must outlive this.
class HeldOrders {
 public:
  HeldOrders(Communicator& ranks, RankReply& reply, CancelWatch& watch) : ranks_{ranks}, reply_{reply}, watch_{watch} {}

  /// Reads Order::held after its key. `division`: of the kernel with this key. If the order fails, this rank leaves the
  /// connection immediately, and the leader orders the others to leave.
  void carry_out(HostedDivision& division, MessageReader& order);

 private:
  /// Returns whether it was an evaluation.
  bool take_part(HeldPart& part, MessageReader& order);
  void evaluate(HeldPart& part, bool connected, JointWork& work, MessageReader& order);

  Communicator& ranks_;
  RankReply& reply_;
  CancelWatch& watch_;
};

void HeldOrders::carry_out(HostedDivision& division, MessageReader& order) {
  bool evaluates = false;
  reply_.after(
      [&] {
        const CancelWatch::Span watched{watch_};
        try {
          evaluates = take_part(*division.held(), order);
        } catch (...) {
          if (ConnectedDivision* const connected = division.connected()) connected->disconnect();
          throw;
        }
      },
      [&] {
        if (evaluates) reply_.message().put(division.part_ms());
      });
}

/// Does the passes first. If one fails here, the others stop, too.
bool HeldOrders::take_part(HeldPart& part, MessageReader& order) {
  const auto head = order.get<HeldHead>();
  std::vector<HeldPass> passes;
  order.get_all(passes);
  JointWork work{ranks_, &watch_.cancelled()};
  work.attempt([&] {
    for (const HeldPass& pass : passes) part.kick_drift(pass, nullptr, nullptr);
  });
  switch (head.kind) {
    case HeldOrder::hold:
      part.hold({}, head.connected, work, nullptr);
      break;
    case HeldOrder::check_finite:
      part.check_finite({}, order.get<std::uint32_t>(), head.connected, work, nullptr);
      break;
    case HeldOrder::evaluate:
      evaluate(part, head.connected, work, order);
      break;
    case HeldOrder::collect:
      part.collect(order.get<HeldWanted>(), {}, head.connected, work, nullptr);
      break;
  }
  watch_.wait_until([&] { return part.ended(); });
  return head.kind == HeldOrder::evaluate;
}

void HeldOrders::evaluate(HeldPart& part, bool connected, JointWork& work, MessageReader& order) {
  const auto what = order.get<HeldForce>();
  std::vector<Part> parts;
  order.get_all(parts);
  part.evaluate({.bodies = nullptr, .count = what.count, .masses = what.masses, .law = what.law, .epilogue = {}},
                {.rounds = what.rounds, .connected = connected}, parts, work);
  watch_.wait_until([&] { return part.part_ended(); });
  reply_.say_that_part_ended();
}

class RankWorker {
 public:
  RankWorker(Communicator& ranks, const KernelCatalog& catalog, RankDevice* device)
      : ranks_{ranks}, catalog_{catalog}, device_{device}, reply_{ranks}, watch_{ranks} {}

  void run() {
    for (std::vector<std::byte> message;;) {
      ranks_.receive(0, message);
      MessageReader order{message};
      switch (order.get<Order>()) {
        case Order::open_device:
          open_device(order);
          break;
        case Order::nccl_version:
          reply_with_nccl_version();
          break;
        case Order::connect:
          reply_.after([&] { device_->connect(order.get<ConnectionId>(), ranks_.rank(), ranks_.size()); });
          break;
        case Order::disconnect:
          device_->disconnect();
          break;
        case Order::disconnect_kernel:
          disconnect_kernel(order);
          break;
        case Order::make:
          reply_.after([&] { make(order); });
          break;
        case Order::prepare:
          reply_.after([&] { prepare(order); });
          break;
        case Order::evaluate:
          evaluate(order);
          break;
        case Order::evaluate_domain:
          evaluate_domain(order);
          break;
        case Order::take_room:
          reply_.after([&] { take_room(order); });
          break;
        case Order::evaluate_part:
          evaluate_part(order);
          break;
        case Order::prepare_held:
          reply_.after([&] { prepare_held(order); });
          break;
        case Order::held:
          held_orders_.carry_out(*kernels_.at(order.get<int>()).division, order);
          break;
        case Order::bodies_replaced:
          bodies_replaced(order);
          break;
        case Order::cells:
          cells(order);
          break;
        case Order::spread:
          spread(order);
          break;
        case Order::step:
          step(order);
          break;
        case Order::undo:
          kernels_.at(order.get<int>()).bodies.undo();
          break;
        case Order::gather:
          gather(order);
          break;
        case Order::bounds:
          bounds(order);
          break;
        case Order::write_rows:
          write_rows(order);
          break;
        case Order::hold_positions:
          hold_positions(order);
          break;
        case Order::potentials:
          potentials(order);
          break;
        case Order::cancel:  // its order had already ended
          break;
        case Order::drop:
          kernels_.erase(order.get<int>());
          break;
        case Order::end:
          return reply_.after([] {});
      }
    }
  }

 private:
  struct Made {
    KernelPtr info;
    std::unique_ptr<ForceKernel> kernel{};       // CPU kernel
    std::unique_ptr<HostedDivision> division{};  // CUDA kernel
    RankBodies bodies{};                         // bodies held from step to step
    HeldPositions held{};
  };

  void open_device(MessageReader& order) {
    RankDeviceFacts facts;
    reply_.after(
        [&] {
          DevicesOfRanks which{.first = order.get<int>()};
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
    const auto made = kernels_.find(order.get<int>());
    if (made == kernels_.end()) return;
    if (ConnectedDivision* const connected = made->second.division->connected()) connected->disconnect();
  }

  void make(MessageReader& order) {
    const int key = order.get<int>();
    const KernelPtr info = catalog_.find(order.get_text());
    const Settings settings{*info, Settings::values_of(order.get_text())};
    if (info->backend == Backend::cuda) {
      kernels_[key] = {.info = info, .division = device_->make(*info, settings)};
    } else {
      kernels_[key] = {.info = info, .kernel = info->make(settings, nullptr)};
    }
  }

  void prepare(MessageReader& order) {
    const Made& made = kernels_.at(order.get<int>());
    const int count = order.get<int>();
    if (made.division) return made.division->prepare(count, ranks_.rank(), ranks_.size());
    made.kernel->prepare(count);
    const bool has_all = !made.kernel->domains();
    if (has_all) arrays_.prepare(count, made.info->reads_low_words, made.info->gives_jerks);
  }

  void prepare_held(MessageReader& order) {
    HeldPart& held = *kernels_.at(order.get<int>()).division->held();
    held.prepare(order.get<int>(), ranks_.rank(), ranks_.size());
  }

  /// Order::prepare came before, so nothing can fail until all bodies have arrived.
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
    Evaluated result;
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
    DomainPart part{order, arrays_};
    reply_.after(
        [&] {
          const CancelWatch::Span watched{watch_};
          part.evaluate(*kernels_.at(part.key()).kernel, ranks_, watch_.cancelled());
        },
        [&] { part.put_results(reply_.message()); });
  }

  void take_room(MessageReader& order) {
    HostedDivision& division = *kernels_.at(order.get<int>()).division;
    division.take_room(order.get<std::size_t>());
  }

  void evaluate_part(MessageReader& order) {
    const auto what = order.get<DividedEvaluation>();
    HostedDivision& division = *kernels_.at(what.key).division;
    const Handout handout = get_handout(order);
    std::vector<Part> parts;
    order.get_all(parts);
    const ForceArgs args{.count = what.count,
                         // Never read: a non-null pointer only says that some bodies are not targets.
                         .targets = {.indices = what.targets > 0 ? &what.targets : nullptr, .count = what.targets},
                         .masses = what.masses,
                         .law = what.law,
                         .epilogue = {}};
    const Part& own = parts[static_cast<std::size_t>(ranks_.rank())];
    if (what.connected) return evaluate_connected(division, args, handout, parts, own);
    // Order::take_room came before.
    const SharedBytes bytes = bytes_of(handout);
    const std::span<std::byte> room = division.room(bytes.all());
    order.get_values(room.last(bytes.with_one));
    ranks_.receive_broadcast(room.first(bytes.with_all));
    std::span<const std::byte> found;
    reply_.after(
        [&] {
          JointWork work{ranks_, nullptr};
          found = division.evaluate(args, handout, parts, own, work);
        },
        [&] {
          reply_.message().put(division.part_ms());
          reply_.message().put_values(found);
        });
  }

  /// If the evaluation fails, this rank leaves the connection immediately, and the leader orders the others to leave.
  void evaluate_connected(HostedDivision& division, const ForceArgs& args, const Handout& handout,
                          std::span<const Part> parts, const Part& own) {
    reply_.after(
        [&] {
          const CancelWatch::Span watched{watch_};
          JointWork work{ranks_, &watch_.cancelled()};
          ConnectedDivision* const connected = division.connected();
          if (!connected) throw Stopped{};
          try {
            connected->evaluate_part(args, handout, parts, own, work);
            reply_.say_that_part_ended();
            watch_.wait_until([&] { return connected->ended(); });
          } catch (...) {
            connected->disconnect();
            throw;
          }
        },
        [&] { reply_.message().put(division.part_ms()); });
  }

  void bodies_replaced(MessageReader& order) {
    const auto made = kernels_.find(order.get<int>());
    if (made != kernels_.end()) made->second.division->bodies_replaced();
  }

  void cells(MessageReader& order) {
    MessageWriter found;
    reply_.after([&] { found = kernels_.at(order.get<int>()).division->cells(ranks_.rank()); },
                 [&] { reply_.message().put_values(found.bytes()); });
  }

  void spread(MessageReader& order) {
    reply_.after([&] {
      RankBodies& bodies = kernels_.at(order.get<int>()).bodies;
      bodies.take_first(order);
    });
  }

  void step(MessageReader& order) {
    const auto what = order.get<StepOrder>();
    Stepped result;
    reply_.after(
        [&] {
          const CancelWatch::Span watched{watch_};
          Made& made = kernels_.at(what.key);
          result = made.bodies.step(what, order.get_text(), *made.kernel, arrays_, ranks_, watch_.cancelled());
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
      JointWriting part{bodies, order.get<std::size_t>(), ranks_};
      part.write(get_rows(order), /*is_on_host_of_first=*/ranks_.place_on_host() == ranks_.rank());
    });
  }

  void hold_positions(MessageReader& order) {
    reply_.after([&] {
      HeldPositions& held = kernels_.at(order.get<int>()).held;
      held.prepare(order);
    });
  }

  void potentials(MessageReader& order) {
    HeldPositions& held = kernels_.at(order.get<int>()).held;
    const auto block = order.get<HeldPositions::Block>();
    if (block.receives) held.receive(ranks_);
    std::vector<double> found;
    reply_.after(
        [&] {
          const CancelWatch::Span watched{watch_};
          found = held.potentials(block, watch_.cancelled());
        },
        [&] { reply_.message().put_values(std::span<const double>{found}); });
  }

  void evaluate_targets(const Evaluation& part, std::span<const int> targets, Evaluated& result) {
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
  RankDevice* const device_;     // null: no CUDA kernels
  std::map<int, Made> kernels_;  // by key
  RankArrays arrays_;
  RankReply reply_;
  CancelWatch watch_;
  HeldOrders held_orders_{ranks_, reply_, watch_};
};

}  // namespace

void serve_leader(Communicator& ranks, const KernelCatalog& kernels, RankDevice* device) {
  RankWorker{ranks, kernels, device}.run();
}

}  // namespace orrery
