#pragma once

namespace orrery {

/// From here on, Ctrl+C and a polite kill (SIGINT, SIGTERM) are noted rather than obeyed, so that what was measured
/// can be kept first. A second Ctrl+C ends the program at once.
void watch_stop_signals();
bool stop_requested();

}  // namespace orrery
