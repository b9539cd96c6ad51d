#pragma once

#include <vector>

#include "app/lab/variants.h"
#include "compute/sim/backends.h"

namespace orrery {

/// Compiles kernel files even if no GPU can run them, so that their errors are shown at their lines.
/// Throws KernelFileError.
void compile_kernel_files(const Backends& backends);

/// Compiles a kernel file for both laws and for each of `variants`, which are its settings, before one of them runs.
/// Prints how many there are to the standard error. Settings that the GPU cannot launch are no failure. Throws
/// KernelFileError that names the settings. Does nothing where there is no compiler.
void compile_settings(const Backends& backends, const std::vector<Variant>& variants);

}  // namespace orrery
