#pragma once

namespace orrery {

/// The variable that holds the number of the process that started this one and waits for it.
inline constexpr const char* parent_variable = "ORRERY_PARENT";

/// Where that variable is set: from now on this process is killed when that one ends, however it ends. Call it early.
void end_with_parent();

}  // namespace orrery
