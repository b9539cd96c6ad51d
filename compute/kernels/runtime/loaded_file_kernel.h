#pragma once

#include <memory>

#include "compute/kernels/runtime/file_kernel.h"

namespace orrery {

/// Compiles the file for both laws and loads the result onto the device. Throws KernelFileError; UsageError if the
/// device cannot launch it with these settings; std::runtime_error if there is no compiler.
std::unique_ptr<ForceKernel> load_file_kernel(std::shared_ptr<const KernelFile> file, const Settings& settings,
                                              const cuda::Device& device, FileKernelUse use, const Compiler& compiler);

}  // namespace orrery
