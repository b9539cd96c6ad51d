#include "compute/ranks/domain_kernel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "compute/core/threads.h"
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

void DomainKernel::prepare_own(int count) {
  divided_.resize(static_cast<std::size_t>(count));
  places_.resize(divided_.size());
  sizes_ = LearnedSizes{line_.ranks()};
}

void DomainKernel::divide(const ForceArgs& args) {
  const std::vector<Part> parts = sizes_.parts();
  division_ = own_->domains()->divide({args.bodies, divided_.size()}, parts, divided_);
  domains_.resize(ranks());
  for (Domain& domain : domains_) domain.bodies.clear();
  for (std::size_t body = 0; body < divided_.size(); ++body) {
    domains_[static_cast<std::size_t>(divided_[body])].bodies.push_back(static_cast<int>(body));
  }
  if (args.targets) {
    divide_targets(args.targets);
  } else {
    owners_ = divided_;
  }
}

void DomainKernel::divide_targets(const Targets& targets) {
  for (Domain& domain : domains_) {
    domain.targets.clear();
    domain.places.clear();
    for (std::size_t place = 0; place < domain.bodies.size(); ++place) {
      places_[static_cast<std::size_t>(domain.bodies[place])] = static_cast<int>(place);
    }
  }
  for (int k = 0; k < targets.count; ++k) {
    const auto body = static_cast<std::size_t>(targets.body(k));
    Domain& domain = domains_[static_cast<std::size_t>(divided_[body])];
    domain.targets.push_back(static_cast<int>(body));
    domain.places.push_back(places_[body]);
  }
}

void DomainKernel::put_part(const Domain& domain, const ForceArgs& args, Evaluation part, MessageWriter& order) const {
  part.count = static_cast<int>(domain.bodies.size());
  part.targets = static_cast<int>(targets_of(domain, args).size());
  part.lists_targets = static_cast<bool>(args.targets);
  order.put(part);
  order.put_entries(args.bodies, domain.bodies);
  if (part.lists_targets) order.put_values(std::span{domain.places});
  if (part.kicks) order.put_entries(args.epilogue.velocities, targets_of(domain, args));
  order.put_values(division_.bytes());
}

void DomainKernel::take_results(Domain& domain, const ForceArgs& args, MessageReader& reply) {
  const auto done = reply.get<Evaluated>();
  domain.ms = done.ms;
  if (!done.complete) return;
  const Epilogue& epilogue = args.epilogue;
  if (epilogue.accelerations) reply.get_entries(epilogue.accelerations, targets_of(domain, args));
  if (epilogue.velocities) reply.get_entries(epilogue.velocities, targets_of(domain, args));
  if (args.evaluated) *args.evaluated += done.by_tree;
  if (&domain == domains_.data()) return;  // the leader's kernel has these figures
  others_.by_tree += done.by_tree;
  others_.vector_instructions += done.vector_instructions;
  others_.cells += done.cells;
  others_.depth = std::max(others_.depth, done.depth);
}

void DomainKernel::do_evaluate(const ForceArgs& args) {
  prepare_for(args.count);
  divide(args);
  others_ = {};
  const Evaluation all = evaluation_of(args);
  const std::atomic<bool> never = false;
  own_order_.clear();
  own_reply_.clear();
  put_part(domains_[0], args, all, own_order_);
  line_.exchange(
      {.order =
           [&](int rank, MessageWriter& order) {
             order.put(Order::evaluate_domain);
             put_part(domains_[static_cast<std::size_t>(rank)], args, all, order);
           },
       .own_part =
           [&] {
             DomainPart part{MessageReader{own_order_.bytes()}, arrays_};
             part.evaluate(*own_, line_.others(), args.cancelled ? *args.cancelled : never);
             part.put_results(own_reply_);
           },
       .take = [&](int rank,
                   MessageReader& reply) { take_results(domains_[static_cast<std::size_t>(rank)], args, reply); },
       .cancelled = args.cancelled});
  MessageReader reply{own_reply_.bytes()};
  take_results(domains_[0], args, reply);
  if (!args.targets && !(args.cancelled && *args.cancelled)) learn_sizes();
}

void DomainKernel::learn_sizes() {
  std::vector<double> ms;
  for (const Domain& domain : domains_) ms.push_back(domain.ms);
  sizes_.learn(ms);
}

SpreadStepped DomainKernel::step(const SpreadStep& step) {
  const SpreadStepped stepped = KernelOfRanks::step(step);
  const Stepped& others = spread_.others();
  others_ = {.by_tree = static_cast<std::uint64_t>(others.interactions),
             .vector_instructions = others.vector_instructions,
             .cells = others.cells,
             .depth = others.depth};
  return stepped;
}

std::optional<TreeReport> DomainKernel::report() const {
  std::optional<TreeReport> report = own_->tree()->report();
  if (!report) return report;
  report->interactions += static_cast<std::int64_t>(others_.by_tree);
  report->vector_instructions += others_.vector_instructions;
  report->cells += others_.cells;
  report->depth = std::max(report->depth, others_.depth);
  return report;
}

}  // namespace orrery
