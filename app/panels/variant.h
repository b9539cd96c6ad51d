#pragma once

#include <string_view>

#include "app/view/command.h"
#include "app/view/status.h"
#include "compute/sim/command.h"

namespace orrery {

/// Null where this build has no kernel of this name.
const KernelInfo* known_kernel(std::string_view id);

/// Reads back what Settings::to_string wrote: "block=256 split=auto".
Settings::Values values_of(std::string_view settings);

/// Whether `result` is of what runs now, whatever the number of bodies.
bool is_present_variant(const Result& result, const Status& status);
/// Asks for the kernel, settings, law and integrator of `result`, as far as they are others than now.
void return_to(const Result& result, const Status& status, Requests& out);

}  // namespace orrery
