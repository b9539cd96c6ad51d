#pragma once

#include <memory>
#include <string>

#include "compute/ranks/communicator.h"

namespace orrery {

/// Returns the MPI library of this build, such as "Open MPI 4.1.4"; empty: built without MPI.
std::string mpi_library();

/// Returns the number of processes that Open MPI's mpirun started together, this one included; 1: started without
/// mpirun.
int launched_ranks();
/// Returns this process's rank among them.
int launched_rank();

/// Joins the other processes, which must do the same; the destructor leaves them. Limits usable_threads() to this
/// rank's share of its host's processors. Child processes start as single ranks. Call at most once, if launched_ranks()
/// > 1. Throws std::runtime_error, one line, in a build without MPI.
std::unique_ptr<Communicator> join_mpi_ranks();

}  // namespace orrery
