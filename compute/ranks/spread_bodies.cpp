#include "compute/ranks/spread_bodies.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "compute/ranks/joint_writing.h"

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

void SpreadBodies::get(const PieceRange& piece, std::span<Vec4> positions, std::span<Vec4> velocities,
                       const std::function<void(int rank, std::span<const int> places)>& found) {
  const int first = static_cast<int>(piece.first), last = static_cast<int>(piece.last);
  std::size_t count = 0;
  const auto take = [&](int rank, MessageReader& message) {
    const std::vector<int> places = RankBodies::get(message, positions, velocities);
    found(rank, places);
    count += places.size();
  };
  line_.exchange({.order =
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
                  .take = take});
  if (count != piece.size()) throw std::logic_error("the ranks hold another number of bodies than they were given");
}

Bodies SpreadBodies::gather(std::vector<int>& owners) {
  const auto count = static_cast<std::size_t>(count_);
  Bodies all;
  all.positions.resize(count);
  all.velocities.resize(count);
  std::vector<int> ranks(count);
  for (std::size_t first = 0; first < count; first += PieceRange::most) {
    const PieceRange piece{first, count};
    const auto part = [&](auto& array) { return std::span{array}.subspan(piece.first, piece.size()); };
    get(piece, part(all.positions), part(all.velocities), [&](int rank, std::span<const int> places) {
      for (const int place : places) part(ranks)[static_cast<std::size_t>(place)] = rank;
    });
  }
  owners = std::move(ranks);
  return all;
}

BodyBounds SpreadBodies::bounds() {
  BodyBounds all;
  line_.exchange({.order =
                      [&](int, MessageWriter& order) {
                        order.put(Order::bounds);
                        order.put(key_);
                      },
                  .own_part = [&] { all.add(own_.bounds()); },
                  .take = [&](int, MessageReader& reply) { all.add(reply.get<BodyBounds>()); }});
  return all;
}

bool SpreadBodies::write_jointly(const JointRows& rows) {
  bool written = false;
  JointWriting own{own_, static_cast<std::size_t>(count_), line_.others()};
  line_.exchange({.order =
                      [&](int, MessageWriter& order) {
                        order.put(Order::write_rows);
                        order.put(key_);
                        order.put(static_cast<std::size_t>(count_));
                        put_rows(order, rows);
                      },
                  .own_part = [&] { written = own.write(rows); },
                  .is_long = [](int) { return false; },  // a file system takes its time
                  .is_long_between = false});
  return written;
}

class SpreadBodies::Source final : public BodySource {
 public:
  explicit Source(SpreadBodies& of) : BodySource{static_cast<std::size_t>(of.count_), Digits::single}, of_{of} {}

  std::optional<BodyBounds> bounds() override { return of_.bounds(); }
  bool write_jointly(const JointRows& rows) override { return of_.write_jointly(rows); }

 protected:
  Piece piece_with(std::size_t body) override {
    const PieceRange range{body, count()};
    piece_.positions.resize(range.size());
    piece_.velocities.resize(range.size());
    of_.get(range, piece_.positions, piece_.velocities, [](int, std::span<const int>) {});
    return piece_of(piece_, range.first);
  }

 private:
  SpreadBodies& of_;
  Bodies piece_;
};

std::unique_ptr<BodySource> SpreadBodies::source() {
  return std::make_unique<Source>(*this);
}

}  // namespace orrery
