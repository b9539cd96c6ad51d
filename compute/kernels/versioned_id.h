#pragma once

#include <string>

#include "compute/kernels/kernel.h"

namespace orrery {

/// Between the id of a kernel and its version, in what KernelCatalog::find() takes.
inline constexpr char version_mark = '@';

/// What KernelCatalog::find() takes for this very kernel: "mine@2" of a kernel file, else the id.
inline std::string versioned_id(const KernelInfo& kernel) {
  std::string id = kernel.id;
  if (kernel.file_version > 0) id += version_mark + std::to_string(kernel.file_version);
  return id;
}

}  // namespace orrery
