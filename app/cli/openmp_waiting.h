#pragma once

namespace orrery {

/// Makes OpenMP's idle threads sleep at once: otherwise they spin for milliseconds on processors that the window needs.
/// OpenMP's library reads OMP_WAIT_POLICY before main() begins, so this sets it and starts the program again in the
/// same process. Does nothing if the user has set how threads wait, or if the program's file cannot be started.
void let_openmp_threads_sleep(char** argv);

}  // namespace orrery
