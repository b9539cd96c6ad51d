#include "compute/ranks/rank_step.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "compute/integrators/update.h"

namespace orrery {
namespace {

using Clock = std::chrono::steady_clock;

double ms_of(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

/// A body on its way to another rank. Its acceleration is evaluated there.
struct MovingBody {
  int id;
  Vec4 position, velocity;
};

std::logic_error no_levels() {
  return std::logic_error("bodies that stay with their ranks have neither levels nor jerks");
}

}  // namespace

void RankStep::force(bool store, double kick_dt) {
  if (ended_) return;
  const auto begin = Clock::now();
  MessageWriter division;
  if (!divide(division)) {
    ended_ = true;
    return;
  }
  exchange_bodies();
  evaluate(division, store, kick_dt);
  ++result_.evaluations;
  result_.force_ms += ms_of(Clock::now() - begin);
}

/// Returns whether all ranks went on when this evaluation began.
bool RankStep::divide(MessageWriter& division) {
  work_.attempt([&] { work_.put_for_all(parts_.ms); });
  if (!work_.exchange()) return false;
  bool anew = false;
  std::vector<Part> parts;
  work_.attempt([&] {
    std::vector<double> ms(static_cast<std::size_t>(work_.size()), parts_.ms);
    work_.for_each_other([&](int rank) { ms[static_cast<std::size_t>(rank)] = work_.from(rank).get<double>(); });
    anew = !parts_.sizes;
    if (anew) {
      parts_.sizes.emplace(work_.size());
    } else {
      anew = parts_.sizes->learn(ms);
    }
    parts = parts_.sizes->parts();
  });
  division = kernel_.domains()->divide_own(parts_.bodies.positions, parts, anew, work_, owners_);
  return true;
}

void RankStep::exchange_bodies() {
  SpreadState& bodies = parts_.bodies;
  work_.attempt([&] {
    std::vector<std::vector<MovingBody>> leaving(static_cast<std::size_t>(work_.size()));
    for (std::size_t i = 0; i < bodies.ids.size();) {
      const auto owner = static_cast<std::size_t>(owners_[i]);
      if (owners_[i] == work_.rank()) {
        ++i;
        continue;
      }
      leaving[owner].push_back({bodies.ids[i], bodies.positions[i], bodies.velocities[i]});
      const auto fill = [&](auto& array) {  // its place, with the last body
        array[i] = array.back();
        array.pop_back();
      };
      fill(bodies.ids), fill(bodies.positions), fill(bodies.velocities), fill(owners_);
    }
    work_.for_each_other([&](int rank) { work_.to(rank).put_all(leaving[static_cast<std::size_t>(rank)]); });
  });
  work_.exchange();
  work_.attempt([&] {
    std::vector<MovingBody> arriving;
    work_.for_each_other([&](int rank) {
      MessageReader message = work_.from(rank);
      message.get_all(arriving);
    });
    for (const MovingBody& body : arriving) {
      bodies.ids.push_back(body.id);
      bodies.positions.push_back(body.position);
      bodies.velocities.push_back(body.velocity);
    }
    bodies.accelerations.resize(bodies.ids.size());
  });
}

void RankStep::evaluate(const MessageWriter& division, bool store, double kick_dt) {
  SpreadState& bodies = parts_.bodies;
  std::uint64_t by_tree = 0;
  const ForceArgs args{.bodies = bodies.positions.data(),
                       .count = bodies.count(),
                       .masses = parts_.masses,
                       .law = order_.law,
                       .epilogue = {.accelerations = store ? bodies.accelerations.data() : nullptr,
                                    .velocities = kick_dt != 0 ? bodies.velocities.data() : nullptr,
                                    .kick_dt = static_cast<float>(kick_dt),
                                    .drag = order_.law.effective_drag()},
                       .evaluated = &by_tree,
                       .cancelled = work_.cancelled()};
  const auto begin = Clock::now(), waited = begin - work_.waited();
  kernel_.domains()->evaluate_domain(args, bodies.ids, MessageReader{division.bytes()}, work_);
  parts_.ms = ms_of(Clock::now() - waited - work_.waited());
  result_.by_tree += static_cast<double>(by_tree);
  bodies.accelerations_current = store;
}

void RankStep::kick_drift(double kick_dt, double drift_dt) {
  SpreadState& bodies = parts_.bodies;
  ++result_.passes;
  bodies.accelerations_current = false;
  work_.attempt([&] {
    const StateArrays arrays{.positions = bodies.positions.data(),
                             .velocities = bodies.velocities.data(),
                             .accelerations = bodies.accelerations.data()};
    const int found = orrery::kick_drift(arrays, bodies.count(), kick_dt, order_.law.effective_drag(), drift_dt);
    if (found >= 0) note_not_finite();
  });
}

/// The first body, in the order of all, that is not finite after this pass.
void RankStep::note_not_finite() {
  if (result_.not_finite >= 0) return;
  const SpreadState& bodies = parts_.bodies;
  for (std::size_t i = 0; i < bodies.ids.size(); ++i) {
    if (is_finite(bodies.positions[i], bodies.velocities[i])) continue;
    if (result_.not_finite < 0 || bodies.ids[i] < result_.not_finite) result_.not_finite = bodies.ids[i];
  }
  if (result_.not_finite >= 0) result_.found_in = result_.passes;
}

Stepped RankStep::end() {
  ++result_.passes;
  work_.attempt([&] { note_not_finite(); });
  result_.complete = work_.finish();
  return result_;
}

int RankStep::assign_levels(float /*time_step*/) {
  throw no_levels();
}
void RankStep::force_levels(const Substep& /*now*/) {
  throw no_levels();
}
void RankStep::kick_drift_levels(const Substep& /*now*/) {
  throw no_levels();
}
HermiteOps& RankStep::hermite() {
  throw no_levels();
}

}  // namespace orrery
