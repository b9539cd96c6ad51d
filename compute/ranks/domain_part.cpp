#include "compute/ranks/domain_part.h"

#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "compute/core/subnormals.h"

namespace orrery {
namespace {

using Clock = std::chrono::steady_clock;
using Ms = std::chrono::duration<double, std::milli>;

/// Measures how long a rank waits for others.
class TimedExchange final : public RankExchange {
 public:
  explicit TimedExchange(RankExchange& ranks) : ranks_{ranks} {}
  int rank() const override { return ranks_.rank(); }
  int size() const override { return ranks_.size(); }
  void exchange(std::span<const MessageWriter> outgoing, std::vector<std::vector<std::byte>>& incoming) override {
    const auto begin = Clock::now();
    ranks_.exchange(outgoing, incoming);
    time_ += Clock::now() - begin;
  }
  Clock::duration time() const { return time_; }

 private:
  RankExchange& ranks_;
  Clock::duration time_{};
};

}  // namespace

void DomainPart::read_bodies() {
  arrays_.prepare(part_.count);
  rest_.get_values(std::span{arrays_.positions}.first(static_cast<std::size_t>(part_.count)));
  if (part_.lists_targets) rest_.get_values(targets());
  if (!part_.kicks) return;
  if (part_.lists_targets) {
    rest_.get_entries(arrays_.velocities.data(), targets());
  } else {
    rest_.get_values(std::span{arrays_.velocities}.first(static_cast<std::size_t>(part_.count)));
  }
}

std::span<int> DomainPart::targets() const {
  return std::span{arrays_.targets}.first(static_cast<std::size_t>(part_.targets));
}

void DomainPart::evaluate(ForceKernel& kernel, RankExchange& ranks, const std::atomic<bool>& cancelled) {
  const WithSubnormals as_the_leader{part_.subnormals};
  try {
    read_bodies();
  } catch (...) {
    const std::atomic<bool> stopped = true;  // the others wait for this rank in any case
    kernel.domains()->evaluate_domain({.masses = part_.masses, .law = part_.law, .epilogue = {}, .cancelled = &stopped},
                                      rest_, ranks);
    throw;
  }
  TimedExchange timed{ranks};
  const auto begin = Clock::now();
  ForceArgs args = arrays_.args_of(part_);
  if (part_.lists_targets) args.targets = {arrays_.targets.data(), part_.targets};
  args.evaluated = &result_.by_tree;
  args.cancelled = &cancelled;
  kernel.domains()->evaluate_domain(args, rest_, timed);
  result_.ms = Ms{Clock::now() - begin - timed.time()}.count();
  result_.complete = !cancelled;
  if (!kernel.tree()) return;
  const std::optional<TreeReport> report = kernel.tree()->report();
  if (!report) return;
  result_.vector_instructions = report->vector_instructions;
  result_.cells = report->cells;
  result_.depth = report->depth;
}

void DomainPart::put_results(MessageWriter& reply) const {
  reply.put(result_);
  if (!result_.complete) return;
  const auto put = [&](const std::vector<Vec4>& array) {
    if (part_.lists_targets) {
      reply.put_entries(array.data(), targets());
    } else {
      reply.put_values(std::span{array}.first(static_cast<std::size_t>(part_.count)));
    }
  };
  if (part_.stores) put(arrays_.accelerations);
  if (part_.kicks) put(arrays_.velocities);
}

}  // namespace orrery
