// Colours of the bodies: their values, the automatic ranges, and the legend.
#include "app/window/colouring.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "app/panels/kit/format.h"
#include "app/panels/shown_words.h"
#include "render/colour_map.h"

namespace orrery {
namespace {

/// Interpolates between positive values logarithmically, so that a range of several decades shrinks evenly.
float moved(float from, float to, double share) {
  if (!(from > 0) || !(to > 0)) return static_cast<float>(from + share * (to - from));
  return static_cast<float>(from * std::pow(double{to} / from, share));
}

}  // namespace

float percentile(std::vector<float>& values, double q) {
  if (values.empty()) return 0;
  const double rank = q * static_cast<double>(values.size() - 1);
  const auto at = static_cast<std::ptrdiff_t>(q < 0.5 ? std::floor(rank) : std::ceil(rank));
  if (at == 0) return *std::ranges::min_element(values);  // faster: one pass over all bodies of a large scene
  if (at == std::ssize(values) - 1) return *std::ranges::max_element(values);
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

render::ValueRange range_of(std::vector<float> values) {
  std::erase_if(values, [](float value) { return !std::isfinite(value); });
  render::ValueRange range{percentile(values, 0.02), percentile(values, 0.98)};
  if (!(range.high > range.low)) range.low = range.high * 0.5f;
  if (!(range.high > range.low)) range.high = range.low + 1.0f;
  return range;
}

bool AutoRange::renew(const render::ValueRange& measured) {
  const render::ValueRange before = shown_;
  measured_ = measured;
  shown_ = {std::min(shown_.low, measured.low), std::max(shown_.high, measured.high)};
  return shown_.low < before.low || shown_.high > before.high;
}

void AutoRange::follow(double passed_s) {
  const double share = 1 - std::exp(-passed_s / shrink_s);
  shown_.low = moved(shown_.low, measured_.low, share);
  shown_.high = moved(shown_.high, measured_.high, share);
}

namespace {

bool is_known(float value) {
  return !std::isnan(value);
}

std::vector<Vec4> plain(const std::vector<glm::vec4>& positions) {
  std::vector<Vec4> plain;
  plain.reserve(positions.size());
  for (const glm::vec4& p : positions) plain.push_back({p.x, p.y, p.z, p.w});
  return plain;
}

}  // namespace

std::optional<Command> BodyValues::request(const Status& status, const render::Appearance& appearance) {
  if (!render::shows_values(appearance)) return std::nullopt;
  const auto request = body_colour(appearance).request;
  return request ? request(status) : std::nullopt;
}

bool BodyValues::wants_errors(const Status& status, const render::Appearance& appearance) const {
  if (!render::shows_values(appearance)) return false;
  const BodyColour& colour = body_colour(appearance);
  const bool all_known = subject_.colour == &colour && known_ == values_.size();
  return colour.probes_forces && !(status.paused && all_known);
}

float BodyValues::known() const {
  return values_.empty() ? 0 : static_cast<float>(known_) / static_cast<float>(values_.size());
}

BodyValues::Subject BodyValues::subject_of(const Status& status, const render::DrawnBodies& bodies,
                                           const render::Appearance& appearance) {
  if (!render::shows_values(appearance)) return {};
  const BodyColour& colour = body_colour(appearance);
  return {&colour, status.scene, bodies.count, colour.basis ? colour.basis(status) : std::string{}};
}

BodyValues::Change BodyValues::follow(const Status& status, const Parts& parts, const render::DrawnBodies& bodies,
                                      const render::Appearance& appearance, bool moved, double now_s) {
  Subject subject = subject_of(status, bodies, appearance);
  const bool restarts = subject != subject_;
  if (restarts) restart(std::move(subject));
  const bool renewed = !values_.empty() &&
                       renew({status, parts, bodies.count, moved, now_s, lockstep_, distances_, std::nullopt}, bodies);
  if (restarts || renewed) upload();
  if (!restarts && !renewed) return Change::none;
  // Distances of two runs grow by powers of ten, so their range jumps to them.
  return restarts || subject_.colour->compares_runs ? Change::subject : Change::values;
}

void BodyValues::restart(Subject subject) {
  subject_ = std::move(subject);
  source_ = subject_.colour ? subject_.colour->create() : nullptr;
  positions_.cancel();
  const auto count = static_cast<std::size_t>(subject_.count);
  if (buffer_.size_bytes() != count * sizeof(float)) {
    buffer_ = {};  // frees the old memory before allocating
    if (count > 0) buffer_ = render::Buffer{count * sizeof(float)};
  }
  values_ = std::vector<float>(count, std::numeric_limits<float>::quiet_NaN());
}

bool BodyValues::renew(ValueSources from, const render::DrawnBodies& bodies) {
  if (source_->wants_positions(from)) {
    const render::BufferReadback::Part all{0, static_cast<std::size_t>(bodies.count)};
    positions_.request(bodies.buffer, {&all, 1});
  }
  if (positions_.in_flight()) {
    if (const auto positions = positions_.poll(lockstep_)) from.positions = plain(*positions);
  }
  return source_->renew(from, values_);
}

void BodyValues::upload() {
  known_ = static_cast<std::size_t>(std::ranges::count_if(values_, is_known));
  if (!values_.empty()) buffer_.upload(std::as_bytes(std::span{values_}));
}
namespace {

constexpr int sample_parts = 64;  // spread over the scene, because neighbours in memory are alike

/// Returns whether the colours show values with a range, rather than parts or nothing.
bool has_range(const render::Appearance& appearance) {
  using Source = render::ColourBy::Source;
  const Source source = appearance.colour_by->source;
  return source == Source::computed || source == Source::values;
}

}  // namespace

void Colouring::restart(const render::ValueRanges& measured) {
  ranges_ = measured;
  speed_.restart(measured.speed);
  value_.restart(value_.measured());
  ranges_.value = value_.shown();
  readback_.cancel();
  sample_.clear();
  speeds_.clear();
  masses_.clear();
  value_of_ = nullptr;
  sample_is_old_ = true;
  period_s_ = least_period_s;
  sampled_s_ = now_s_ - period_s_;
}

void Colouring::follow(const render::DrawnBodies& bodies, const render::Appearance& appearance, const Vec3& sight,
                       bool moved, double now_s) {
  const double passed_s = std::max(now_s - std::exchange(now_s_, now_s), 0.0);
  sample_is_old_ |= moved;
  if (sample_is_old_ && !readback_.in_flight() && bodies.count > 0 && now_s - sampled_s_ >= period_s_) {
    request(bodies);
    sample_is_old_ = false;
    sampled_s_ = now_s;
  }
  bool fresh = false;
  if (readback_.in_flight()) {
    if (auto sample = readback_.poll(lockstep_)) {
      take(std::move(*sample));
      fresh = true;
    }
  }
  compute_values(appearance, sight, fresh);
  if (!moved) return;
  speed_.follow(passed_s);
  value_.follow(passed_s);
  ranges_.speed = speed_.shown();
  ranges_.value = value_.shown();
}

void Colouring::compute_values(const render::Appearance& appearance, const Vec3& sight, bool fresh) {
  const BodyColour& colour = body_colour(appearance);
  const bool is_value = appearance.colour_by->range == &render::ValueRanges::value && colour.computed.of;
  if (!is_value) {
    value_of_ = nullptr;
    return;
  }
  const bool other = value_of_ != &colour;
  if (sample_.empty() || (!fresh && !other && sight == sight_)) return;
  value_of_ = &colour;
  sight_ = sight;
  const auto plain = [](const glm::vec4& v) { return Vec4{v.x, v.y, v.z, v.w}; };
  const std::size_t size = sample_.size() / 2;
  std::vector<float> values;
  for (std::size_t i = 0; i < size; ++i) {
    values.push_back(colour.computed.of(plain(sample_[i]), plain(sample_[size + i]), sight));
  }
  take_values(values, other, colour.about_zero);
}

void Colouring::take_values(std::span<const float> values, bool other, bool about_zero) {
  const std::size_t stride = (values.size() + most_sampled - 1) / most_sampled;
  values_.clear();
  for (std::size_t i = 0; i < values.size(); i += stride) {
    if (!std::isnan(values[i])) values_.push_back(values[i]);
  }
  value_is_known_ = value_is_known_ && !other;
  if (values_.empty()) return;
  render::ValueRange measured = range_of(values_);
  if (about_zero) {
    measured.high = std::max(std::abs(measured.low), std::abs(measured.high));
    measured.low = -measured.high;
  }
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

void Colouring::take(std::vector<glm::vec4> sample) {
  sample_ = std::move(sample);
  const std::size_t size = sample_.size() / 2;
  speeds_.clear();
  masses_.clear();
  for (std::size_t i = 0; i < size; ++i) {
    masses_.push_back(sample_[i].w);
    speeds_.push_back(glm::length(glm::vec3{sample_[size + i]}));
  }
  period_s_ = speed_.renew(range_of(speeds_)) ? least_period_s : std::min(1.25 * period_s_, sample_period_s);
  ranges_.speed = speed_.shown();
}

const std::vector<float>& Colouring::sampled(const render::Appearance& appearance) const {
  const auto range = appearance.colour_by->range;
  return range == &render::ValueRanges::speed ? speeds_ : range == &render::ValueRanges::mass ? masses_ : values_;
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
  if (appearance.look == render::Look::density || !has_range(appearance)) return;
  const std::vector<float>& values = sampled(appearance);
  if (values.empty()) return;
  const auto share = [&](auto&& is_beyond) {
    return static_cast<float>(std::ranges::count_if(values, is_beyond)) / static_cast<float>(values.size());
  };
  legend.below = share([&](float value) { return value < legend.low; });
  legend.above = share([&](float value) { return value > legend.high; });
}
namespace {

/// The quantity that the legend names.
struct Quantity {
  std::string name, unit;  // empty name: the colours show no quantity
  std::optional<Dimension> dimension;
};

Quantity quantity_of(const render::Appearance& appearance) {
  if (appearance.look == render::Look::density) {
    return {"mass per area", "mass / length\u00b2", dimension::mass_per_area};
  }
  const BodyColour& colour = body_colour(appearance);
  return {colour.quantity, colour.unit, colour.dimension};
}

SrgbColour colour_at(const render::Appearance& appearance, float at) {
  const auto& map = render::colour_maps()[static_cast<std::size_t>(render::shown_colour_map(appearance))];
  const auto colour_of = appearance.look == render::Look::lights ? render::body_colour : render::density_colour;
  const glm::vec3 colour = render::srgb_from_linear(colour_of(map, at, appearance.theme));
  return {colour.r, colour.g, colour.b};
}

/// Adds a legend entry per colour. If several parts share a colour, the entry names the first one.
void name_parts(Legend& legend, std::span<const std::string> names, const char* without_names, render::Theme theme) {
  const auto colours = render::part_colours(theme);
  const std::size_t count = std::max<std::size_t>(names.size(), 1);
  for (std::size_t i = 0; i < std::min(count, colours.size()); ++i) {
    const glm::vec3 colour = colours[i];
    const char* const more = i + colours.size() < count ? ", ..." : "";
    legend.parts.push_back({names.empty() ? without_names : names[i] + more, {colour.r, colour.g, colour.b}});
  }
}

/// Returns the name of the class 2^exponent dt, such as "dt / 4".
std::string class_name(int exponent) {
  if (exponent == 0) return "dt";
  return exponent < 0 ? fmt::format("dt / {}", 1LL << -exponent) : fmt::format("{} dt", 1LL << exponent);
}

}  // namespace

Legend legend_of(const render::Appearance& appearance, const render::ValueRanges& ranges,
                 const render::OrbitCamera& camera) {
  constexpr int samples = 32;
  const Quantity quantity = quantity_of(appearance);
  const render::ColourScale scale = render::colour_scale(appearance, ranges);
  Legend legend{.quantity = quantity.name,
                .low = scale.range.low,
                .high = scale.range.high,
                .logarithmic = scale.logarithmic,
                .colours = {},
                .unit = quantity.unit,
                .dimension = quantity.dimension};
  legend.world_per_height = camera.world_per_height();
  if (appearance.look == render::Look::lights && !has_range(appearance)) return legend;
  for (int i = 0; i < samples; ++i) {
    legend.colours.push_back(colour_at(appearance, static_cast<float>(i) / (samples - 1)));
  }
  return legend;
}

void describe_classes(Legend& legend, const render::Appearance& appearance, const render::ValueRanges& ranges,
                      float time_step) {
  constexpr float rounding = 1e-3f;  // tolerance at the ends, in classes
  constexpr int most_classes = 40;
  const render::ColourScale scale = render::colour_scale(appearance, ranges);
  const auto place = [&](float value) { return std::log2(value / time_step); };
  const int first = static_cast<int>(std::ceil(place(std::max(scale.range.low, 1e-30f)) - rounding));
  const int last = static_cast<int>(std::floor(place(scale.range.high) + rounding));
  if (last < first || last - first > most_classes) return;
  legend.colours.clear();
  for (int exponent = first; exponent <= last; ++exponent) {
    legend.colours.push_back(colour_at(appearance, scale.place(std::ldexp(time_step, exponent))));
  }
  legend.low = std::ldexp(time_step, first);
  legend.high = std::ldexp(time_step, last);
  legend.low_class = class_name(first);
  legend.high_class = class_name(last);
}

void describe_only_value(Legend& legend, const char* whose, float value, const std::optional<Units>& units) {
  if (legend.colours.empty()) return;
  const bool has_units = units && legend.dimension;
  const ShownUnit unit = has_units ? shown_unit(units, *legend.dimension, value) : ShownUnit{};
  const std::string name = has_units ? unit.name : legend.unit.empty() ? "" : " " + legend.unit;
  const float place = render::ColourScale{{legend.low, legend.high}, legend.logarithmic}.place(value);
  const auto last = static_cast<float>(legend.colours.size() - 1);
  const float at = place > 0 ? std::round(std::min(place, 1.0f) * last) : 0;
  legend.parts = {{fmt::format("{} bodies: {}{}", whose, format_value(value / unit.size), name),
                   legend.colours[static_cast<std::size_t>(at)]}};
  legend.colours.clear();
}

void describe_no_values(Legend& legend, std::string why) {
  legend.colours.clear();
  legend.note = std::move(why);
}

void describe_parts(Legend& legend, const PartNames& parts, render::Theme theme) {
  if (!parts.why_unknown.empty()) return describe_no_values(legend, parts.why_unknown);
  name_parts(legend, parts.names, parts.without_names, theme);
}

}  // namespace orrery
