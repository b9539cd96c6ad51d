// Processes that were started to share a run, in a build without MPI.
#include <gtest/gtest.h>

#include <cstdlib>

#include "compute/ranks/communicator.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

TEST(MissingMpi, IsReportedByTheNumberOfProcesses) {
  EXPECT_EQ(mpi_library(), "");
  setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
  test::expect_failure(
      test::Failure::runtime, [] { (void)join_mpi_ranks(); }, "3 processes were started to share one run", "has no MPI",
      "install libopenmpi-dev", "without mpirun");
  unsetenv("OMPI_COMM_WORLD_SIZE");
}

}  // namespace
}  // namespace orrery
