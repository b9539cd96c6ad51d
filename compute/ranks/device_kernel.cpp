#include "compute/ranks/device_kernel.h"

#include <bit>
#include <span>
#include <utility>

#include "compute/ranks/orders.h"

namespace orrery {
namespace {

struct Lost {};  // another kernel has lost the connection

}  // namespace

DeviceKernel::DeviceKernel(WorkerLine& line, int key, const KernelInfo& kernel, const Settings& settings,
                           RankDevice& device, DataWay way)
    : line_{line},
      key_{key},
      by_targets_{!kernel.divides},
      way_{std::move(way)},
      sizes_{line.ranks()},
      made_{line, key, kernel, settings, [&] { own_ = device.make(kernel, settings); }} {}

void DeviceKernel::prepare(int count) {
  made_.prepare(count, [&] { own_->prepare(count, 0, line_.ranks()); });
}

std::string DeviceKernel::chosen(int count, const MassRange& masses) const {
  const std::string own = own_->kernel().chosen(count, masses);
  return own + (own.empty() ? "" : ", ") + "ranks " + std::to_string(line_.ranks()) + ", " +
         way_.now(own_->connected() != nullptr);
}

std::optional<BodyOwners> DeviceKernel::owners(int count) const {
  if (!by_targets_) return BodyOwners{.why_unknown = "the ranks divide the pairs, not the bodies"};
  BodyOwners owners{.of_body = sizes_.owners(count)};
  for (int rank = 0; rank < line_.ranks(); ++rank) owners.names.push_back("rank " + std::to_string(rank));
  return owners;
}

/// In powers of two, so that numbers of targets that grow from time to time do not ask for it each time.
void DeviceKernel::take_room(std::size_t bytes) {
  if (bytes <= room_) return;
  const std::size_t room = std::bit_ceil(bytes);
  room_ = 0;  // a worker that fails has none
  line_.exchange({.order =
                      [&](int, MessageWriter& order) {
                        order.put(Order::take_room);
                        order.put(key_);
                        order.put(room);
                      },
                  .own_part = [] {},
                  .is_long = [](int rank) { return rank > 0; }});
  room_ = room;
}

WorkerLine::Exchange DeviceKernel::exchange_for(const ForceArgs& args, const std::vector<Part>& parts,
                                                const std::vector<std::size_t>& sizes, bool connected) const {
  const DividedEvaluation all{.key = key_,
                              .count = args.count,
                              .targets = args.targets ? args.targets.count : 0,
                              .masses = args.masses,
                              .law = args.law,
                              .connected = connected};
  return {.order =
              [all, &parts, &sizes](int, MessageWriter& order) {
                order.put(Order::evaluate_part);
                order.put(all);
                order.put_all(sizes);
                order.put_all(parts);
              },
          .own_part = [] {},
          .is_long =
              [&parts, targets = args.target_count()](int rank) {
                const Part& part = parts[static_cast<std::size_t>(rank)];
                return part.first(targets) < part.last(targets);
              }};
}

void DeviceKernel::do_evaluate(const ForceArgs& args) {
  if (args.count != made_.prepared()) prepare(args.count);
  ConnectedDivision* const connected = own_->connected();
  if (!connected || !evaluate_connected(*connected, args)) evaluate_hosted(args);
}

/// `args.cancelled` is not handed on: to a worker, it would say that another rank has failed. If one has, a simulation
/// that goes on does so through host memory. All ranks leave the connection before another kernel can use the line: so
/// it is open in all of them, or in none, when orders are written.
bool DeviceKernel::evaluate_connected(ConnectedDivision& own, const ForceArgs& args) {
  const std::vector<Part> parts = sizes_.parts();
  const std::vector<std::size_t> sizes = own.share_out(args, parts);
  WorkerLine::Exchange exchange = exchange_for(args, parts, sizes, /*connected=*/true);
  exchange.order = [&, write = std::move(exchange.order)](int rank, MessageWriter& order) {
    if (!own_->connected()) throw Lost{};
    write(rank, order);
  };
  exchange.own_part = [&] { own.evaluate(args, parts); };
  exchange.own_ended = [&] { return own.ended(); };
  exchange.own_work_ended = [&] { return own.part_ended(); };
  exchange.after_failure = [&](MessageWriter& order) {
    own.disconnect();
    order.put(Order::disconnect_kernel);
    order.put(key_);
  };
  try {
    line_.exchange(exchange);
  } catch (const Lost&) {
    return false;
  }
  own.join(args, parts);
  return true;
}

/// What can fail in the leader comes before the orders are sent, or after the broadcast that they announce.
void DeviceKernel::evaluate_hosted(const ForceArgs& args) {
  const std::vector<Part> parts = sizes_.parts();
  const HostedDivision::Shared shared = own_->share_out(args, parts);
  take_room(shared.bytes.size());
  std::vector<std::span<std::byte>> places;
  for (const Part& part : parts) places.push_back(part.index > 0 ? own_->place(args, part) : std::span<std::byte>{});
  WorkerLine::Exchange exchange = exchange_for(args, parts, shared.sizes, /*connected=*/false);
  exchange.own_part = [&] {
    line_.broadcast(shared.bytes);
    own_->wait();
  };
  exchange.take = [&](int rank, MessageReader& reply) { reply.get_values(places[static_cast<std::size_t>(rank)]); };
  exchange.cancelled = args.cancelled;
  line_.exchange(exchange);
  own_->join(args, parts);
}

}  // namespace orrery
