#pragma once

#include <imgui.h>

#include <string_view>

#include "app/panels/kit/theme.h"
#include "app/text/markdown.h"

namespace orrery {

/// A line of Markdown, broken at blanks where the present column ends, with **strong** words and `code`.
void rich_text(std::string_view line, ImU32 colour = theme::text);

/// Blocks of Markdown below each other.
void rich_blocks(const TextBlocks& blocks);

}  // namespace orrery
