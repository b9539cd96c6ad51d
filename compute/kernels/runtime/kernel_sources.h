#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compute/core/embedded.h"

namespace orrery {

/// The headers that a kernel file can include.
std::span<const SourceFile> device_headers();
/// The files of the built-in kernels, those of CUDA also in a build without CUDA.
std::span<const SourceFile> kernel_sources();
/// The id of the kernel in this file: "cuda-tiled" for "compute/kernels/direct/cuda_tiled.cu".
std::string kernel_id_of(const SourceFile& source);
/// The file of the built-in kernel with this id; null if there is none.
const SourceFile* find_kernel_source(std::string_view id);

}  // namespace orrery
