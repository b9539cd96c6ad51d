// How this process starts as one of several ranks, and joins the others.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compute/ranks/communicator.h"

namespace orrery {

/// Returns the MPI library of this build, such as "Open MPI 4.1.4"; empty in a build without MPI.
std::string mpi_library();

/// Returns the number of processes that Open MPI's mpirun started together, including this one; 1 without mpirun.
int launched_ranks();
/// Returns this process's rank among them.
int launched_rank();

/// Initializes MPI and connects to the other processes, which must do the same; the destructor finalizes MPI. Limits
/// usable_threads() to this rank's share of its host's processors. Child processes start as single ranks. Call at most
/// once, and only if launched_ranks() > 1. Throws std::runtime_error in a build without MPI.
std::unique_ptr<Communicator> join_mpi_ranks();

/// Checks that all ranks run the same program. Collective: call it on every rank, before anything else. `program` names
/// the program and its build. Throws std::runtime_error on rank 0, with both names, if another rank's differs.
void check_same_program(Communicator& ranks, std::string_view program);
/// Checks that all ranks were started with the same arguments, which only rank 0 carries out. Collective: call
/// it next. Throws std::runtime_error on rank 0 if they differ.
void check_same_arguments(Communicator& ranks, const std::vector<std::string>& arguments);

}  // namespace orrery
