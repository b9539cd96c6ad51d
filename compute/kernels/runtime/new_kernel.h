#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compute/kernels/catalog.h"
#include "compute/kernels/runtime/kernel_file.h"

namespace orrery {

/// Returns the names of the starting points of new kernel files: "tiled", the shortest one, then ids of built-in
/// kernels.
std::vector<std::string> starting_points();
/// Returns why no kernel file can start from the built-in kernel `id`, one line that lists the starting points; empty
/// if one can, or if there is no such kernel.
std::string why_no_start(std::string_view id);
/// Returns the text of a kernel file with the id `id` that starts from `from`, with the device code of the real kernel.
/// Throws UsageError that states why `from` is no starting point, and lists them.
std::string new_kernel_text(const std::string& id, std::string_view from);
/// Returns new_kernel_text() as the file ID.cu, which can be added to `kernels`. Throws UsageError if the id is not
/// allowed, and as require_free_id().
KernelFile new_kernel_file(const KernelCatalog& kernels, const std::string& id, std::string_view from);

}  // namespace orrery
