#pragma once

#include <string>
#include <string_view>

#include "app/lessons/lesson.h"
#include "compute/kernels/catalog.h"

namespace orrery {

/// Reads a lesson. Rows are checked against the catalog; if it has no CUDA kernels, ids that begin with cuda- are
/// taken as they are. Throws UsageError that starts with "NAME:LINE: " and names the valid choices.
Lesson parse_lesson(std::string_view text, const std::string& name, const KernelCatalog& kernels);

/// The same from a file. Throws std::runtime_error as read_text() does.
Lesson read_lesson(const std::string& file, const KernelCatalog& kernels);

}  // namespace orrery
