#pragma once

#include "compute/sim/backends.h"

namespace orrery {

/// Where no GPU can run them, kernel files are compiled all the same, so that their errors are shown at their lines.
/// Returns `backends`. Throws KernelFileError.
const Backends& with_compiled_files(const Backends& backends);

}  // namespace orrery
