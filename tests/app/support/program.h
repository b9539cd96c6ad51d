#pragma once

#include <optional>
#include <string>
#include <vector>

namespace orrery::test {

/// How a run of the built program ended, and what it wrote.
struct Outcome {
  int status = -1;  ///< the exit status; -1 if a signal ended it
  std::string out, err;
};

struct Surroundings {
  std::string folder{};                            ///< working folder; empty: the caller's
  std::string cache_folder{};                      ///< XDG_CACHE_HOME; empty: one for all runs of this test program
  std::string stdout_to{};                         ///< a path in place of collecting stdout
  std::optional<unsigned long> most_file_bytes{};  ///< the largest file that the program may write
  std::string interrupt_when_exists{};             ///< a file: once it is there, the program gets a SIGINT
  std::string io_fault{};                          ///< a call that fails, as io_faults.cpp reads it; empty: none
};

/// Runs of a moment.
inline const std::vector<std::string> short_bench{"bench", "--kernels", "cpu-serial", "-n", "8", "--repeat", "1"};
inline const std::vector<std::string> short_view{"--offscreen", "--frames", "1",        "-n",        "8",
                                                 "--size",      "32x32",    "--kernel", "cpu-serial"};

/// Runs `orrery` with these arguments until it ends.
Outcome run_orrery(const std::vector<std::string>& arguments, const Surroundings& surroundings = {});

/// Whether stdout has these words.
bool says(const Outcome& outcome, const std::string& words);
/// Expects one line on stderr, with all of `said`, and this exit status.
void expect_complaint(const Outcome& outcome, int status, const std::vector<std::string>& said);
/// Also expects that nothing was printed on stdout: the program refused to begin.
void expect_refused(const Outcome& outcome, int status, const std::vector<std::string>& said);

}  // namespace orrery::test
