#pragma once

#include <optional>
#include <span>
#include <vector>

#include "app/ui_state/legend.h"
#include "app/viewer/auto_range.h"
#include "render/appearance.h"
#include "render/drawn_bodies.h"
#include "render/gl/buffer_readback.h"

namespace orrery {

/// The ranges of values that the colour map spans where the user has not fixed them. They follow a sample of the drawn
/// bodies, which is read back once per second, and up to ten times while speeds grow. Needs the GL context current.
class Colouring {
 public:
  static constexpr double sample_period_s = 1, least_period_s = 0.1;
  static constexpr int most_sampled = 4096;

  /// In `lockstep`, samples belong to the drawn bodies. Otherwise they are some frames old, and nothing waits.
  explicit Colouring(bool lockstep) : lockstep_{lockstep} {}

  /// Jumps to `measured`, of all bodies.
  void restart(const render::ValueRanges& measured);
  /// Takes over DrawnBodies::values; NaN: not known. `other`: they are of another quantity or of other bodies than
  /// those before.
  void take_values(std::span<const float> values, bool other);
  /// Once per frame. `moved`: the bodies or their values are not those of the last call. `now_s` only grows.
  void follow(const render::DrawnBodies& bodies, bool moved, double now_s);

  const render::ValueRanges& ranges() const { return ranges_; }
  /// Fills in how many bodies have values beyond the ends.
  void describe(Legend& legend, const render::Appearance& appearance) const;
  /// What was sampled of the quantity that the colours show.
  struct Sample {
    bool has_finite = false;    ///< of these, some are finite
    std::optional<float> only;  ///< the value, if all of them have the same
  };
  /// None if nothing was sampled.
  std::optional<Sample> sample(const render::Appearance& appearance) const;

 private:
  const std::vector<float>& sampled(const render::Appearance& appearance) const;
  void request(const render::DrawnBodies& bodies);
  void take(const std::vector<glm::vec4>& sample);

  const bool lockstep_;
  render::ValueRanges ranges_;
  AutoRange speed_, value_;
  bool value_is_known_ = false;  // a range was measured
  render::BufferReadback readback_;
  bool sample_is_old_ = true;                    // the bodies have moved since it was asked for
  double period_s_ = least_period_s;             // grows while speeds do not
  double sampled_s_ = 0, now_s_ = 0;             // of the last request, of the last follow()
  std::vector<float> speeds_, masses_, values_;  // of the sampled bodies
};

}  // namespace orrery
