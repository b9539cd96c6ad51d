#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "app/lab/roofline/limits.h"

namespace orrery {

/// Instructions that a CUDA kernel's inner loop issues per pair of bodies, counted in its machine code.
struct InstructionCounts {
  std::optional<double> per_pair{};
  /// Operations of the special function units among them; none if some are in double precision, which have another
  /// rate.
  std::optional<double> mufu_per_pair{};
  bool double_precision = false;  ///< some are in double precision: they issue at another rate than the others
  std::string reason{};           ///< why they are not known, one line; empty if they are

  /// For a kernel that evaluates `pairs_per_interaction` pairs for each interaction.
  InteractionCost cost(double pairs_per_interaction) const;
};

/// Counts in the disassembly of one function as cuobjdump prints it. A pair is known by its reciprocal square root: of
/// the loops with no such loop inside, the one with the most counts, its instructions divided by its reciprocal square
/// roots. Functions that it calls are not counted, nor the few instructions around a call that a branch skips: an exact
/// square root has such code for denormals, which hardly ever runs.
InstructionCounts counts_in_sass(std::string_view sass);

/// Counts in this program's own code of `function`, a symbol, for this architecture (90 is sm_90), with cuobjdump of
/// the CUDA toolkit. Takes seconds; returns early, with a reason, after a stop request.
InstructionCounts counts_in_this_program(const std::string& function, int architecture,
                                         const std::stop_token& stop = {});

}  // namespace orrery
