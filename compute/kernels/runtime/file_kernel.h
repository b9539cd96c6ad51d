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

/// Function that evaluates a kernel once. Returns the accelerations of `targets`, or of all bodies if `targets` is
/// empty, due to all bodies. It has one entry per body; entries that the kernel does not write are NaN.
using KernelCall = std::function<std::vector<Vec4>(std::span<const Vec4> bodies, std::span<const int> targets)>;

/// Checks a kernel by several calls. Returns the accelerations of `targets`, or of all bodies if `targets` is empty.
/// Calls with other bodies alternate with these; a last call has only some of the targets. Throws std::runtime_error,
/// one line, if calls with the same bodies differ by more than `tolerance` allows, or if the last call writes other
/// bodies than its targets. The caller must check that the results are right and finite.
std::vector<Vec4> checked_accelerations(std::span<const Vec4> bodies, const Tolerance& tolerance,
                                        const KernelCall& call, std::span<const int> targets = {});

/// Mode in which a kernel file runs.
enum class FileKernelUse {
  plain,
  /// Checks: each evaluation that only stores accelerations makes the calls of checked_accelerations(). The arrays are
  /// copies between guard regions: a body read past the end is NaN, and a write past the end is an error.
  guarded,
};

/// Throws KernelFileError if a built-in kernel has the file's id.
void require_free_id(const KernelCatalog& kernels, const KernelFile& file);

/// Adds the file to the catalog as a kernel, in place of an earlier version. KernelInfo::create compiles it for a
/// device and settings; without a device, it only compiles and returns null. Throws as require_free_id(), and
/// UsageError in a build without CUDA.
KernelPtr put_file_kernel(KernelCatalog& kernels, std::shared_ptr<const KernelFile> file, int version = 1,
                          FileKernelUse use = FileKernelUse::plain, const Compiler& compiler = compile_here);

/// Returns why kernel files cannot run in this build, one line; empty if they can.
std::string no_file_kernels();

/// Returns the file as a kernel: compiles it for both laws and loads the result onto the device. Only in builds with
/// CUDA. Throws KernelFileError; UsageError if the device cannot launch it with these settings; std::runtime_error if
/// there is no compiler.
std::unique_ptr<ForceKernel> load_file_kernel(std::shared_ptr<const KernelFile> file, const Settings& settings,
                                              const cuda::Device& device, FileKernelUse use, const Compiler& compiler);

}  // namespace orrery
