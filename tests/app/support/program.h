#pragma once

#include <nlohmann/json.hpp>

#include "tests/app/support/test.h"

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
inline const Words short_bench = "bench --kernels cpu-serial -n 8 --repeat 1"_words;
inline const Words short_view = "--offscreen --frames 1 -n 8 --size 32x32 --kernel cpu-serial"_words;

/// Runs `orrery` with these arguments until it ends.
Outcome run_orrery(const Words& arguments, const Surroundings& surroundings = {});

/// Whether stdout has these words.
bool says(const Outcome& outcome, const std::string& words);
/// Expects one line on stderr, with all of `said`, and this exit status.
void expect_complaint(const Outcome& outcome, int status, const Words& said);
/// Also expects that nothing was printed on stdout: the program refused to begin.
void expect_refused(const Outcome& outcome, int status, const Words& said);

/// Runs of the program in a folder of their own.
struct ProgramTest : InFolder {
  Outcome run(const Words& words) const { return run_orrery(words, {.folder = folder.path().string()}); }
  /// Expects success.
  Outcome succeed(const Words& words) const {
    Outcome outcome = run(words);
    EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
    return outcome;
  }
  static bool has_viewer() {
    static const bool has = !holds(run_orrery({"info", "--json"}).out, "the viewer was not built");
    return has;
  }
  nlohmann::json read_json(const std::string& name) const { return nlohmann::json::parse(read(name)); }
};

}  // namespace orrery::test
