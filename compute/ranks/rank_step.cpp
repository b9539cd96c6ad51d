#include "compute/ranks/rank_step.h"

#include <algorithm>
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
  ended_ = kernel_.domains() ? !force_of_domains(store, kick_dt) : !force_of_all(store, kick_dt);
  if (ended_) return;
  parts_.bodies.accelerations_current = store;
  ++result_.evaluations;
  result_.force_ms += ms_of(Clock::now() - begin);
}

bool RankStep::force_of_domains(bool store, double kick_dt) {
  MessageWriter division;
  if (!divide(division)) return false;
  exchange_bodies();
  evaluate(division, store, kick_dt);
  return true;
}

bool RankStep::force_of_all(bool store, double kick_dt) {
  work_.attempt([&] { work_.put_all_for_all(parts_.bodies.positions); });
  if (!work_.exchange()) return false;
  work_.attempt([&] { collect_positions(); });
  if (parts_.bodies.count() > 0) work_.attempt([&] { evaluate_targets(store, kick_dt); });
  return true;
}

/// Without domains, bodies never change their rank, and each rank has an interval of the indices.
void RankStep::collect_positions() {
  const std::span all{parts_.arrays.positions};
  count_ = 0;
  for (int rank = 0; rank < work_.size(); ++rank) {
    const auto place = all.subspan(static_cast<std::size_t>(count_));
    if (rank == work_.rank()) {
      std::ranges::copy(parts_.bodies.positions, place.begin());
      count_ += parts_.bodies.count();
    } else {
      MessageReader message = work_.from(rank);
      const auto count = message.get<std::size_t>();
      message.get_values(place.first(count));
      count_ += static_cast<int>(count);
    }
  }
}

void RankStep::evaluate_targets(bool store, double kick_dt) {
  SpreadState& bodies = parts_.bodies;
  RankArrays& all = parts_.arrays;
  const auto first = bodies.ids.front();
  const bool kicks = kick_dt != 0;
  bodies.accelerations.resize(bodies.ids.size());
  if (kicks) std::ranges::copy(bodies.velocities, all.velocities.begin() + first);
  kernel_.evaluate(
      {.bodies = all.positions.data(),
       .count = count_,
       .targets = {.indices = bodies.ids.data(), .count = bodies.count(), .first = first},
       .masses = parts_.masses,
       .law = order_.law,
       .epilogue = epilogue_of(store ? &all.accelerations : nullptr, kicks ? &all.velocities : nullptr, kick_dt),
       .cancelled = work_.cancelled()});
  if (store) std::copy_n(all.accelerations.begin() + first, bodies.count(), bodies.accelerations.begin());
  if (kicks) std::copy_n(all.velocities.begin() + first, bodies.count(), bodies.velocities.begin());
}

/// Null arrays: not stored, and not kicked.
Epilogue RankStep::epilogue_of(std::vector<Vec4>* accelerations, std::vector<Vec4>* velocities, double kick_dt) const {
  return {.accelerations = accelerations ? accelerations->data() : nullptr,
          .velocities = velocities ? velocities->data() : nullptr,
          .kick_dt = static_cast<float>(kick_dt),
          .drag = order_.law.effective_drag()};
}

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
                       .epilogue = epilogue_of(store ? &bodies.accelerations : nullptr,
                                               kick_dt != 0 ? &bodies.velocities : nullptr, kick_dt),
                       .evaluated = &by_tree,
                       .cancelled = work_.cancelled()};
  const auto begin = Clock::now(), waited = begin - work_.waited();
  kernel_.domains()->evaluate_domain(args, bodies.ids, MessageReader{division.bytes()}, work_);
  parts_.ms = ms_of(Clock::now() - waited - work_.waited());
  result_.by_tree += static_cast<double>(by_tree);
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
