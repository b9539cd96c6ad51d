#pragma once

#include "app/cli/options.h"

namespace orrery {

/// `orrery lesson`: lists the lessons, or prints one, measures it and prints its answer. Throws UsageError or
/// std::runtime_error.
int run_lesson(const KernelCatalog& kernels, const LessonOptions& options);

}  // namespace orrery
