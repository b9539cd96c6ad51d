#include "compute/ranks/same_program.h"

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace orrery {

void check_same_program(Communicator& ranks, std::string_view program) {
  if (ranks.rank() > 0) return ranks.send(0, std::as_bytes(std::span{program}));
  std::vector<std::byte> message;
  for (int rank = 1; rank < ranks.size(); ++rank) {
    ranks.receive(rank, message);
    const std::string_view other{reinterpret_cast<const char*>(message.data()), message.size()};
    if (other == program) continue;
    throw std::runtime_error("rank " + std::to_string(rank) + " runs " + std::string{other} + ", and rank 0 " +
                             std::string{program} + ": all ranks must run the same build");
  }
}

}  // namespace orrery
