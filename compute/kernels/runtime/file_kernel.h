#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "compute/core/vec.h"
#include "compute/kernels/catalog.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/runtime/compile_kernel.h"
#include "compute/kernels/runtime/kernel_file.h"

namespace orrery {

/// One call of a kernel: it returns the accelerations of `targets`, or of all bodies if there are none, due to all
/// bodies. One entry per body; an entry that the kernel does not write is NaN.
using KernelCall = std::function<std::vector<Vec4>(std::span<const Vec4> bodies, std::span<const int> targets)>;

/// Returns the accelerations of `targets`, or of all bodies if there are none, of the last of several calls: with other
/// bodies before and in between, and with some of these bodies as targets. The caller has to check whether they are
/// right and finite. Throws std::runtime_error, one line, if two calls with the same bodies differ by more than kernels
/// within `tolerance` can, or if the call with targets writes other bodies than these.
std::vector<Vec4> checked_accelerations(std::span<const Vec4> bodies, const Tolerance& tolerance,
                                        const KernelCall& call, std::span<const int> targets = {});

/// How a kernel file runs.
enum class FileKernelUse {
  plain,
  /// Use in checks: each evaluation that only stores accelerations makes the calls of checked_accelerations(), on
  /// copies between regions that a wrong access shows: a body read past the end is NaN, and a write past the end is an
  /// error.
  guarded,
};

/// Throws KernelFileError if a built-in kernel has the file's id.
void require_free_id(const KernelCatalog& kernels, const KernelFile& file);

/// Makes the file a kernel of the catalog, in place of an earlier version. It is compiled when it is created, for the
/// device and the settings of that moment; without a device, it is only compiled, and creating it gives null. Throws as
/// require_free_id(), and UsageError in a build without CUDA.
KernelPtr put_file_kernel(KernelCatalog& kernels, std::shared_ptr<const KernelFile> file, int version = 1,
                          FileKernelUse use = FileKernelUse::plain, const Compiler& compiler = compile_here);

/// Returns why kernel files cannot run in this build, one line; empty if they can.
std::string no_file_kernels();

/// Compiles the file for both laws and loads the result onto the device. Not in a build without CUDA. Throws
/// KernelFileError; UsageError if the device cannot launch it with these settings; std::runtime_error if there is no
/// compiler.
std::unique_ptr<ForceKernel> load_file_kernel(std::shared_ptr<const KernelFile> file, const Settings& settings,
                                              const cuda::Device& device, FileKernelUse use, const Compiler& compiler);

}  // namespace orrery
