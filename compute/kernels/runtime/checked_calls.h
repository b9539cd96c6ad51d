#pragma once

#include <functional>
#include <span>
#include <vector>

#include "compute/core/vec.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// One call of a kernel: the accelerations of `targets`, or of all bodies if there are none, due to all bodies. One
/// entry per body; an entry that the kernel does not write is NaN.
using KernelCall = std::function<std::vector<Vec4>(std::span<const Vec4> bodies, std::span<const int> targets)>;

/// The accelerations of `targets`, or of all bodies if there are none, of the last of several calls: with other bodies
/// before and in between, and with some of these bodies as targets. Whether they are right is the caller's matter, also
/// whether they are finite. Throws std::runtime_error, one line, if two calls with the same bodies differ by more than
/// kernels within `tolerance` can, or if the call with targets writes other bodies than these.
std::vector<Vec4> checked_accelerations(std::span<const Vec4> bodies, const Tolerance& tolerance,
                                        const KernelCall& call, std::span<const int> targets = {});

}  // namespace orrery
