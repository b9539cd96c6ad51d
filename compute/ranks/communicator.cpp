#include "compute/ranks/communicator.h"

#include <cstddef>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "compute/core/text.h"

namespace orrery {
namespace {

int from_mpirun(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text ? parsed_number<int>(text).value_or(otherwise) : otherwise;
}

/// Sends every rank's text to rank 0, which calls differs(rank, text) for each rank whose text differs.
template <class Differs>
void compare(Communicator& ranks, std::string_view text, const Differs& differs) {
  if (ranks.rank() > 0) return ranks.send(0, std::as_bytes(std::span{text}));
  std::vector<std::byte> message;
  for (int rank = 1; rank < ranks.size(); ++rank) {
    ranks.receive(rank, message);
    const std::string_view other{reinterpret_cast<const char*>(message.data()), message.size()};
    if (other != text) differs("rank " + std::to_string(rank), std::string{other});
  }
}

}  // namespace

int launched_ranks() {
  return from_mpirun("OMPI_COMM_WORLD_SIZE", 1);
}

int launched_rank() {
  return from_mpirun("OMPI_COMM_WORLD_RANK", 0);
}

void check_same_program(Communicator& ranks, std::string_view program) {
  compare(ranks, program, [&](const std::string& rank, const std::string& other) {
    throw std::runtime_error(rank + " runs " + other + ", and rank 0 " + std::string{program} +
                             ": all ranks must run the same build");
  });
}

void check_same_arguments(Communicator& ranks, const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& argument : arguments) text += argument + '\0';  // an argument contains no null character
  compare(ranks, text, [&](const std::string& rank, const std::string&) {
    throw std::runtime_error(rank +
                             " was started with other arguments than rank 0: use one command line for all ranks");
  });
}

}  // namespace orrery
