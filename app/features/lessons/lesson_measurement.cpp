#include "app/features/lessons/lesson_measurement.h"

#include <algorithm>
#include <utility>

#include "compute/core/threads.h"

namespace orrery {
namespace {

/// Throws if the kernel cannot run here.
Variant variant_of(const Backends& backends, const LessonRow& row) {
  const KernelPtr kernel = backends.kernels().find(row.kernel_id);
  (void)expand(backends, {.kernels = {kernel}}, {});
  return {kernel, Settings{*kernel, row.settings}};
}

}  // namespace

LessonMeasurement::LessonMeasurement(const Backends& backends, const Lesson& lesson, const LessonPart& part)
    : backends_{backends}, results_(part.rows.size()) {
  for (std::size_t i = 0; i < part.rows.size(); ++i) {
    const int count = part.rows[i].count;
    auto group = std::ranges::find_if(groups_, [&](const Group& g) { return g.plan.counts.front() == count; });
    if (group == groups_.end()) {
      SweepPlan plan{
          .scene = lesson.scene, .counts = {count}, .variants = {}, .setup = lesson.physics, .sampling = sampling};
      group = groups_.insert(groups_.end(), {.rows = {}, .plan = std::move(plan)});
    }
    group->rows.push_back(i);
    group->plan.variants.push_back(variant_of(backends, part.rows[i]));
  }
  begin_group();
}

void LessonMeasurement::begin_group() {
  sweep_.reset();
  if (group_ < groups_.size()) sweep_.emplace(backends_, groups_[group_].plan);
}

bool LessonMeasurement::tick() {
  if (ended()) return false;
  const bool in_flight = sweep_->tick();
  take_results();
  if (sweep_->ended()) {
    done_ += groups_[group_++].rows.size();
    begin_group();
  }
  return in_flight;
}

void LessonMeasurement::stop() {
  if (ended()) return;
  sweep_->stop();
  take_results();
  done_ += sweep_->entries().size();
  sweep_.reset();
}

void LessonMeasurement::take_results() {
  const std::vector<Measurement>& entries = sweep_->entries();
  for (std::size_t i = 0; i < entries.size(); ++i) results_[groups_[group_].rows[i]] = entries[i];
}

double LessonMeasurement::left_s() const {
  if (ended()) return 0;
  double left = sweep_->left_s();
  for (std::size_t group = group_ + 1; group < groups_.size(); ++group) {
    left += Sweep{backends_, groups_[group].plan}.left_s();
  }
  return left;
}

LessonMachine lesson_machine(const Backends& backends) {
  return {.processor = backends.status(Backend::cpu).device,
          .gpu = backends.status(Backend::cuda).device,
          .threads = usable_threads()};
}

}  // namespace orrery
