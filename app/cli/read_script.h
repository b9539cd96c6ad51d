#pragma once

#include <string>
#include <string_view>

#include "app/lab/variants.h"
#include "app/ui_state/view_options.h"

namespace orrery {

/// Parses a script of `FRAME COMMAND ARGUMENTS` lines; see parse_command(). A line has at most 64 KB, a script at most
/// a million lines. `#` at the start of a line or after a blank begins a comment. Throws UsageError that starts with
/// "NAME:LINE: " and lists the valid choices.
/// Kernels and settings are checked: `set` against the kernel that the script has selected by that frame, initially one
/// of `first`. With a `kernel_file`, or after a command that opens one, an unknown id may be its kernel's.
Script parse_script(std::string_view text, const std::string& name, const KernelCatalog& kernels,
                    const KernelSelection& first, bool kernel_file = false);

/// Reads a script from a file. Throws std::runtime_error as read_text() does.
Script read_script(const std::string& file, const KernelCatalog& kernels, const KernelSelection& first,
                   bool kernel_file = false);

}  // namespace orrery
