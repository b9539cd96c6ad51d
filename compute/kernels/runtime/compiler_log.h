#pragma once

#include <string_view>
#include <vector>

#include "compute/kernels/runtime/kernel_file.h"

namespace orrery {

/// What the static assertion about the function's parameters says, so that its message can be recognized.
inline constexpr std::string_view wrong_parameters = "orrery: wrong parameters";

/// Why a compiler takes for ever, or all memory.
inline constexpr std::string_view endless_causes = "templates that are too deep, or unrolled loops that are too long";

/// The messages of NVRTC and of ptxas in `log`, each at its line of `file`, in words that need no knowledge of the text
/// around the file: errors first. If the log has no error, none of the messages is one. Very long lines lose their end.
std::vector<FileMessage> read_compiler_log(std::string_view log, const KernelFile& file);

}  // namespace orrery
