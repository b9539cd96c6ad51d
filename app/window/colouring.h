#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/colours/body_colour.h"
#include "app/ui_state/status.h"
#include "compute/core/vec.h"
#include "compute/scenes/scene.h"
#include "compute/sim/command.h"
#include "compute/sim/results.h"
#include "compute/snapshots/units.h"
#include "render/appearance.h"
#include "render/camera.h"
#include "render/gl/gl_objects.h"
#include "render/gl/readback.h"

namespace orrery {
/// Returns the quantile `q` (0 to 1); 0 if there are no values. A rank between two values is rounded outward. Reorders
/// `values`.
float percentile(std::vector<float>& values, double q);

/// Returns the range from percentile 2 to 98 of the finite values. It is never empty, so that equal values have a
/// colour, too.
render::ValueRange range_of(std::vector<float> values);

/// A range that follows what is measured now and then: it grows at once, so that all values have a colour, also while
/// they grow fast, and shrinks within a quarter of a minute, so that a body keeps its colour.
class AutoRange {
 public:
  static constexpr double shrink_s = 15;  ///< time constant

  /// Jumps to `measured`.
  void restart(const render::ValueRange& measured) { shown_ = measured_ = measured; }
  /// Follows `measured` from now on. Returns whether the range has grown.
  bool renew(const render::ValueRange& measured);
  /// Shrinks as much as is due in `passed_s` seconds, >= 0.
  void follow(double passed_s);
  const render::ValueRange& shown() const { return shown_; }
  const render::ValueRange& measured() const { return measured_; }

 private:
  render::ValueRange shown_, measured_;
};

/// The values of the colours that show_values(): one number per body, in a GL buffer. Costs nothing while another
/// colour is shown. Needs the GL context current.
class BodyValues {
 public:
  /// In `lockstep`, values belong to the drawn bodies and are computed at times that do not depend on what anything
  /// took. Otherwise nothing waits.
  explicit BodyValues(bool lockstep) : lockstep_{lockstep} {}

  /// Returns what the simulation has to read now, if anything.
  static std::optional<Command> request(const Status& status, const render::Appearance& appearance);
  /// Whether force errors of all bodies are to be measured now. While paused, each is measured once.
  bool wants_errors(const Status& status, const render::Appearance& appearance) const;

  /// Sets the distances of the bodies from those of another run, from the next follow() on; null: none.
  void give_distances(std::shared_ptr<const std::vector<float>> distances) { distances_ = std::move(distances); }

  /// Kinds of change: nothing, some values, or the quantity or the bodies, after which the range starts again.
  enum class Change { none, values, subject };
  /// Call once per frame. `bodies` are the drawn ones; `moved`: they are not those of the last call; `now_s` only
  /// grows.
  Change follow(const Status& status, const Parts& parts, const render::DrawnBodies& bodies,
                const render::Appearance& appearance, bool moved, double now_s);

  /// See DrawnBodies::values.
  unsigned buffer() const { return buffer_.id(); }
  /// One per body; NaN: not known. Empty if no values are shown.
  const std::vector<float>& values() const { return values_; }
  /// The share of the bodies whose values are known, 0 to 1.
  float known() const;

 private:
  /// Run that the values belong to. If it changes, none is known.
  struct Subject {
    const BodyColour* colour = nullptr;  // null: none is shown
    SceneRequest scene{};
    int count = 0;
    std::string basis{};  // see BodyColour::basis
    friend bool operator==(const Subject&, const Subject&) = default;
  };

  static Subject subject_of(const Status& status, const render::DrawnBodies& bodies,
                            const render::Appearance& appearance);
  void restart(Subject subject);
  bool renew(ValueSources from, const render::DrawnBodies& bodies);
  void upload();

  const bool lockstep_;
  Subject subject_;
  std::unique_ptr<ColourValues> source_;
  std::vector<float> values_;
  std::size_t known_ = 0;
  render::Buffer buffer_;
  std::shared_ptr<const std::vector<float>> distances_;
  render::BufferReadback positions_;
};

/// The ranges of values that the colour map spans where the user has not fixed them. They follow a sample of the drawn
/// bodies, which is read back once per second, and up to ten times while speeds grow, and for which a ComputedValue is
/// computed here. Needs the GL context current.
class Colouring {
 public:
  static constexpr double sample_period_s = 1, least_period_s = 0.1;
  static constexpr int most_sampled = 4096;

  /// In `lockstep`, samples belong to the drawn bodies. Otherwise they are some frames old, and nothing waits.
  explicit Colouring(bool lockstep) : lockstep_{lockstep} {}

  /// Jumps to `measured`, of all bodies.
  void restart(const render::ValueRanges& measured);
  /// Takes over DrawnBodies::values; NaN: not known. `other`: they are of another quantity or of other bodies than
  /// those before. `about_zero` as in BodyColour.
  void take_values(std::span<const float> values, bool other, bool about_zero = false);
  /// Call once per frame. `moved`: the bodies or their values are not those of the last call. `sight` is the unit
  /// vector along the camera's view. `now_s` only grows.
  void follow(const render::DrawnBodies& bodies, const render::Appearance& appearance, const Vec3& sight, bool moved,
              double now_s);

  const render::ValueRanges& ranges() const { return ranges_; }
  /// Fills in how many bodies have values beyond the ends.
  void describe(Legend& legend, const render::Appearance& appearance) const;
  /// Sample of the quantity that the colours show.
  struct Sample {
    bool has_finite = false;    ///< of these, some are finite
    std::optional<float> only;  ///< the value, if all of them have the same
  };
  /// None if nothing was sampled.
  std::optional<Sample> sample(const render::Appearance& appearance) const;

 private:
  const std::vector<float>& sampled(const render::Appearance& appearance) const;
  void request(const render::DrawnBodies& bodies);
  void take(std::vector<glm::vec4> sample);
  void compute_values(const render::Appearance& appearance, const Vec3& sight, bool fresh);

  const bool lockstep_;
  render::ValueRanges ranges_;
  AutoRange speed_, value_;
  bool value_is_known_ = false;  // a range was measured
  render::BufferReadback readback_;
  bool sample_is_old_ = true;                    // the bodies have moved since it was asked for
  double period_s_ = least_period_s;             // grows while speeds do not
  double sampled_s_ = 0, now_s_ = 0;             // of the last request, of the last follow()
  std::vector<glm::vec4> sample_;                // positions, then velocities of the sampled bodies
  std::vector<float> speeds_, masses_, values_;  // of the sampled bodies
  const BodyColour* value_of_ = nullptr;         // values_ were computed for this colour; null: they were not
  Vec3 sight_;                                   // and with this
};

Legend legend_of(const render::Appearance& appearance, const render::ValueRanges& ranges,
                 const render::OrbitCamera& camera);

/// Describes the single value of `whose` bodies: the legend names it with its colour instead of a range. Needs the
/// colours of a range.
void describe_only_value(Legend& legend, const char* whose, float value, const std::optional<Units>& units);

/// Describes a legend of which no value is known: it has no colours and no ends, but says why.
void describe_no_values(Legend& legend, std::string why);

/// Describes a legend of classes: `time_step` times powers of two. Each within the range has a colour of its own.
void describe_classes(Legend& legend, const render::Appearance& appearance, const render::ValueRanges& ranges,
                      float time_step);

/// Describes the parts with their colours, or why they are not known.
void describe_parts(Legend& legend, const PartNames& parts, render::Theme theme);

}  // namespace orrery
