#pragma once

#include <string>
#include <string_view>

#include "app/lab/variants.h"
#include "app/ui_state/view_options.h"

namespace orrery {

/// Reads `FRAME COMMAND ARGUMENTS` lines (see parse_command()) of at most 64 KB, at most a million of them; `#` at a
/// line's start or after a blank begins a comment. Kernels and settings are checked, `set` against the kernel that the
/// script has selected by that frame, at first one of `first`. With a `kernel_file`, or after a command that opens one,
/// an unknown id may be that of its kernel. Throws UsageError that starts with "NAME:LINE: " and names the valid
/// choices.
Script parse_script(std::string_view text, const std::string& name, const KernelCatalog& kernels,
                    const KernelSelection& first, bool kernel_file = false);

/// Reads a script from a file. Throws std::runtime_error as read_text() does.
Script read_script(const std::string& file, const KernelCatalog& kernels, const KernelSelection& first,
                   bool kernel_file = false);

}  // namespace orrery
