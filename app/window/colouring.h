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
/// Returns the quantile `q`, 0 to 1, of the values; 0 if there are none. Rounds a rank between two values outward.
/// Reorders `values`.
float percentile(std::vector<float>& values, double q);

/// Returns the range from percentile 2 to 98 of the finite values. It is never empty: equal values also have a colour.
render::ValueRange range_of(std::vector<float> values);

/// A range that follows occasional measurements. It grows immediately, so that all values have a colour even while they
/// grow fast. It shrinks within a quarter of a minute, so that a body keeps its colour.
class AutoRange {
 public:
  static constexpr double shrink_s = 15;  ///< time constant of the exponential decay

  /// Sets the range to `measured` immediately.
  void restart(const render::ValueRange& measured) { shown_ = measured_ = measured; }
  /// Makes `measured` the range to follow. Returns whether the range has grown.
  bool renew(const render::ValueRange& measured);
  /// Shrinks the range by the amount that is due after `passed_s` >= 0 seconds.
  void follow(double passed_s);
  const render::ValueRange& shown() const { return shown_; }
  const render::ValueRange& measured() const { return measured_; }

 private:
  render::ValueRange shown_, measured_;
};

/// Values of colours that the shader cannot compute: one number per body, in a GL buffer. Does nothing while another
/// colour is shown. Requires a current GL context.
class BodyValues {
 public:
  /// If `lockstep`, values belong to the drawn bodies, and they are renewed at times that do not depend on computing
  /// speed. Otherwise no function waits.
  explicit BodyValues(bool lockstep) : lockstep_{lockstep} {}

  /// Returns what the simulation must read now, if anything.
  static std::optional<Command> request(const Status& status, const render::Appearance& appearance);
  /// Returns whether force errors of all bodies are to be measured now. While paused, each body is measured once.
  bool wants_errors(const Status& status, const render::Appearance& appearance) const;

  /// Sets the distances of the bodies from those of another run, used from the next follow() on; null: none.
  void give_distances(std::shared_ptr<const std::vector<float>> distances) { distances_ = std::move(distances); }

  /// Kinds of change: none, new values, or a new subject (another quantity or other bodies), which restarts the range.
  enum class Change { none, values, subject };
  /// Updates the values. Call once per frame. `bodies` are the drawn bodies; `moved`: they changed since the last call;
  /// `now_s` is a time in seconds that never decreases.
  Change follow(const Status& status, const Parts& parts, const render::DrawnBodies& bodies,
                const render::Appearance& appearance, bool moved, double now_s);

  /// Returns the GL buffer for DrawnBodies::values.
  unsigned buffer() const { return buffer_.id(); }
  /// Returns one value per body; NaN: not known. Empty if no values are shown.
  const std::vector<float>& values() const { return values_; }
  /// Returns the share of bodies with known values, 0 to 1.
  float known() const;

 private:
  /// Subject of the values. If it changes, all values become unknown.
  struct Subject {
    const BodyColour* colour = nullptr;  // null: no values are shown
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

/// Automatic ranges of the colour map, used where the user has not fixed them. They follow a sample of the drawn
/// bodies, which is read back once per second, or up to ten times per second while speeds grow. A ComputedValue is
/// computed here for the sample. Requires a current GL context.
class Colouring {
 public:
  static constexpr double sample_period_s = 1, least_period_s = 0.1;
  static constexpr int most_sampled = 4096;

  /// If `lockstep`, samples belong to the drawn bodies. Otherwise they are some frames old, and no function waits.
  explicit Colouring(bool lockstep) : lockstep_{lockstep} {}

  /// Sets the ranges to `measured`, the ranges of all bodies.
  void restart(const render::ValueRanges& measured);
  /// Takes the values of all bodies; NaN: not known. `other`: they belong to another quantity or other bodies than
  /// before. `about_zero` as in BodyColour.
  void take_values(std::span<const float> values, bool other, bool about_zero = false);
  /// Updates the ranges. Call once per frame. `moved`: the bodies or their values changed since the last call. `sight`
  /// is the unit vector along the camera's view. `now_s` is a time in seconds that never decreases.
  void follow(const render::DrawnBodies& bodies, const render::Appearance& appearance, const Vec3& sight, bool moved,
              double now_s);

  const render::ValueRanges& ranges() const { return ranges_; }
  /// Sets the shares of bodies with values below and above the legend's range.
  void describe(Legend& legend, const render::Appearance& appearance) const;
  /// Summary of the sampled values of the quantity that the colours show.
  struct Sample {
    bool has_finite = false;    ///< at least one value is finite
    std::optional<float> only;  ///< the common value; none if the values differ
  };
  /// Returns the summary; none if nothing was sampled.
  std::optional<Sample> sample(const render::Appearance& appearance) const;

 private:
  const std::vector<float>& sampled(const render::Appearance& appearance) const;
  void request(const render::DrawnBodies& bodies);
  void take(std::vector<glm::vec4> sample);
  void compute_values(const render::Appearance& appearance, const Vec3& sight, bool fresh);

  const bool lockstep_;
  render::ValueRanges ranges_;
  AutoRange speed_, value_;
  bool value_is_known_ = false;  // value_ has a measured range
  render::BufferReadback readback_;
  bool sample_is_old_ = true;                    // the bodies have moved since the last request
  double period_s_ = least_period_s;             // time between requests; grows while speeds do not
  double sampled_s_ = 0, now_s_ = 0;             // times of the last request and of the last follow()
  std::vector<glm::vec4> sample_;                // positions, then velocities, of the sampled bodies
  std::vector<float> speeds_, masses_, values_;  // values of the sampled bodies
  const BodyColour* value_of_ = nullptr;         // colour for which values_ were computed; null: none
  Vec3 sight_;                                   // line of sight for which values_ were computed
};

Legend legend_of(const render::Appearance& appearance, const render::ValueRanges& ranges,
                 const render::OrbitCamera& camera);

/// Describes the single value of `whose` bodies, such as "all": the legend names it with its colour instead of a range.
/// Requires a legend with the colours of a range.
void describe_only_value(Legend& legend, const char* whose, float value, const std::optional<Units>& units);

/// Describes a legend without known values: removes colours and ends, and says why.
void describe_no_values(Legend& legend, std::string why);

/// Describes a legend of classes, `time_step` times powers of two. Each class within the range has its own colour.
void describe_classes(Legend& legend, const render::Appearance& appearance, const render::ValueRanges& ranges,
                      float time_step);

/// Describes the parts with their colours, or the reason why they are not known.
void describe_parts(Legend& legend, const PartNames& parts, render::Theme theme);

}  // namespace orrery
