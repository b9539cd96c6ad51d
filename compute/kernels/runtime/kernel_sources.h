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

/// Returns what a kernel file can include: the headers with device code that built-in kernels use, and what these
/// include.
std::span<const SourceFile> device_headers();

/// Returns the same, the stand-ins for host headers that they include, as host/NAME, and headers under former names.
std::span<const SourceFile> compiler_headers();

/// Returns why a kernel file cannot include a header with device code, one line; empty if it can, or if there is no
/// such header.
std::string_view why_no_device_header(std::string_view name);

/// The sources of a built-in kernel, of CUDA kernels also in a build without CUDA.
struct KernelSource {
  std::string id;
  /// Its own file first, then the other files that it is made of: those of its folder before the others.
  std::vector<const SourceFile*> files;
};

std::span<const KernelSource> kernel_sources();

/// Returns the id of the kernel in this file: "cuda-tiled" for "compute/kernels/direct/cuda_tiled.cu".
std::string kernel_id_of(const SourceFile& source);

/// Returns the source of this program with this path from the top folder; null if it is not embedded.
const SourceFile* find_source(std::string_view name);

}  // namespace orrery
