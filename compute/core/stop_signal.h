#pragma once

namespace orrery {

/// Makes SIGINT (Ctrl+C), SIGTERM and SIGHUP (a closed terminal) request a stop, so that results can be kept first. A
/// second one ends the program at once. SIGXCPU (the soft limit of processor time), SIGUSR1 and SIGUSR2
/// (batch systems, before a job's time is over) request a stop as well, however often they come.
void watch_stop_signals();
/// Ignores these signals from now on: another process decides when this one ends.
void ignore_stop_signals();
/// Holds these signals back until take_stop_signals(), also across an exec() of the calling thread.
void hold_stop_signals();
/// Delivers the signals that were held back.
void take_stop_signals();
/// Sets the process group that a second signal ends together with this program; 0: none. There is only one at a time.
void end_group_with_program(int group);
/// Returns whether one of the signals has requested a stop.
bool stop_requested();
/// Returns the exit status of a stopped run: 128 plus the signal's number, as a shell reports it.
int stop_status();

}  // namespace orrery
