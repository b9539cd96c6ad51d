// Body colours: quantities of the bodies that their colours can show.
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
  /// Computes the same value on the CPU, for a sample of the bodies: the automatic range and the legend need it.
  /// `position` has the mass in w; `sight` is the unit vector along the camera's view.
  float (*of)(const Vec4& position, const Vec4& velocity, const Vec3& sight) = nullptr;
  /// A body with the value that of() must return for it; used by a test.
  struct Example {
    Vec4 position, velocity;
    Vec3 sight;
    float value;
  };
  Example example{};
};

/// Inputs of one frame from which values are made.
struct ValueSources {
  const Status& status;
  const Parts& parts;
  int count;      ///< number of drawn bodies
  bool moved;     ///< the drawn bodies changed since the last frame
  double now_s;   ///< time in seconds; never decreases
  bool lockstep;  ///< deterministic: values belong to the drawn bodies, whatever the computing times
  std::shared_ptr<const std::vector<float>> distances{};  ///< to the same bodies of another run; null: there is none
  std::optional<std::vector<Vec4>> positions{};           ///< read back after wants_positions()
};

/// Values of a colour that the shader cannot compute. An object lives as long as that colour shows the same bodies and
/// BodyColour::basis returns the same text.
class ColourValues {
 public:
  virtual ~ColourValues() = default;
  /// Returns whether the drawn positions are to be read back. Called once per frame, before renew(). After it has
  /// returned true, it must return false until renew() has received the positions.
  virtual bool wants_positions(const ValueSources& from);
  /// Updates `values`, one per body; NaN: not known, the initial state. Returns whether any has changed.
  virtual bool renew(const ValueSources& from, std::vector<float>& values) = 0;
};

template <class Values>
std::unique_ptr<ColourValues> create_values() {
  return std::make_unique<Values>();
}

/// Names of the parts that bodies belong to, for a colour with ColourBy::Source::parts.
struct PartNames {
  std::span<const std::string> names;  ///< by part number; parts share colours if there are more parts than colours
  const char* without_names = "";      ///< the legend's text for all bodies if there are no names
  std::string why_unknown{};           ///< why the parts are not known; empty: they are known
};

/// Descriptor of a body colour; each has its own file, as kernels do.
struct BodyColour {
  const char* id;                        ///< the word in commands and files
  const char* title;                     ///< in lists
  const char* notes;                     ///< sentences that say what it is
  const char* quantity;                  ///< what the legend calls the value; empty: it shows none
  const char* unit = "";                 ///< of the value where G = 1, as the legend shows it; empty: none
  std::optional<Dimension> dimension{};  ///< of the value, which is shown in units of the file; none: it has no unit
  const render::ColourBy* by;            ///< how the picture shows it; no other colour has the same object
  bool about_zero = false;               ///< values may be negative, and the automatic range has 0 in its middle

  ComputedValue computed{};                              ///< for Source::computed
  std::unique_ptr<ColourValues> (*create)() = nullptr;   ///< for Source::values and Source::parts
  std::string (*basis)(const Status& status) = nullptr;  ///< all that values depend on besides the bodies, as text
  std::optional<Command> (*request)(const Status&) = nullptr;  ///< what the simulation must read now, if anything
  bool probes_forces = false;  ///< values need the force errors of all bodies; while paused, each body is measured once
  bool compares_runs = false;  ///< values need a comparison of two runs; new ones restart the range
  PartNames (*parts)(const Status&, const Parts&) = nullptr;  ///< for Source::parts
  float (*class_unit)(const Status&) = nullptr;               ///< values are this unit times powers of two
  std::string (*why_unknown)(const Status&) = nullptr;        ///< why no body has a value; null: none is measured yet
};

/// Returns all colours, in the order of lists.
std::span<const BodyColour* const> body_colours();
/// Returns the colour with this id. Throws UsageError that lists the known ids.
const BodyColour& find_body_colour(std::string_view id);
/// Returns the colour whose `by` is the appearance's colour_by.
const BodyColour& body_colour(const render::Appearance& appearance);

/// Returns the text that 'orrery help colours' prints, or a Markdown table.
std::string colour_reference(bool markdown);

/// Returns a command that reads the accelerations; none during a CPU step or if those of the current step are known.
std::optional<Command> request_accelerations(const Status& status);

/// Values from the magnitudes of the latest accelerations that were read, each passed through `convert()`.
class AccelerationValues : public ColourValues {
 public:
  bool renew(const ValueSources& from, std::vector<float>& values) override;

 private:
  virtual float convert(const Status&, float acceleration) const { return acceleration; }

  std::shared_ptr<const Accelerations> taken_;
};

/// Returns the time between the starts of two computations of local densities, in s. A computation takes `cost_s`
/// seconds of processor time. The interval keeps their share of time at 2 %, but is shortened to 1 s for shares up to
/// 25 %.
double density_interval_s(double cost_s);

}  // namespace orrery
