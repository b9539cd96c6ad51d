#pragma once

namespace orrery {

/// Prepares OpenMP's library, which reads the environment: it makes idle threads sleep at once, since otherwise they
/// spin for milliseconds on processors that the window needs. GNU's library reads OMP_WAIT_POLICY before main() begins,
/// so this sets it and starts the program again in the same process, unless the user has set how threads wait, or the
/// program's file cannot be started. LLVM's library no longer prints variables that it cannot read, control characters
/// and all; KMP_WARNINGS=1 brings that back.
void prepare_openmp(char** argv);

}  // namespace orrery
