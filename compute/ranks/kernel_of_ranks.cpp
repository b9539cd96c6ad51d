#include "compute/ranks/kernel_of_ranks.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "compute/ranks/joint_writing.h"
#include "compute/ranks/orders.h"
#include "compute/ranks/shared_kernel.h"

namespace orrery {
namespace {

/// Keeps the earliest finding: the first pass of the step that found a non-finite body, and its first such body.
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

MadeKernel::MadeKernel(WorkerLine& line, int key, const KernelInfo& kernel, const Settings& settings,
                       const std::function<void()>& make_own)
    : line_{line}, key_{key} {
  try {
    line_.exchange({.order =
                        [&](int, MessageWriter& order) {
                          order.put(Order::make);
                          order.put(key_);
                          order.put_text(kernel.id);
                          order.put_text(settings.to_string());
                        },
                    .own_part = make_own,
                    .is_long = [&](int) { return kernel.backend == Backend::cpu; }});  // a driver may be slow
  } catch (...) {
    drop();
    throw;
  }
}

void MadeKernel::drop() noexcept {
  MessageWriter order;
  order.put(Order::drop);
  order.put(key_);
  line_.tell(order);
}

void MadeKernel::prepare(int count, const std::function<void()>& prepare_own) {
  prepared_ = 0;  // until every rank is prepared
  line_.exchange({.order =
                      [&](int, MessageWriter& order) {
                        order.put(Order::prepare);
                        order.put(key_);
                        order.put(count);
                      },
                  .own_part = prepare_own,
                  .is_long = [](int rank) { return rank > 0; }});  // the leader needs far less memory
  prepared_ = count;
}

/// Sends equal parts, wherever the bodies are. With domains, the first evaluation moves bodies to their ranks.
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
                  .is_long = [](int) { return false; },  // a file system may be slow
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

KernelOfRanks::KernelOfRanks(WorkerLine& line, int key, const KernelInfo& kernel, const Settings& settings)
    : line_{line},
      key_{key},
      reads_low_words_{kernel.reads_low_words},
      spread_{line, key},
      made_{line, key, kernel, settings, [&] { own_ = kernel.make(settings, nullptr); }} {}

void KernelOfRanks::prepare(int count) {
  made_.prepare(count, [&] {
    own_->prepare(count);
    prepare_own(count);
  });
}

void KernelOfRanks::prepare_for(int count) {
  if (count != made_.prepared()) prepare(count);
}

std::string KernelOfRanks::chosen(int count, const MassRange& masses) const {
  const std::string own = own_->chosen(count, masses);
  return own + (own.empty() ? "" : ", ") + "ranks " + std::to_string(line_.ranks());
}

std::vector<double> KernelOfRanks::potentials(const Bodies& bodies, const Law& law,
                                              const std::atomic<bool>* cancelled) {
  return shared_potentials(line_, key_, bodies, law, cancelled);
}

void KernelOfRanks::spread(const Bodies& bodies, const MassRange& masses) {
  prepare_for(bodies.count());
  spread_.spread(bodies, masses, own_->domains() != nullptr);
}

std::optional<BodyOwners> KernelOfRanks::owners(int count) const {
  if (owners_.size() != static_cast<std::size_t>(count)) return std::nullopt;
  BodyOwners owners{.of_body = owners_};
  for (std::size_t rank = 0; rank < ranks(); ++rank) owners.names.push_back("rank " + std::to_string(rank));
  return owners;
}

Evaluation KernelOfRanks::evaluation_of(const ForceArgs& args) const {
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

}  // namespace orrery
