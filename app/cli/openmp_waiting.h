#pragma once

namespace orrery {

/// OpenMP's threads look for work for milliseconds before they sleep, on processors that the window needs, unless the
/// environment says otherwise; and its library reads that before main() begins. So this asks for threads that sleep
/// (OMP_WAIT_POLICY) and starts the program anew in the same process. Does nothing where the user has said how they
/// wait, and leaves them as they are where the program's file cannot be started.
void let_openmp_threads_sleep(char** argv);

}  // namespace orrery
