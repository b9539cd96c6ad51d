#pragma once

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "compute/core/bodies.h"
#include "compute/core/law.h"
#include "compute/core/text.h"
#include "compute/sim/command_row.h"

// The commands that change how bodies move. command.h lists all.
namespace orrery {

/// Throw UsageError that lists the known ids.
void check_integrator(const std::string& id);
void check_law(const std::string& id);

struct SelectIntegrator {
  std::string id;

  template <class = void>
  static constexpr auto describe() {
    return command_row<SelectIntegrator>("integrator", "Selects an integrator.",
                                         Argument<&SelectIntegrator::id>{{.name = "id", .check = check_integrator}});
  }
};
struct SelectLaw {
  std::string id;

  template <class = void>
  static constexpr auto describe() {
    return command_row<SelectLaw>("law", "Selects the force between two bodies.",
                                  Argument<&SelectLaw::id>{{.name = "id", .check = check_law}});
  }
};
/// `slider` is what a slider spans, here and below; other values of `range` are typed.
struct SetTimeStep {
  float time_step;

  static constexpr Range<float> range{0, std::numeric_limits<float>::infinity(), "in units of time", true};
  static constexpr Range<float> slider{1e-5f, 0.1f};

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetTimeStep>("dt", "Sets the time step.",
                                    Argument<&SetTimeStep::time_step>{{.name = "value", .range = SetTimeStep::range}});
  }
};
/// With leapfrog-blocks, and in colours by time-step class, a body's step is at most sqrt(2 eta L / |a|), see
/// StepCriterion. With hermite4-blocks, it is that of Aarseth's criterion, from the end of the body's present step on.
struct SetEta {
  float eta;

  static constexpr Range<float> range{0, 1, "", /*open=*/true};
  static constexpr Range<float> slider{1e-5f, 0.1f};

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetEta>("eta", "Sets the accuracy of block time steps.",
                               Argument<&SetEta::eta>{{.name = "value", .range = SetEta::range}});
  }
};
/// The digits of the bodies' positions and velocities. The bodies keep their state; `single` drops its low words.
struct SetDigits {
  Digits digits;

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetDigits>("digits",
                                  "Sets whether positions and velocities are floats, or floats with low words, so "
                                  "that steps lose no digits.",
                                  Argument<&SetDigits::digits>{{.name = "digits"}});
  }
};
struct SetSoftening {
  float softening;

  static constexpr Range<float> range{Law::least_gravity_softening, Law::max_softening, "in units of length"};
  static constexpr Range<float> slider{1e-4f, 1};

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetSoftening>(
        "softening", "Sets the softening length.",
        Argument<&SetSoftening::softening>{{.name = "value", .range = SetSoftening::range}});
  }
};
struct SetRepulsion {
  float repulsion;

  static constexpr Range<float> range{0, Law::max_repulsion, "in units of length squared"};
  static constexpr Range<float> slider{0, 1};

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetRepulsion>(
        "repulsion", "Sets H of the law attract-repel.",
        Argument<&SetRepulsion::repulsion>{{.name = "value", .range = SetRepulsion::range}});
  }
};
struct SetDrag {
  float drag;

  static constexpr Range<float> range{0, Law::max_drag, "in units of mass per time"};
  static constexpr Range<float> slider{0, 0.01f};

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetDrag>("drag", "Sets D of the law attract-repel.",
                                Argument<&SetDrag::drag>{{.name = "value", .range = SetDrag::range}});
  }
};

template <>
struct EnumWords<Digits> {
  static constexpr std::array<std::pair<Digits, std::string_view>, 2> all() {
    return {{{Digits::single, "float"}, {Digits::compensated, "compensated"}}};
  }
};

}  // namespace orrery
