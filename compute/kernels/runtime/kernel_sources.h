#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// A file of the sources that was compiled into the program, by orrery_embed() of cmake/OrreryEmbed.cmake.
struct SourceFile {
  std::string_view name;  ///< its path from the top folder
  std::string_view bytes;
};

/// Returns the headers that a kernel file can include: those with device code that built-in kernels use, and the
/// headers that these include.
std::span<const SourceFile> device_headers();

/// Returns device_headers(), the stand-ins for the host headers that they include, as host/NAME, and headers under
/// former names.
std::span<const SourceFile> compiler_headers();

/// Returns why a kernel file cannot include a header with device code, one line; empty if it can, or if there is no
/// such header.
std::string_view why_no_device_header(std::string_view name);

/// The sources of a built-in kernel, of CUDA kernels also in a build without CUDA.
struct KernelSource {
  std::string id;
  /// The kernel's own file, then the other files of the kernel: first those of the same folder.
  std::vector<const SourceFile*> files;
};

std::span<const KernelSource> kernel_sources();

/// Returns the id of the kernel in this file: "cuda-tiled" for "compute/kernels/direct/cuda_tiled.cu".
std::string kernel_id_of(const SourceFile& source);

/// Returns the source of this program with this path from the top folder; null if it is not embedded.
const SourceFile* find_source(std::string_view name);

}  // namespace orrery
