#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace orrery {

/// Instructions that a CUDA kernel's inner loop issues for one pair of bodies, counted in its machine code.
struct Slots {
  std::optional<double> per_interaction;
  /// Operations of the special function units among them; none where some are in double precision, which have another
  /// rate.
  std::optional<double> mufu_per_interaction{};
  bool double_precision = false;  ///< some are in double precision: they issue at another rate than the others
  std::string reason;             ///< why that is not known, one line; empty where it is
};

/// From the disassembly of one function as cuobjdump prints it. A pair is known by its reciprocal square root: of the
/// loops with no such loop inside, the one with the most counts, its instructions over its reciprocal square roots.
/// What it calls is not counted, nor the few instructions before and after a call that a branch passes by: an exact
/// square root has such code for denormals, which hardly ever runs.
Slots slots_in_sass(std::string_view sass);

/// Of this program's own code of `function`, a symbol, for this architecture (90 is sm_90), by the CUDA toolkit's
/// cuobjdump where it is installed. Takes seconds; returns early, with a reason, once `stop` is asked for.
Slots slots_in_this_program(const std::string& function, int architecture, const std::stop_token& stop = {});

}  // namespace orrery
