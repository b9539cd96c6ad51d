#pragma once

#include <string>
#include <string_view>

namespace orrery {

/// The name of a file as UTF-8, from which name_of_text() makes the same bytes again. A byte that is not UTF-8 becomes
/// the private character U+F700 plus the byte, and so do the bytes of U+F780 to U+F7FF themselves.
std::string text_of_name(std::string_view name);

/// Reads back what text_of_name() made.
std::string name_of_text(std::string_view text);

}  // namespace orrery
