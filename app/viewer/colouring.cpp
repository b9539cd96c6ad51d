#include "app/viewer/colouring.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "render/colour_scale.h"

namespace orrery {
namespace {

constexpr int sample_parts = 64;  // from all over the scene: neighbours in memory are alike

}  // namespace

void Colouring::restart(const render::ValueRanges& measured) {
  ranges_ = measured;
  speed_.restart(measured.speed);
  value_.restart(value_.measured());
  ranges_.value = value_.shown();
  readback_.cancel();
  speeds_.clear();
  masses_.clear();
  sample_is_old_ = true;
  period_s_ = least_period_s;
  sampled_s_ = now_s_ - period_s_;
}

void Colouring::follow(const render::DrawnBodies& bodies, bool moved, double now_s) {
  const double passed_s = std::max(now_s - std::exchange(now_s_, now_s), 0.0);
  sample_is_old_ |= moved;
  if (sample_is_old_ && !readback_.in_flight() && bodies.count > 0 && now_s - sampled_s_ >= period_s_) {
    request(bodies);
    sample_is_old_ = false;
    sampled_s_ = now_s;
  }
  if (readback_.in_flight()) {
    if (const auto sample = readback_.poll(lockstep_)) take(*sample);
  }
  if (!moved) return;
  speed_.follow(passed_s);
  value_.follow(passed_s);
  ranges_.speed = speed_.shown();
  ranges_.value = value_.shown();
}

void Colouring::take_values(std::span<const float> values, bool other) {
  const std::size_t stride = (values.size() + most_sampled - 1) / most_sampled;
  values_.clear();
  for (std::size_t i = 0; i < values.size(); i += stride) {
    if (!std::isnan(values[i])) values_.push_back(values[i]);
  }
  value_is_known_ = value_is_known_ && !other;
  if (values_.empty()) return;
  const render::ValueRange measured = range_of(values_);
  if (value_is_known_) {
    value_.renew(measured);
  } else {
    value_.restart(measured);
  }
  value_is_known_ = true;
  ranges_.value = value_.shown();
}

void Colouring::request(const render::DrawnBodies& bodies) {
  const auto count = static_cast<std::size_t>(bodies.count);
  std::vector<render::BufferReadback::Part> parts;
  if (bodies.count <= most_sampled) {
    parts = {{0, count}, {count, count}};
  } else {
    constexpr std::size_t each = most_sampled / sample_parts;
    for (const std::size_t array : {std::size_t{0}, count}) {
      for (std::size_t part = 0; part < sample_parts; ++part)
        parts.push_back({array + part * count / sample_parts, each});
    }
  }
  readback_.request(bodies.buffer, parts);
}

void Colouring::take(const std::vector<glm::vec4>& sample) {
  const std::size_t size = sample.size() / 2;
  speeds_.clear();
  masses_.clear();
  for (std::size_t i = 0; i < size; ++i) {
    masses_.push_back(sample[i].w);
    speeds_.push_back(glm::length(glm::vec3{sample[size + i]}));
  }
  period_s_ = speed_.renew(range_of(speeds_)) ? least_period_s : std::min(1.25 * period_s_, sample_period_s);
  ranges_.speed = speed_.shown();
}

const std::vector<float>& Colouring::sampled(const render::Appearance& appearance) const {
  if (render::shows_values(appearance)) return values_;
  return appearance.colour_by == render::ColourBy::speed ? speeds_ : masses_;
}

std::optional<Colouring::Sample> Colouring::sample(const render::Appearance& appearance) const {
  const std::vector<float>& values = sampled(appearance);
  if (values.empty()) return std::nullopt;
  const auto is_finite = [](float value) { return std::isfinite(value); };
  const bool alike =
      is_finite(values.front()) && std::ranges::all_of(values, [&](float value) { return value == values.front(); });
  return Sample{std::ranges::any_of(values, is_finite), alike ? std::optional{values.front()} : std::nullopt};
}

void Colouring::describe(Legend& legend, const render::Appearance& appearance) const {
  if (appearance.look == render::Look::density || appearance.colour_by == render::ColourBy::none) return;
  if (render::shows_parts(appearance)) return;
  const std::vector<float>& values = sampled(appearance);
  if (values.empty()) return;
  const auto share = [&](auto&& is_beyond) {
    return static_cast<float>(std::ranges::count_if(values, is_beyond)) / static_cast<float>(values.size());
  };
  legend.below = share([&](float value) { return value < legend.low; });
  legend.above = share([&](float value) { return value > legend.high; });
}

}  // namespace orrery
