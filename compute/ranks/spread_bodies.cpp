#include "compute/ranks/spread_bodies.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

namespace orrery {
namespace {

/// The first pass of the step that found a body that is not finite, and there the first body.
void find_first(Stepped& first, const Stepped& other) {
  if (other.not_finite < 0) return;
  const auto place = [](const Stepped& found) { return std::pair{found.found_in, found.not_finite}; };
  if (first.not_finite >= 0 && place(first) < place(other)) return;
  first.found_in = other.found_in;
  first.not_finite = other.not_finite;
}

void add_figures(Stepped& sum, const Stepped& other) {
  sum.by_tree += other.by_tree;
  sum.vector_instructions += other.vector_instructions;
  sum.interactions += other.interactions;
  sum.cells += other.cells;
  sum.depth = std::max(sum.depth, other.depth);
}

}  // namespace

/// In equal parts, whatever their places: of a kernel with domains, the first evaluation moves them to their ranks.
void SpreadBodies::spread(const Bodies& bodies, const MassRange& masses, bool has_domains) {
  if (!has_domains) arrays_.prepare(bodies.count());
  const std::vector<Part> parts = PartSizes{line_.ranks()}.parts();
  bool more = true;
  for (std::size_t offset = 0; more; offset += RankBodies::most_in_message) {
    more = false;
    const auto put = [&](int rank, MessageWriter& order) {
      more |= RankBodies::put_first(bodies, masses, parts[static_cast<std::size_t>(rank)], offset, order);
    };
    line_.exchange({.order =
                        [&](int rank, MessageWriter& order) {
                          order.put(Order::spread);
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

SpreadStepped SpreadBodies::step(const SpreadStep& step, ForceKernel& kernel) {
  const StepOrder order{.key = key_, .time_step = step.time_step, .law = step.law, .subnormals = subnormals_here()};
  Stepped all;
  others_ = {};
  bool complete = true;
  try {
    line_.exchange(
        {.order =
             [&](int, MessageWriter& message) {
               message.put(Order::step);
               message.put(order);
               message.put_text(step.integrator_id);
             },
         .own_part =
             [&] { all = own_.step(order, step.integrator_id, kernel, arrays_, line_.others(), step.cancelled); },
         .take =
             [&](int, MessageReader& reply) {
               const auto other = reply.get<Stepped>();
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

void SpreadBodies::undo() {
  MessageWriter order;
  order.put(Order::undo);
  order.put(key_);
  line_.tell(order);
  own_.undo();
}

Bodies SpreadBodies::gather(std::vector<int>& owners) {
  Bodies all;
  all.positions.resize(static_cast<std::size_t>(count_));
  all.velocities.resize(static_cast<std::size_t>(count_));
  std::vector<int> ranks(static_cast<std::size_t>(count_));
  int found = 0;
  const auto get = [&](int rank, MessageReader& message) {
    const std::vector<int> ids = RankBodies::get(message, all);
    for (const int id : ids) ranks[static_cast<std::size_t>(id)] = rank;
    found += static_cast<int>(ids.size());
  };
  for (std::size_t first = 0; found < count_; first += RankBodies::most_in_message) {
    const int before = found;
    line_.exchange({.order =
                        [&](int, MessageWriter& order) {
                          order.put(Order::gather);
                          order.put(key_);
                          order.put(first);
                        },
                    .own_part =
                        [&] {
                          MessageWriter own;
                          own_.put(first, own);
                          MessageReader reader{own.bytes()};
                          get(0, reader);
                        },
                    .take = get});
    if (found == before) break;
  }
  if (found != count_) throw std::logic_error("the ranks hold another number of bodies than they were given");
  owners = std::move(ranks);
  return all;
}

}  // namespace orrery
