// Implements join_mpi_ranks() and mpi_library() in a build without MPI.
#include <stdexcept>

#include "compute/ranks/communicator.h"

namespace orrery {

std::string mpi_library() {
  return {};
}

std::unique_ptr<Communicator> join_mpi_ranks() {
  throw std::runtime_error(
      std::to_string(launched_ranks()) +
      " processes were started to share one run, but this build has no MPI: install libopenmpi-dev and build again, "
      "or start orrery without mpirun");
}

}  // namespace orrery
