#pragma once

namespace orrery {

/// From here on, Ctrl+C and a polite kill (SIGINT, SIGTERM) are noted rather than obeyed, so that a recording can be
/// closed first. A second one ends the program at once.
void watch_stop_signals();
bool stop_requested();

}  // namespace orrery
