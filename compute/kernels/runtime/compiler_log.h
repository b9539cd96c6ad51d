#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compute/kernels/runtime/kernel_file.h"

namespace orrery {

/// Text of the static assertion about the function's parameters, by which its message is recognized.
inline constexpr std::string_view wrong_parameters = "orrery: wrong parameters";

/// Causes why a compiler takes for ever, or all memory.
inline constexpr std::string_view endless_causes = "templates that are too deep, or unrolled loops that are too long";

/// Returns the messages of NVRTC and of ptxas in `log`, each at its line of `file`, in words that need no knowledge of
/// the text around the file: errors first. If the log has no error, none of the messages is one. Very long lines lose
/// their end.
std::vector<FileMessage> read_compiler_log(std::string_view log, const KernelFile& file);

/// Returns a message of the compiler, followed by what it means for the text of a kernel file. Returns the message
/// alone if nothing is known about it.
std::string with_meaning(const std::string& message);

/// Returns why a kernel failed while it ran, or could not be loaded, in words about the kernel. `failure` is the text
/// of a cuda::Error, "CALL: DESCRIPTION (NAME)"; any other text is returned as it is.
std::string in_plain_words(const std::string& failure);

/// Returns a C++ name as the source has it: "f(float)" for "_Z1ff". Returns any other name as it is.
std::string source_name(const std::string& symbol);

}  // namespace orrery
