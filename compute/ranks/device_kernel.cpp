#include "compute/ranks/device_kernel.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "compute/core/error.h"
#include "compute/kernels/kernel.h"
#include "compute/ranks/orders.h"

namespace orrery {
namespace {

struct Lost {};  // thrown if another kernel has lost the connection

}  // namespace

/// All ranks leave the connection before another kernel can use the line. So when orders are written, it is open on all
/// ranks or on none.
void DeviceResidents::exchange(const Work& what) {
  JointWork work{line_.others(), nullptr};
  bool connected = false;
  line_.exchange({.order =
                      [&](int, MessageWriter& order) {
                        connected = own_.connected() != nullptr;
                        order.put(Order::held);
                        order.put(key_);
                        order.put(HeldHead{.kind = what.kind, .connected = connected});
                        order.put_all(passes_);
                        what.put(order);
                      },
                  .own_part = [&] { what.own_part(*own_.held(), connected, work); },
                  .own_ended = [&] { return own_.held()->ended(); },
                  .own_work_ended = what.own_work_ended,
                  .take = what.take,
                  .after_failure =
                      [&](MessageWriter& order) {
                        if (ConnectedDivision* const connection = own_.connected()) connection->disconnect();
                        order.put(Order::disconnect_kernel);
                        order.put(key_);
                      }});
  passes_.clear();
}

/// Forgets the bodies on failure, since some ranks may have done what others have not.
template <class What>
void DeviceResidents::or_forget(const What& what) {
  try {
    what();
  } catch (...) {
    forget();
    throw;
  }
}

void DeviceResidents::do_on_all(const Work& what) {
  or_forget([&] { exchange(what); });
}

void DeviceResidents::require_residents() const {
  if (held_ == 0) throw std::logic_error("the ranks hold no bodies");
}

void DeviceResidents::prepare(int count) {
  forget();
  line_.exchange({.order =
                      [&](int, MessageWriter& order) {
                        order.put(Order::prepare_held);
                        order.put(key_);
                        order.put(count);
                      },
                  .own_part = [&] { own_.held()->prepare(count, 0, line_.ranks()); }});
  room_ = count;
}

void DeviceResidents::hold(const HeldSource& from, int count, CUstream_st* stream) {
  passes_.clear();
  do_on_all(
      {.kind = HeldOrder::hold,
       .put = [](MessageWriter&) {},
       .own_part = [&](HeldPart& own, bool connected, JointWork& work) { own.hold(from, connected, work, stream); }});
  held_ = count;
}

void DeviceResidents::kick_drift(const cuda::KickDrift& pass, const cuda::NonFiniteCheck& check, CUstream_st* stream) {
  require_residents();
  passes_.push_back({.motion = pass, .frozen_below = check.frozen_below, .before = check.before, .after = check.after});
  or_forget([&] { own_.held()->kick_drift(passes_.back(), check.report.seen, stream); });
}

void DeviceResidents::check_finite(const cuda::NonFiniteReport& report, std::uint32_t pass, CUstream_st* stream) {
  require_residents();
  do_on_all({.kind = HeldOrder::check_finite,
             .put = [&](MessageWriter& order) { order.put(pass); },
             .own_part = [&](HeldPart& own, bool connected,
                             JointWork& work) { own.check_finite(report, pass, connected, work, stream); }});
}

void DeviceResidents::evaluate(const ForceArgs& args, std::span<const Part> parts, std::span<double> ms) {
  if (held_ != args.count) throw std::logic_error("the ranks do not hold these bodies");
  HeldEvaluation how;
  or_forget([&] { how.rounds = own_.held()->begin(args); });
  do_on_all(
      {.kind = HeldOrder::evaluate,
       .put =
           [&](MessageWriter& order) {
             order.put(HeldForce{.count = args.count, .rounds = how.rounds, .masses = args.masses, .law = args.law});
             order.put_all(std::vector<Part>(parts.begin(), parts.end()));
           },
       .own_part =
           [&](HeldPart& own, bool connected, JointWork& work) {
             how.connected = connected;
             own.evaluate(args, how, parts, work);
           },
       .own_work_ended = [&] { return own_.held()->part_ended(); },
       .take = [&](int rank, MessageReader& reply) { ms[static_cast<std::size_t>(rank)] = reply.get<double>(); }});
}

void DeviceResidents::collect(const HeldPlaces& places, CUstream_st* stream) {
  require_residents();
  const HeldWanted wanted = places.wanted();
  do_on_all({.kind = HeldOrder::collect,
             .put = [&](MessageWriter& order) { order.put(wanted); },
             .own_part = [&](HeldPart& own, bool connected,
                             JointWork& work) { own.collect(wanted, places, connected, work, stream); }});
}

const int* DeviceResidents::collect_owners(CUstream_st* stream) {
  int* const room = own_.held()->owners_room(held_);
  collect({.d_owners = room}, stream);
  return room;
}

DeviceKernel::DeviceKernel(WorkerLine& line, int key, const KernelInfo& kernel, const Settings& settings,
                           RankDevice& device, DataWay way)
    : line_{line},
      key_{key},
      by_targets_{!kernel.divides},
      is_tree_{kernel.is_tree},
      way_{std::move(way)},
      parts_{line.ranks()},
      ms_(static_cast<std::size_t>(line.ranks())),
      made_{line, key, kernel, settings, [&] { own_ = device.make(kernel, settings); }},
      residents_{line, key, *own_} {}

/// Prefers that the devices hold the bodies, which serves steps. An evaluation that hands them out allocates on demand.
void DeviceKernel::prepare(int count) {
  if (count == made_.prepared() || has_room(count)) return;
  if (can_hold(count)) {
    try {
      return take_residents(count);
    } catch (const UsageError&) {
      // take_division() may need less memory.
    }
  }
  take_division(count);
}

void DeviceKernel::take_residents(int count) {
  made_.forget();
  unlearned_ = 2;
  parts_.forget_times();
  residents_.prepare(count);
}

void DeviceKernel::take_division(int count) {
  residents_.forget();
  unlearned_ = 2;
  parts_.forget_times();
  made_.prepare(count, [&] { own_->prepare(count, 0, line_.ranks()); });
}

void DeviceKernel::hold(const Vec4* d_positions, const Vec4* d_velocities, int count,
                        const cuda::PackedFinding* d_finding, CUstream_st* stream) {
  if (!can_hold(count)) throw std::logic_error("the devices cannot hold these bodies");
  take_residents(count);
  bodies_replaced();
  residents_.hold({.d_positions = d_positions, .d_velocities = d_velocities, .d_finding = d_finding}, count, stream);
}

void DeviceKernel::evaluate_residents(const ForceArgs& args) {
  try {
    residents_.evaluate(args, parts_.parts(), ms_);
  } catch (...) {
    bodies_replaced();
    throw;
  }
  learn_parts(args);
}

void DeviceKernel::bodies_replaced() {
  own_->bodies_replaced();
  MessageWriter order;
  order.put(Order::bodies_replaced);
  order.put(key_);
  line_.tell(order);
}

std::string DeviceKernel::chosen(int count, const MassRange& masses) const {
  const std::string own = own_->kernel().chosen(count, masses);
  return own + (own.empty() ? "" : ", ") + "ranks " + std::to_string(line_.ranks()) + ", " +
         way_.now(own_->connected() != nullptr);
}

std::optional<BodyOwners> DeviceKernel::owners(int count) const {
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
  for (int rank = 0; rank < line_.ranks(); ++rank) owners.names.push_back("rank " + std::to_string(rank));
  return owners;
}

/// Does not throw UsageError, as the batch's steps are already enqueued. If memory is short, the owners are unknown.
void DeviceKernel::read_owners(int count, CUstream_st* stream) {
  const bool are_held = residents_.count() == count;
  if (!is_tree_ || (made_.prepared() != count && !are_held)) return;
  try {
    why_no_owners_.clear();
    own_->read_owners(count, are_held ? residents_.collect_owners(stream) : nullptr, stream);
  } catch (const UsageError& lack) {
    why_no_owners_ = lack.what();
  }
}

void DeviceKernel::pick_cells(const CellRequest& request, CUstream_st* stream) {
  TreeFacet& tree = *own_->kernel().tree();
  if (made_.prepared() == 0) return tree.pick_cells({}, stream);  // without a tree, no cells are shown
  line_.exchange({.order =
                      [&](int, MessageWriter& order) {
                        order.put(Order::cells);
                        order.put(key_);
                      },
                  .own_part = [] {},
                  .take = [&](int rank, MessageReader& reply) { own_->place_cells(rank, reply, stream); },
                  .is_long = [](int rank) { return rank > 0; }});
  tree.pick_cells(request, stream);
}

/// Rounds up to powers of two, so that slowly growing numbers of targets seldom need an order.
void DeviceKernel::take_room(const Handouts& handouts) {
  std::size_t bytes = 0;
  for (const Handout& handout : handouts) bytes = std::max(bytes, bytes_of(handout).all());
  if (bytes <= room_) return;
  const std::size_t room = std::bit_ceil(bytes);
  room_ = 0;  // a worker that fails has no room
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
                                                const Handouts& handouts, bool connected) const {
  const DividedEvaluation all{.key = key_,
                              .count = args.count,
                              .targets = args.targets ? args.targets.count : 0,
                              .masses = args.masses,
                              .law = args.law,
                              .connected = connected};
  return {.order =
              [all, &parts, &handouts](int rank, MessageWriter& order) {
                order.put(Order::evaluate_part);
                order.put(all);
                put_handout(handouts[static_cast<std::size_t>(rank)], order);
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
  if (args.count != made_.prepared()) take_division(args.count);
  try {
    evaluate_parts(args);
  } catch (...) {
    made_.forget();  // some ranks may have kept data that others have not
    throw;
  }
}

void DeviceKernel::evaluate_parts(const ForceArgs& args) {
  const std::vector<Part> parts = parts_.parts();
  ConnectedDivision* const connected = own_->connected();
  if (!connected || !evaluate_connected(*connected, args, parts)) evaluate_hosted(args, parts);
  if (!own_->works_alone()) learn_parts(args);
}

/// Ignores evaluations of few targets: their times tell nothing about the work of all bodies.
void DeviceKernel::learn_parts(const ForceArgs& args) {
  const bool timed = is_tree_ && !args.targets && unlearned_ == 0;
  if (unlearned_ > 0) --unlearned_;
  parts_.evaluated(own_->keeps_parts(), timed);
  if (!timed) return;
  ms_.front() = own_->part_ms();
  parts_.learn(ms_);
}

/// Does not forward args.cancelled: to a worker, it would mean that another rank has failed. After a failure, a
/// simulation continues through host memory. All ranks leave the connection before another kernel can use the line, so
/// when orders are written, it is open on all ranks or on none.
bool DeviceKernel::evaluate_connected(ConnectedDivision& own, const ForceArgs& args, const std::vector<Part>& parts) {
  const Handouts handouts = own.share_out(args, parts);
  JointWork work{line_.others(), nullptr};
  if (own_->works_alone()) {
    own.evaluate(args, parts, work);
    own.join(args, parts);
    return true;
  }
  WorkerLine::Exchange exchange = exchange_for(args, parts, handouts, /*connected=*/true);
  exchange.order = [&, write = std::move(exchange.order)](int rank, MessageWriter& order) {
    if (!own_->connected()) throw Lost{};
    write(rank, order);
  };
  exchange.own_part = [&] { own.evaluate(args, parts, work); };
  exchange.own_ended = [&] { return own.ended(); };
  exchange.own_work_ended = [&] { return own.part_ended(); };
  exchange.take = [&](int rank, MessageReader& reply) { ms_[static_cast<std::size_t>(rank)] = reply.get<double>(); };
  exchange.after_failure = [&](MessageWriter& order) {
    own.disconnect();
    order.put(Order::disconnect_kernel);
    order.put(key_);
  };
  try {
    line_.exchange(exchange);
  } catch (const Lost&) {
    own_->bodies_replaced();  // undoes share_out(): its evaluation will not happen
    return false;
  }
  own.join(args, parts);
  return true;
}

/// Does everything that can fail on the leader before the orders are sent, or after the broadcast that they announce.
void DeviceKernel::evaluate_hosted(const ForceArgs& args, const std::vector<Part>& parts) {
  const Handouts handouts = own_->share_out(args, parts);
  if (own_->works_alone()) return own_->join(args, parts);
  take_room(handouts);
  std::vector<std::span<std::byte>> places;
  for (const Part& part : parts) places.push_back(part.index > 0 ? own_->place(args, part) : std::span<std::byte>{});
  JointWork work{line_.others(), nullptr};
  WorkerLine::Exchange exchange = exchange_for(args, parts, handouts, /*connected=*/false);
  exchange.order = [&, write = std::move(exchange.order)](int rank, MessageWriter& order) {
    write(rank, order);
    order.put_values(own_->shared_with(rank));
  };
  exchange.own_part = [&] {
    line_.broadcast(own_->shared_with_all());
    own_->end_part(args, parts, work);
  };
  exchange.take = [&](int rank, MessageReader& reply) {
    ms_[static_cast<std::size_t>(rank)] = reply.get<double>();
    reply.get_values(places[static_cast<std::size_t>(rank)]);
  };
  exchange.cancelled = args.cancelled;
  line_.exchange(exchange);
  own_->join(args, parts);
}

}  // namespace orrery
