#include "compute/ranks/rank_bodies.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include "compute/core/subnormals.h"
#include "compute/integrators/integrator.h"
#include "compute/kernels/joint_work.h"
#include "compute/ranks/rank_step.h"

namespace orrery {

bool RankBodies::put_first(const Bodies& all, const MassRange& masses, Part part, std::size_t offset,
                           MessageWriter& order, std::size_t most) {
  const auto count = static_cast<std::size_t>(all.count());
  const std::size_t last = part.last(count), first = std::min(part.first(count) + offset, last);
  const std::size_t end = std::min(first + most, last);
  const auto put = [&](const std::vector<Vec4>& array) {
    order.put_values(std::span{array}.subspan(first, end - first));
  };
  order.put(masses);
  order.put(offset);
  order.put(static_cast<int>(first));
  order.put(end - first);
  put(all.positions);
  put(all.velocities);
  return end < last;
}

void RankBodies::take_first(MessageReader order) {
  const auto masses = order.get<MassRange>();
  const auto offset = order.get<std::size_t>();
  if (offset == 0) *this = {};  // earlier bodies need memory, too
  masses_ = masses;
  const int first = order.get<int>();
  const auto count = order.get<std::size_t>();
  now_.ids.resize(now_.ids.size() + count);
  std::iota(now_.ids.end() - static_cast<std::ptrdiff_t>(count), now_.ids.end(), first);
  now_.positions.resize(now_.ids.size());
  now_.velocities.resize(now_.ids.size());
  order.get_values(std::span{now_.positions}.last(count));
  order.get_values(std::span{now_.velocities}.last(count));
}

Stepped RankBodies::step(const StepOrder& order, std::string_view integrator_id, ForceKernel& kernel,
                         RankArrays& arrays, RankExchange& ranks, const std::atomic<bool>& cancelled) {
  const WithSubnormals as_the_leader{order.subnormals};
  JointWork work{ranks, &cancelled};
  can_undo_ = false;
  work.attempt([&] {
    before_.ids = now_.ids;
    before_.positions = now_.positions;
    before_.velocities = now_.velocities;
    can_undo_ = true;
  });
  RankStep ops{{now_, masses_, arrays, sizes_, ms_}, order, kernel, work};
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

void RankBodies::put(int first, int last, MessageWriter& reply) const {
  std::vector<int> here;
  for (int i = 0; i < now_.count(); ++i) {
    const int id = now_.ids[static_cast<std::size_t>(i)];
    if (id >= first && id < last) here.push_back(i);
  }
  put(here, first, reply);
}

void RankBodies::put(std::span<const int> here, int first, MessageWriter& message) const {
  std::vector<int> places;
  places.reserve(here.size());
  for (const int i : here) places.push_back(now_.ids[static_cast<std::size_t>(i)] - first);
  message.put_all(places);
  message.put_entries(now_.positions.data(), here);
  message.put_entries(now_.velocities.data(), here);
}

BodyBounds RankBodies::bounds() const {
  BodyBounds found;
  for (std::size_t i = 0; i < now_.ids.size(); ++i) found.add(now_.positions[i], now_.velocities[i]);
  return found;
}

std::vector<int> RankBodies::get(MessageReader& reply, std::span<Vec4> positions, std::span<Vec4> velocities) {
  std::vector<int> places;
  reply.get_all(places);
  reply.get_entries(positions.data(), std::span<const int>{places});
  reply.get_entries(velocities.data(), std::span<const int>{places});
  return places;
}

}  // namespace orrery
