#pragma once

#include <span>
#include <string>
#include <string_view>

namespace orrery {

/// How far a measurement is: a bar for `share`, 0 to 1, with `words` in it, marked as `ID.progress`, and a button,
/// marked as `ID.stop`. Below it stands what is being measured. Whether the button was pressed.
bool progress_row(const char* id, float share, const std::string& words, std::string_view present);

/// The files that a measurement wrote, and `error`, marked as `ID.error`, if not empty.
void written_rows(const char* id, std::span<const std::string> files, std::string_view error);

}  // namespace orrery
