#pragma once

#include <string>

#include "compute/kernels/runtime/kernel_file.h"

namespace orrery {

/// Reads and parses a kernel file. Throws KernelFileError, and std::runtime_error as read_text().
KernelFile read_kernel_file(const std::string& path);

}  // namespace orrery
