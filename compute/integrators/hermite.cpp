#include "compute/integrators/hermite.h"

namespace orrery {

void HermiteBodies::resize(std::size_t count) {
  bodies_.resize(count);
  predicted_.resize(count);
  pulls_.resize(count);
  levels_.assign(count, 0);
  active_.reserve(count);
}

void HermiteBodies::go_on(const HermiteState& state) {
  resize(state.bodies.size());
  bodies_ = state.bodies;
  pulls_current_ = state.pulls_current;
}

void HermiteBodies::start(const StateArrays& arrays, int bodies) {
  resize(static_cast<std::size_t>(bodies));
  visit_precision(arrays, [&]<class Real>(Real) {
    for (int i = 0; i < bodies; ++i) {
      bodies_[static_cast<std::size_t>(i)] = {.body = precise(load_body<Real>(arrays, i)), .pull = {}};
    }
  });
  pulls_current_ = false;
}

void HermiteBodies::predict_begin() {
  for (std::size_t i = 0; i < bodies_.size(); ++i) predicted_[i] = bodies_[i].body;
}

void HermiteBodies::take_first_pulls(const StepCriterion& criterion, float drag) {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    HermiteBody& body = bodies_[i];
    body.pull = pulls_[i];
    add_drag(body.pull, body.body, drag);
    body.longest_step = first_longest_step(body.pull, criterion);
  }
  pulls_current_ = true;
}

int HermiteBodies::begin(float time_step, bool share_steps) {
  share_steps_ = share_steps;
  counts_ = {};
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const int level = share_steps ? 0 : StepCriterion::level_of(time_step, bodies_[i].longest_step);
    levels_[i] = static_cast<Level>(level);
    ++counts_[static_cast<std::size_t>(level)];
  }
  return deepest_of(counts_);
}

void HermiteBodies::predict(const Substep& now) {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    predicted_[i] = orrery::predicted(bodies_[i], own_time(now, levels_[i]));
  }
}

std::span<const int> HermiteBodies::active(const Substep& now) {
  active_.clear();
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    if (levels_[i] >= now.lowest_active()) active_.push_back(static_cast<int>(i));
  }
  return active_;
}

int HermiteBodies::correct(const Substep& now, const Correction& how) {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const int level = levels_[i];
    if (level < now.lowest_active()) continue;
    const int next = correct_body(bodies_[i], predicted_[i], pulls_[i], now, level, how);
    if (share_steps_ || next == level) continue;
    levels_[i] = static_cast<Level>(next);
    --counts_[static_cast<std::size_t>(level)];
    ++counts_[static_cast<std::size_t>(next)];
  }
  return deepest_of(counts_);
}

void HermiteBodies::write(const StateArrays& arrays, std::span<Vec4> accelerations) const {
  visit_precision(arrays, [&]<class Real>(Real) {
    for (int i = 0; i < static_cast<int>(bodies_.size()); ++i) {
      const HermiteBody& body = bodies_[static_cast<std::size_t>(i)];
      BodyState state = load_body<Real>(arrays, i);
      split(body.body, state);
      store_body<Real>(arrays, i, state, {});
      accelerations[static_cast<std::size_t>(i)] = stored(body.pull.acceleration);
    }
  });
}

}  // namespace orrery
