#pragma once

#include <string>
#include <string_view>

namespace orrery {

/// A message of the compiler, and behind it what it means for the text of a kernel file. The message alone if nothing
/// is known about it.
std::string with_meaning(const std::string& message);

/// Why a kernel failed while it ran, or could not be loaded, in words about the kernel. `failure` is the text of a
/// cuda::Error, "CALL: DESCRIPTION (NAME)"; any other text is returned as it is.
std::string in_plain_words(const std::string& failure);

/// A C++ name as it stands in the source: "f(float)" for "_Z1ff". Another name as it is.
std::string source_name(const std::string& symbol);

}  // namespace orrery
