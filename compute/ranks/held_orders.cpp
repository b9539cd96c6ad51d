#include "compute/ranks/held_orders.h"

#include <vector>

#include "compute/kernels/kernel.h"
#include "compute/ranks/orders.h"

namespace orrery {

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

/// The passes come first. One that fails here makes the others stop, too.
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

}  // namespace orrery
