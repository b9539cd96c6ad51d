// Memory limits of this process, signals that stop it, and trials in a copy of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace orrery {

/// Host memory that a simulation takes, in bytes per body: a generator's draft (56), the scene kept for Restart and
/// Reset, the engine's state and its copies (32 each), and room for everything else.
inline constexpr std::int64_t simulation_bytes_per_body = 256;

/// Host memory that reading, converting or inspecting a file takes, in bytes per body: 41 to 55 were measured with ids
/// and species (2 million bodies, all formats); the other properties take 16, and tables grow while they are read.
inline constexpr std::int64_t file_bytes_per_body = 128;

/// Returns how many bodies fit into the free memory of this machine and of the container's control groups.
std::int64_t bodies_that_fit(std::int64_t bytes_per_body);

/// Returns the bytes that control groups (v1 and v2) leave free; the largest integer if none has a limit. `membership`,
/// a file such as /proc/self/cgroup, names the groups, which are folders below `mount`.
std::int64_t control_group_free_bytes(const std::filesystem::path& membership, const std::filesystem::path& mount);

/// Installs signal handlers. SIGINT (Ctrl+C), SIGTERM and SIGHUP (a closed terminal) request a stop, so that results
/// can be saved; a second one ends the program immediately. SIGXCPU (the soft limit of processor time), SIGUSR1 and
/// SIGUSR2 (batch systems, before a job's time is over) request a stop too, however often they arrive.
void watch_stop_signals();
/// Ignores these signals. Used if another process decides when this one ends.
void ignore_stop_signals();
/// Blocks these signals until take_stop_signals(). They stay pending across an exec() of the calling thread.
void hold_stop_signals();
/// Unblocks these signals and delivers pending ones.
void take_stop_signals();
/// Sets the process group that a second signal kills together with this program; 0: none. Only one can be set.
void end_group_with_program(int group);
/// Returns whether one of the signals has requested a stop.
bool stop_requested();
/// Returns the exit status of a stopped run: 128 plus the signal's number, as a shell reports it.
int stop_status();

/// Outcome of a trial in a copy of this process.
struct TrialEnd {
  enum Kind {
    well,      ///< the trial returned or threw
    crashed,   ///< a fault in the code that ran, such as "Segmentation fault"
    too_long,  ///< the trial exceeded its time limit
    killed,    ///< another process ended it by a signal: a user, or the system if memory is short
  } kind = well;
  std::string cause{};  ///< one clause that names the signal or the time; empty: well
};

/// Calls `trial` in a copy (fork) of this process, so that a crash or a hang, as of a library with a damaged file, ends
/// only the copy. Ends the copy after `limit`, whole seconds of wall-clock time. `trial` must not use a GPU, start
/// threads, set alarms or rely on other threads. Throws std::runtime_error if the system cannot make a copy.
TrialEnd try_in_copy(const std::function<void()>& trial, std::chrono::seconds limit = std::chrono::seconds{60});

}  // namespace orrery
