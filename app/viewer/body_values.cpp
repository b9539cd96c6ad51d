#include "app/viewer/body_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "compute/core/team.h"
#include "compute/diagnostics/local_density.h"
#include "render/colour_map.h"

namespace orrery {
namespace {

constexpr double lockstep_s_per_body = 2e-6;  // between densities in repeatable runs: every second frame of 16,384
constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

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
  if (std::isnan(acceleration)) return unknown;
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
  std::vector<float> values(count, subject_.colour_by == render::ColourBy::species ? 0 : unknown);
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

/// What was measured of a body stays until it is measured again.
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
  if (!distances_) return replace(std::vector<float>(values_.size(), unknown));
  return distances_->size() == values_.size() && replace(*distances_);
}

bool BodyValues::take_domains(const Status& status) {
  if (status.domains == domains_) return false;
  const std::shared_ptr<const Domains> before = std::exchange(domains_, status.domains);
  const BodyOwners owners = domains_ ? domains_->owners : BodyOwners{.why_unknown = "not read"};
  if (before && before->owners == owners) return false;
  const bool one_has_all = owners.names.empty() && owners.why_unknown.empty();
  std::vector<float> values(values_.size(), one_has_all ? 0 : unknown);
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

}  // namespace orrery
