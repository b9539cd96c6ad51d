#include "compute/ranks/domain_part.h"

#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "compute/core/subnormals.h"
#include "compute/kernels/joint_work.h"

namespace orrery {

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
  JointWork work{ranks, &cancelled};
  work.attempt([&] { read_bodies(); });
  const auto begin = std::chrono::steady_clock::now();
  ForceArgs args = arrays_.args_of(part_);
  if (part_.lists_targets) args.targets = {arrays_.targets.data(), part_.targets};
  args.evaluated = &result_.by_tree;
  args.cancelled = &cancelled;
  kernel.domains()->evaluate_domain(args, {}, rest_, work);
  const std::chrono::duration<double, std::milli> own = std::chrono::steady_clock::now() - begin - work.waited();
  result_.ms = own.count();
  result_.complete = work.finish();
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
