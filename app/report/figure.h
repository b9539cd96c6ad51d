#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace orrery {

/// `drawing` is HTML, `caption` text.
std::string figure(std::string_view drawing, std::string_view caption);
std::string paragraph_of(std::string_view text, std::string_view style = "");
/// " 2 of 7 results are not drawn: their time was not measured." Empty if none was left out.
std::string left_out(std::size_t count, std::size_t of, std::string_view things, std::string_view reason);

}  // namespace orrery
