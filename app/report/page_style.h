#pragma once

#include <string_view>

namespace orrery {

/// The style sheet of a page: for a screen, a phone and paper.
extern const std::string_view page_style;

}  // namespace orrery
