#pragma once

#include <memory>
#include <string>

#include "compute/ranks/communicator.h"

namespace orrery {

/// The MPI library of this build, such as "Open MPI 4.1.4"; empty: it was built without MPI.
std::string mpi_library();

/// Processes that Open MPI's mpirun started together, of which this is one; 1: it was started alone.
int launched_ranks();
/// Which of them this is.
int launched_rank();

/// Joins the other processes, which must do the same; the destructor leaves them. Limits usable_threads() to this
/// rank's part of what the ranks of its host may run on. Processes that this one starts are alone. Call at most once,
/// if launched_ranks() > 1. Throws std::runtime_error, one line, in a build without MPI.
std::unique_ptr<Communicator> join_mpi_ranks();

}  // namespace orrery
