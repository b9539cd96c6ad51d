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
/// Returns why a kernel file cannot start from the built-in kernel `id`: one line that lists the starting points. Empty
/// if it can, or if there is no such kernel.
std::string why_no_start(std::string_view id);
/// Returns the text of a new kernel file with the id `id` and the device code of the starting point `from`. Throws
/// UsageError if there is no such starting point; the text states why and lists all of them.
std::string new_kernel_text(const std::string& id, std::string_view from);
/// Returns new_kernel_text() as the kernel file ID.cu. Throws UsageError if the id is not allowed, and as
/// require_free_id() for `kernels`.
KernelFile new_kernel_file(const KernelCatalog& kernels, const std::string& id, std::string_view from);

}  // namespace orrery
