#pragma once

namespace orrery {

/// From here on Ctrl+C, a polite kill and a closed terminal (SIGINT, SIGTERM, SIGHUP) ask for a stop, so that what was
/// measured can be kept first. A second signal ends the program at once.
void watch_stop_signals();
bool stop_requested();
/// The exit status of what was stopped: 128 and the signal's number, as a shell reports it.
int stop_status();

}  // namespace orrery
