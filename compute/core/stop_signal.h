#pragma once

namespace orrery {

/// From now on SIGINT (Ctrl+C), SIGTERM and SIGHUP (a closed terminal) request a stop, so that results can be kept
/// first, and a second one ends the program at once. SIGXCPU (the soft limit of processor time), SIGUSR1 and SIGUSR2
/// (batch systems, before a job's time is over) request a stop as well, however often they come.
void watch_stop_signals();
/// From now on they do nothing: another process decides when this one ends.
void ignore_stop_signals();
/// From now on they wait until take_stop_signals(), also across an exec() of the calling thread.
void hold_stop_signals();
/// Those that were held are delivered now.
void take_stop_signals();
/// A group of processes that a second signal ends with this program; 0: none. One at a time.
void end_group_with_program(int group);
bool stop_requested();
/// The exit status of a stopped run: 128 plus the signal's number, as a shell reports it.
int stop_status();

}  // namespace orrery
