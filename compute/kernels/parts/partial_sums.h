#pragma once

#include "compute/kernels/epilogue.h"
#include "compute/kernels/targets.h"

struct CUstream_st;

namespace orrery {

/// Adds up `splits` rows of partial accelerations, in order, and finishes every body: the second pass of a kernel that
/// divides the sum over j among blocks. `d_partials` holds splits x count entries (ax, ay, az, unused), one row per
/// split.
void finish_partial_sums(const Vec4* d_partials, int splits, const Vec4* d_bodies, int count, const Epilogue& epilogue,
                         CUstream_st* stream);
/// The same for targets: splits x targets.count entries, in the order of the targets.
void finish_partial_sums_of_targets(const Vec4* d_partials, int splits, const Vec4* d_bodies, const Targets& targets,
                                    const Epilogue& epilogue, CUstream_st* stream);

}  // namespace orrery
