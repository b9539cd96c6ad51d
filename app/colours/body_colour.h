// A body colour: a quantity of the bodies that their colours can show.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/vec.h"
#include "compute/scenes/scene.h"
#include "compute/sim/command.h"
#include "compute/snapshots/units.h"
#include "render/appearance.h"

namespace orrery {

/// A value that the shader computes, see render::ColourBy::glsl.
struct ComputedValue {
  /// The same on the CPU, for a sample of the bodies: the automatic range and the legend need it. `position` has the
  /// mass in w; `sight` is the unit vector along the camera's view.
  float (*of)(const Vec4& position, const Vec4& velocity, const Vec3& sight) = nullptr;
  /// A body with its value. A test compares it with of().
  struct Example {
    Vec4 position, velocity;
    Vec3 sight;
    float value;
  };
  Example example{};
};

/// Inputs that values are made from in one frame.
struct ValueSources {
  const Status& status;
  const Parts& parts;
  int count;      ///< of the drawn bodies
  bool moved;     ///< the drawn bodies are not those of the last frame
  double now_s;   ///< only grows
  bool lockstep;  ///< nothing depends on how long things take, and values belong to the drawn bodies
  std::shared_ptr<const std::vector<float>> distances{};  ///< from the same bodies of another run; null: there is none
  std::optional<std::vector<Vec4>> positions{};           ///< that wants_positions() asked for, once they are read
};

/// The values of one colour, where the shader cannot compute them. Lives as long as that colour shows the same bodies
/// and BodyColour::basis gives the same text.
class ColourValues {
 public:
  virtual ~ColourValues() = default;
  /// Whether the drawn positions are to be read back; called once per frame, before renew(). Once it has returned true,
  /// it must not do so again before renew() had the positions.
  virtual bool wants_positions(const ValueSources& from);
  /// Brings `values` up to date: one per body; NaN: not known, as all are at first. Returns whether any has changed.
  virtual bool renew(const ValueSources& from, std::vector<float>& values) = 0;
};

template <class Values>
std::unique_ptr<ColourValues> create_values() {
  return std::make_unique<Values>();
}

/// The parts that bodies belong to, if the colour has ColourBy::Source::parts.
struct PartNames {
  std::span<const std::string> names;  ///< by number; if there are more than colours, some parts share one
  const char* without_names = "";      ///< what all bodies are if there are no names
  std::string why_unknown{};           ///< not empty: nothing is known
};

/// A body colour's descriptor, one per file like the kernels.
struct BodyColour {
  const char* id;                        ///< the word in commands and files
  const char* title;                     ///< in lists
  const char* notes;                     ///< sentences that say what it is
  const char* quantity;                  ///< what the legend calls the value; empty: it shows none
  const char* unit = "";                 ///< of the value where G = 1, as the legend shows it; empty: none
  std::optional<Dimension> dimension{};  ///< of the value, which is shown in units of the file; none: it has no unit
  const render::ColourBy* by;            ///< how the picture shows it; no other colour has the same object
  bool about_zero = false;               ///< values may be negative, and the automatic range has 0 in its middle

  ComputedValue computed{};                                    ///< for Source::computed
  std::unique_ptr<ColourValues> (*create)() = nullptr;         ///< for Source::values and parts
  std::string (*basis)(const Status& status) = nullptr;        ///< text of all that values depend on, but the bodies
  std::optional<Command> (*request)(const Status&) = nullptr;  ///< what the simulation has to read now, if anything
  bool probes_forces = false;  ///< values need the force errors of all bodies; while paused, each body's once
  bool compares_runs = false;  ///< values exist only while two runs are compared; the range jumps to new ones
  PartNames (*parts)(const Status&, const Parts&) = nullptr;  ///< for Source::parts
  float (*class_unit)(const Status&) = nullptr;               ///< values are this times powers of two
  std::string (*why_unknown)(const Status&) = nullptr;        ///< why no body has a value; null: it is not measured yet
};

/// All colours, in the order of lists.
std::span<const BodyColour* const> body_colours();
/// Throws UsageError that lists the known ids.
const BodyColour& find_body_colour(std::string_view id);
/// The colour of an appearance whose colour_by is that of one of them.
const BodyColour& body_colour(const render::Appearance& appearance);

/// Text that 'orrery help colours' prints, or a table in Markdown.
std::string colour_reference(bool markdown);

/// Reads the accelerations: not during a CPU step, and only if those of this step are not known.
std::optional<Command> request_accelerations(const Status& status);

/// The magnitudes of the accelerations in the last evaluation, each passed through `convert()`.
class AccelerationValues : public ColourValues {
 public:
  bool renew(const ValueSources& from, std::vector<float>& values) override;

 private:
  virtual float convert(const Status&, float acceleration) const { return acceleration; }

  std::shared_ptr<const Accelerations> taken_;
};

/// Time from one computation of local densities to the next, in s, if one takes `cost_s` of a processor: at most 2 % of
/// the time, but at least every second as long as that is a quarter of the time.
double density_interval_s(double cost_s);

}  // namespace orrery
