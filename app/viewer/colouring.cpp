// The colours of the bodies: their values, the ranges that the colour map spans, and the legend.
#include "app/viewer/colouring.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "app/panels/kit/format.h"
#include "app/panels/shown_words.h"
#include "compute/core/threads.h"
#include "compute/diagnostics/structure.h"
#include "render/colour_map.h"

namespace orrery {
namespace {

/// Interpolates in the logarithm where there is one, so that a range of several decades shrinks evenly.
float moved(float from, float to, double share) {
  if (!(from > 0) || !(to > 0)) return static_cast<float>(from + share * (to - from));
  return static_cast<float>(from * std::pow(double{to} / from, share));
}

}  // namespace

float percentile(std::vector<float>& values, double q) {
  if (values.empty()) return 0;
  const double rank = q * static_cast<double>(values.size() - 1);
  const auto at = static_cast<std::ptrdiff_t>(q < 0.5 ? std::floor(rank) : std::ceil(rank));
  if (at == 0) return *std::ranges::min_element(values);  // one pass, for all bodies of a large scene
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

void DensityJob::start(std::vector<Vec4> positions) {
  positions_ = std::move(positions);
  cancelled_ = done_ = false;
  thread_ = start_thread([this](const std::stop_token&) {
    const auto begin = std::chrono::steady_clock::now();
    const int threads = std::max(usable_threads() / 4, 1);
    densities_ = local_densities(positions_, threads, &cancelled_);
    cost_s_ = threads * std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    done_ = true;
  });
}

std::optional<std::vector<float>> DensityJob::poll() {
  if (!done_) return std::nullopt;
  thread_.join();
  return std::move(densities_);
}

void DensityJob::cancel() {
  cancelled_ = true;
  if (thread_.joinable()) thread_.join();
}
namespace {

constexpr double lockstep_s_per_body = 2e-6;  // between densities in repeatable runs: every second frame of 16,384
constexpr float not_known = std::numeric_limits<float>::quiet_NaN();

bool shows(const render::Appearance& appearance, render::ColourBy colour_by) {
  return render::shows_values(appearance) && appearance.colour_by == colour_by;
}

bool shows_accelerations(const render::Appearance& appearance) {
  return shows(appearance, render::ColourBy::acceleration) || shows(appearance, render::ColourBy::time_step_class);
}

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

float suitable_time_step(float time_step, const StepCriterion& criterion, float acceleration) {
  if (std::isnan(acceleration)) return not_known;
  const double levels = std::floor(std::log2(criterion.longest_step(acceleration) / time_step));
  return time_step *
         static_cast<float>(std::exp2(std::clamp<double>(levels, -most_step_doublings, most_step_doublings)));
}

bool BodyValues::wants_accelerations(const Status& status, const render::Appearance& appearance) {
  if (!shows_accelerations(appearance) || status.non_finite) return false;
  if (status.busy && status.backend == Backend::cpu) return false;
  return !status.accelerations || status.accelerations->step != status.step;
}

bool BodyValues::wants_domains(const Status& status, const render::Appearance& appearance) {
  if (!shows(appearance, render::ColourBy::domain) || status.non_finite) return false;
  if (status.busy && status.backend == Backend::cpu) return false;
  return !status.paused || !status.domains || status.domains->step != status.step;
}

bool BodyValues::wants_errors(const Status& status, const render::Appearance& appearance) const {
  if (!shows(appearance, render::ColourBy::force_error)) return false;
  const bool all_known = subject_.colour_by == render::ColourBy::force_error && known_ == values_.size();
  return !(status.paused && all_known);
}

float BodyValues::known() const {
  return values_.empty() ? 0 : static_cast<float>(known_) / static_cast<float>(values_.size());
}

double BodyValues::density_interval_s(double cost_s) {
  return std::max(std::min(cost_s / density_share, 1.0), 4 * cost_s);
}

BodyValues::Subject BodyValues::subject_of(const Status& status, const render::DrawnBodies& bodies,
                                           const render::Appearance& appearance) {
  if (!render::shows_values(appearance)) return {};
  Subject subject{.colour_by = appearance.colour_by, .scene = status.scene, .count = bodies.count};
  const bool of_errors = appearance.colour_by == render::ColourBy::force_error;
  if (of_errors || appearance.colour_by == render::ColourBy::domain) {
    subject.kernel = status.kernel_id;
    subject.settings = status.settings.to_string();
  }
  if (of_errors) subject.law = status.law;
  if (appearance.colour_by == render::ColourBy::time_step_class) {
    subject.time_step = status.time_step;
    subject.criterion = {.softening = status.law.softening, .mean_mass = status.mean_mass, .eta = status.eta};
  }
  return subject;
}

BodyValues::Change BodyValues::follow(const Status& status, const Parts& parts, const render::DrawnBodies& bodies,
                                      const render::Appearance& appearance, bool moved, double now_s) {
  Subject subject = subject_of(status, bodies, appearance);
  const bool restarts = subject != subject_;
  if (restarts) restart(std::move(subject), parts);
  const bool renewed = !values_.empty() && take_new(status, bodies, moved, now_s);
  if (!restarts && !renewed) return Change::none;
  // Distances grow by powers of ten: their range jumps to them.
  return restarts || subject_.colour_by == render::ColourBy::distance ? Change::subject : Change::values;
}

bool BodyValues::take_new(const Status& status, const render::DrawnBodies& bodies, bool moved, double now_s) {
  switch (subject_.colour_by) {
    case render::ColourBy::acceleration:
    case render::ColourBy::time_step_class:
      return take_accelerations(status);
    case render::ColourBy::force_error:
      return take_errors(status);
    case render::ColourBy::distance:
      return take_distances();
    case render::ColourBy::domain:
      return take_domains(status);
    case render::ColourBy::local_density:
      return follow_density(bodies, moved, now_s);
    default:
      return false;
  }
}

void BodyValues::restart(Subject subject, const Parts& parts) {
  subject_ = std::move(subject);
  accelerations_.reset();
  errors_.reset();
  distances_.reset();
  domains_.reset();
  positions_.cancel();
  density_.cancel();
  density_is_old_ = true;
  density_s_.reset();
  const auto count = static_cast<std::size_t>(subject_.count);
  if (buffer_.size_bytes() != count * sizeof(float)) {
    buffer_ = {};  // frees the old memory first
    if (count > 0) buffer_ = render::Buffer{count * sizeof(float)};
  }
  values_ = {};
  known_ = 0;
  if (count == 0) return;
  std::vector<float> values(count, subject_.colour_by == render::ColourBy::species ? 0 : not_known);
  if (subject_.colour_by == render::ColourBy::species && parts.of_body.size() == count) {
    std::ranges::copy(parts.of_body, values.begin());
  }
  replace(values);
}

bool BodyValues::replace(const std::vector<float>& values) {
  values_ = values;
  known_ = static_cast<std::size_t>(std::ranges::count_if(values_, is_known));
  buffer_.upload(std::as_bytes(std::span{values_}));
  return true;
}

bool BodyValues::take_accelerations(const Status& status) {
  if (!status.accelerations || status.accelerations == accelerations_) return false;
  accelerations_ = status.accelerations;
  std::vector<float> values = accelerations_->magnitudes;
  if (subject_.colour_by == render::ColourBy::time_step_class) {
    for (float& value : values) value = suitable_time_step(subject_.time_step, subject_.criterion, value);
  }
  return values.size() == values_.size() && replace(values);
}

/// A measured value of a body stays until it is measured again.
bool BodyValues::take_errors(const Status& status) {
  if (!status.force_probe || !status.force_probe->bodies || status.force_probe->bodies == errors_) return false;
  errors_ = status.force_probe->bodies;
  for (std::size_t i = 0; i < errors_->bodies.size(); ++i) {
    const auto body = static_cast<std::size_t>(errors_->bodies[i]);
    if (body >= values_.size()) return false;  // of other bodies than those that are drawn
    const auto error = static_cast<float>(errors_->errors[i]);
    known_ += is_known(values_[body]) ? 0 : 1;
    values_[body] = is_known(error) ? error : std::numeric_limits<float>::infinity();
  }
  buffer_.upload(std::as_bytes(std::span{values_}));
  return true;
}

bool BodyValues::take_distances() {
  if (given_ == distances_) return false;
  distances_ = given_;
  if (!distances_) return replace(std::vector<float>(values_.size(), not_known));
  return distances_->size() == values_.size() && replace(*distances_);
}

bool BodyValues::take_domains(const Status& status) {
  if (status.domains == domains_) return false;
  const std::shared_ptr<const Domains> before = std::exchange(domains_, status.domains);
  const BodyOwners owners = domains_ ? domains_->owners : BodyOwners{.why_unknown = "not read"};
  if (before && before->owners == owners) return false;
  const bool one_has_all = owners.names.empty() && owners.why_unknown.empty();
  std::vector<float> values(values_.size(), one_has_all ? 0 : not_known);
  if (owners.of_body.size() == values.size()) {
    std::ranges::transform(owners.of_body, values.begin(),
                           [](int owner) { return static_cast<float>(owner % render::part_colour_count); });
  }
  return replace(values);
}

bool BodyValues::follow_density(const render::DrawnBodies& bodies, bool moved, double now_s) {
  if (bodies.count > most_density_bodies) return false;
  density_is_old_ |= moved;
  const double interval_s = lockstep_ ? bodies.count * lockstep_s_per_body : density_interval_s(density_.cost_s());
  const bool due = density_is_old_ && (!density_s_ || now_s - *density_s_ >= interval_s);
  if (due && !positions_.in_flight() && !density_.running()) {
    const render::BufferReadback::Part all{0, static_cast<std::size_t>(bodies.count)};
    positions_.request(bodies.buffer, {&all, 1});
    density_is_old_ = false;
    density_s_ = now_s;
  }
  if (positions_.in_flight()) {
    if (const auto positions = positions_.poll(lockstep_)) {
      if (lockstep_) return replace(local_densities(plain(*positions), usable_threads()));
      density_.start(plain(*positions));
    }
  }
  if (!density_.running()) return false;
  const auto densities = density_.poll();
  return densities && replace(*densities);
}
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
namespace {

struct Quantity {
  const char *name = "", *unit = "";
  std::optional<Dimension> dimension{};
};

Quantity quantity_of(const render::Appearance& appearance) {
  if (appearance.look == render::Look::density) {
    return {"mass per area", "mass / length\u00b2", Dimension::mass_per_area};
  }
  switch (appearance.colour_by) {
    case render::ColourBy::speed:
      return {"speed", "length / time", Dimension::velocity};
    case render::ColourBy::mass:
      return {"mass", "mass", Dimension::mass};
    case render::ColourBy::acceleration:
      return {"acceleration", "length / time\u00b2", Dimension::acceleration};
    case render::ColourBy::species:
      return {"part of the scene"};
    case render::ColourBy::local_density:
      return {"local density", "mass / length\u00b3", Dimension::density};
    case render::ColourBy::force_error:
      return {"force error", "relative"};
    case render::ColourBy::time_step_class:
      return {"suitable time step", "time", Dimension::time};
    case render::ColourBy::distance:
      return {"distance of A from B", "length", Dimension::length};
    case render::ColourBy::domain:
      return {"domain"};
    case render::ColourBy::none:
      break;
  }
  return {};
}

SrgbColour colour_at(const render::Appearance& appearance, float at) {
  const auto& map = render::colour_maps()[static_cast<std::size_t>(render::shown_colour_map(appearance))];
  const auto colour_of = appearance.look == render::Look::lights ? render::body_colour : render::density_colour;
  const glm::vec3 colour = render::srgb_from_linear(colour_of(map, at, appearance.theme));
  return {colour.r, colour.g, colour.b};
}

/// If there are more names than colours, the first of those that share a colour.
void name_parts(Legend& legend, std::span<const std::string> names, const char* without_names, render::Theme theme) {
  const auto colours = render::part_colours(theme);
  const std::size_t count = std::max<std::size_t>(names.size(), 1);
  for (std::size_t i = 0; i < std::min(count, colours.size()); ++i) {
    const glm::vec3 colour = colours[i];
    const char* const more = i + colours.size() < count ? ", ..." : "";
    legend.parts.push_back({names.empty() ? without_names : names[i] + more, {colour.r, colour.g, colour.b}});
  }
}

/// A power of two times dt.
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
  if (legend.quantity.empty() || render::shows_parts(appearance)) return legend;
  for (int i = 0; i < samples; ++i) {
    legend.colours.push_back(colour_at(appearance, static_cast<float>(i) / (samples - 1)));
  }
  return legend;
}

void describe_classes(Legend& legend, const render::Appearance& appearance, const render::ValueRanges& ranges,
                      float time_step) {
  constexpr float rounding = 1e-3f;  // of the ends, in classes
  const render::ColourScale scale = render::colour_scale(appearance, ranges);
  const auto place = [&](float value) { return std::log2(value / time_step); };
  const int first = static_cast<int>(std::ceil(place(std::max(scale.range.low, 1e-30f)) - rounding));
  const int last = static_cast<int>(std::floor(place(scale.range.high) + rounding));
  if (last < first || last - first > 2 * most_step_doublings) return;
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

void describe_parts(Legend& legend, const Parts& parts, render::Theme theme) {
  name_parts(legend, parts.names, "all bodies", theme);
}

void describe_domains(Legend& legend, const Domains* domains, render::Theme theme) {
  if (!domains) return describe_no_values(legend, "not known yet");
  const BodyOwners& owners = domains->owners;
  if (!owners.why_unknown.empty()) return describe_no_values(legend, owners.why_unknown);
  name_parts(legend, owners.names, "all bodies: one domain", theme);
}

}  // namespace orrery
