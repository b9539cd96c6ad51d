#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/viewer/density_job.h"
#include "compute/integrators/time_step_levels.h"
#include "compute/scenes/parts.h"
#include "compute/sim/command.h"
#include "render/appearance.h"
#include "render/drawn_bodies.h"
#include "render/gl/buffer_readback.h"
#include "render/gl/gl_objects.h"

namespace orrery {

inline constexpr int most_step_doublings = 20;
/// The longest of time_step * 2^k, with |k| up to most_step_doublings, that suits a body with this acceleration.
float suitable_time_step(float time_step, const StepCriterion& criterion, float acceleration);

/// The values of the colours that show_values(): one number per body, in a GL buffer. Costs nothing while another
/// colour is shown. Needs the GL context current.
class BodyValues {
 public:
  static constexpr int most_density_bodies = 1 << 24;  ///< of more bodies, densities are not computed
  static constexpr double density_share = 0.02;        ///< of a processor's time, see density_interval_s()

  /// In `lockstep`, values belong to the drawn bodies and are computed at times that do not depend on what anything
  /// took. Otherwise nothing waits.
  explicit BodyValues(bool lockstep) : lockstep_{lockstep} {}

  /// Whether the simulation's accelerations are to be read now: not during a CPU step, and only if they are not known.
  static bool wants_accelerations(const Status& status, const render::Appearance& appearance);
  /// Whether the domains are to be read now: with each batch of steps. While paused, once.
  static bool wants_domains(const Status& status, const render::Appearance& appearance);
  /// Whether force errors of all bodies are to be measured now. While paused, each is measured once.
  bool wants_errors(const Status& status, const render::Appearance& appearance) const;

  /// From the next follow() on, the distances of the bodies from those of another run; null: there is none.
  void give_distances(std::shared_ptr<const std::vector<float>> distances) { given_ = std::move(distances); }

  /// What has changed: some values, or what they are of, or so much that their range begins anew.
  enum class Change { none, values, subject };
  /// Once per frame. `bodies` are the drawn ones, `moved` whether they are not those of the last call; `now_s` only
  /// grows.
  Change follow(const Status& status, const Parts& parts, const render::DrawnBodies& bodies,
                const render::Appearance& appearance, bool moved, double now_s);

  /// See DrawnBodies::values.
  unsigned buffer() const { return buffer_.id(); }
  /// One per body; NaN: not known. Empty if no values are shown.
  const std::vector<float>& values() const { return values_; }
  /// The share of the bodies whose values are known, 0 to 1.
  float known() const;

  /// Time from one computation of densities to the next, if one takes `cost_s`: at most density_share of the time, but
  /// at least every second as long as that is a quarter of the time.
  static double density_interval_s(double cost_s);

 private:
  /// What the values belong to. If it changes, none is known.
  struct Subject {
    render::ColourBy colour_by = render::ColourBy::none;
    SceneRequest scene{};
    int count = 0;
    std::string kernel{}, settings{};  // of force errors and domains
    Law law{};                         // of force errors
    float time_step = 0;               // of time-step classes
    StepCriterion criterion{};         // of time-step classes
    friend bool operator==(const Subject&, const Subject&) = default;
  };

  static Subject subject_of(const Status& status, const render::DrawnBodies& bodies,
                            const render::Appearance& appearance);
  void restart(Subject subject, const Parts& parts);
  bool take_accelerations(const Status& status);
  bool take_errors(const Status& status);
  bool take_distances();
  bool take_domains(const Status& status);
  bool follow_density(const render::DrawnBodies& bodies, bool moved, double now_s);
  bool take_new(const Status& status, const render::DrawnBodies& bodies, bool moved, double now_s);
  bool replace(const std::vector<float>& values);

  const bool lockstep_;
  Subject subject_;
  std::vector<float> values_;
  std::size_t known_ = 0;
  render::Buffer buffer_;
  std::shared_ptr<const Accelerations> accelerations_;           // the latest that were taken
  std::shared_ptr<const BodyErrors> errors_;                     // the latest that were taken
  std::shared_ptr<const std::vector<float>> given_, distances_;  // the latest that were given, and taken
  std::shared_ptr<const Domains> domains_;                       // the latest that were taken
  render::BufferReadback positions_;
  DensityJob density_;
  bool density_is_old_ = true;       // the bodies have moved since it was asked for
  std::optional<double> density_s_;  // when it was asked for last
};

}  // namespace orrery
