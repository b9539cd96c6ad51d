#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// A source file that orrery_embed() of cmake/OrreryEmbed.cmake has compiled into the program.
struct SourceFile {
  std::string_view name;  ///< path from the top folder
  std::string_view bytes;
};

/// Returns the headers that a kernel file can include: those with device code that built-in kernels use, and the
/// headers that these include.
std::span<const SourceFile> device_headers();

/// Returns all headers for the compiler: device_headers(), stand-ins for the host headers that they include, named
/// host/NAME, and headers under former names.
std::span<const SourceFile> compiler_headers();

/// Returns why a kernel file cannot include a header with device code, one line; empty if it can, or if there is no
/// such header.
std::string_view why_no_device_header(std::string_view name);

/// Sources of a built-in kernel. A build without CUDA has them for CUDA kernels, too.
struct KernelSource {
  std::string id;
  /// The kernel's own file, then its other files: first the ones in the same folder.
  std::vector<const SourceFile*> files;
};

std::span<const KernelSource> kernel_sources();

/// Returns the id of the kernel in this file: "cuda-tiled" for "compute/kernels/direct/cuda_tiled.cu".
std::string kernel_id_of(const SourceFile& source);

/// Returns the embedded source with this path from the top folder; null if there is none.
const SourceFile* find_source(std::string_view name);

}  // namespace orrery
