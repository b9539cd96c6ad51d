#pragma once

#include <string>
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

/// A message of the compiler, and behind it what it means for the text of a kernel file. The message alone if nothing
/// is known about it.
std::string with_meaning(const std::string& message);

/// Why a kernel failed while it ran, or could not be loaded, in words about the kernel. `failure` is the text of a
/// cuda::Error, "CALL: DESCRIPTION (NAME)"; any other text is returned as it is.
std::string in_plain_words(const std::string& failure);

/// A C++ name as it stands in the source: "f(float)" for "_Z1ff". Another name as it is.
std::string source_name(const std::string& symbol);

}  // namespace orrery
