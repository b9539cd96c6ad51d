#pragma once

#include "app/cli/options.h"

namespace orrery {

/// `orrery convert`: returns the exit status. Throws std::runtime_error if a file cannot be read or written.
int run_convert(const ConvertOptions& options);

}  // namespace orrery
