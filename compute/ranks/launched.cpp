#include <cstdlib>

#include "compute/core/text.h"
#include "compute/ranks/mpi_ranks.h"

namespace orrery {
namespace {

int from_mpirun(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text ? parsed_number<int>(text).value_or(otherwise) : otherwise;
}

}  // namespace

int launched_ranks() {
  return from_mpirun("OMPI_COMM_WORLD_SIZE", 1);
}

int launched_rank() {
  return from_mpirun("OMPI_COMM_WORLD_RANK", 0);
}

}  // namespace orrery
