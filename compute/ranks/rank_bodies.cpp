#include "compute/ranks/rank_bodies.h"

#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include "compute/core/subnormals.h"
#include "compute/integrators/integrator.h"
#include "compute/kernels/joint_work.h"
#include "compute/ranks/rank_step.h"

namespace orrery {

void RankBodies::put_first(const Bodies& all, const MassRange& masses, Part part, MessageWriter& order) {
  const auto count = static_cast<std::size_t>(all.count());
  const std::size_t first = part.first(count), last = part.last(count);
  const auto put = [&](const std::vector<Vec4>& array) {
    order.put_values(std::span{array}.subspan(first, last - first));
  };
  order.put(masses);
  order.put(static_cast<int>(first));
  order.put(last - first);
  put(all.positions);
  put(all.velocities);
}

void RankBodies::take_first(MessageReader order) {
  *this = {};  // earlier bodies need memory, too
  masses_ = order.get<MassRange>();
  const int first = order.get<int>();
  const auto count = order.get<std::size_t>();
  now_.ids.resize(count);
  std::iota(now_.ids.begin(), now_.ids.end(), first);
  now_.positions.resize(count);
  now_.velocities.resize(count);
  order.get_values(std::span{now_.positions});
  order.get_values(std::span{now_.velocities});
}

Stepped RankBodies::step(const StepOrder& order, std::string_view integrator_id, ForceKernel& kernel,
                         RankExchange& ranks, const std::atomic<bool>& cancelled) {
  const WithSubnormals as_the_leader{order.subnormals};
  JointWork work{ranks, &cancelled};
  can_undo_ = false;
  work.attempt([&] {
    before_.ids = now_.ids;
    before_.positions = now_.positions;
    before_.velocities = now_.velocities;
    can_undo_ = true;
  });
  RankStep ops{{now_, masses_, sizes_, ms_}, order, kernel, work};
  find_integrator(integrator_id).step(ops, order.time_step);
  Stepped result = ops.end();
  if (!kernel.tree()) return result;
  if (const std::optional<TreeReport> report = kernel.tree()->report()) {
    result.vector_instructions = report->vector_instructions;
    result.cells = report->cells;
    result.depth = report->depth;
    result.interactions = report->interactions;
  }
  return result;
}

void RankBodies::undo() {
  if (std::exchange(can_undo_, false)) std::swap(now_, before_);
  now_.accelerations_current = false;  // those of before are not kept
  sizes_.reset();
}

void RankBodies::put(MessageWriter& reply) const {
  reply.put_all(now_.ids);
  reply.put_values(std::span{now_.positions});
  reply.put_values(std::span{now_.velocities});
}

int RankBodies::get(MessageReader& reply, Bodies& all) {
  std::vector<int> ids;
  reply.get_all(ids);
  reply.get_entries(all.positions.data(), std::span<const int>{ids});
  reply.get_entries(all.velocities.data(), std::span<const int>{ids});
  return static_cast<int>(ids.size());
}

}  // namespace orrery
