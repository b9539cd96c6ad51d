#include "compute/ranks/device_residents.h"

#include <cstddef>
#include <stdexcept>

#include "compute/kernels/kernel.h"

namespace orrery {

/// All ranks leave the connection before another kernel can use the line: so it is open in all of them, or in none,
/// when orders are written.
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

/// Some ranks may have done what others have not.
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

}  // namespace orrery
