#pragma once

#include <memory>

#include "compute/kernels/catalog.h"
#include "compute/kernels/runtime/compile_kernel.h"
#include "compute/kernels/runtime/kernel_file.h"

namespace orrery {

/// How a kernel file runs.
enum class FileKernelUse {
  plain,
  /// For checks: each evaluation that only stores accelerations makes the calls of checked_accelerations(), on copies
  /// between regions that a wrong access shows: a body read past the end is NaN, and a write past the end is an error.
  guarded,
};

/// Throws KernelFileError if a built-in kernel has the file's id.
void require_free_id(const KernelCatalog& kernels, const KernelFile& file);

/// Makes the file a kernel of the catalog, in place of an earlier version. It is compiled when it is created, for the
/// device and the settings of that moment; without a device, it is only compiled, and creating it gives null. Throws as
/// require_free_id(), and UsageError in a build without CUDA.
KernelPtr put_file_kernel(KernelCatalog& kernels, std::shared_ptr<const KernelFile> file, int version = 1,
                          FileKernelUse use = FileKernelUse::plain, const Compiler& compiler = compile_here);

/// Whether kernel files can run in this build, and why not: one line; empty if they can.
std::string no_file_kernels();

}  // namespace orrery
