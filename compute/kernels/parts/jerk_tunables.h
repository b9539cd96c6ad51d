#pragma once

#include "compute/kernels/dispatch.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/jerk_pair.h"

namespace orrery {

inline constexpr Values<JerkPrecision::mixed, JerkPrecision::fp64> jerk_precision_values{"mixed", "fp64"};
inline constexpr Tunable jerk_precision_tunable{
    .name = "precision",
    .notes =
        "mixed: differences of positions from double-floats, the rest of a pair in float, sums in double; fp64: "
        "everything in double.",
    .values = jerk_precision_values.names(),
    .initial = "mixed"};
/// The settings with which `auto` may choose a kernel that gives jerks.
inline constexpr const char* jerk_candidates[] = {"", "precision=fp64"};

}  // namespace orrery
