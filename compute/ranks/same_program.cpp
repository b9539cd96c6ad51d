#include "compute/ranks/same_program.h"

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace orrery {

namespace {

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

void check_same_program(Communicator& ranks, std::string_view program) {
  compare(ranks, program, [&](const std::string& rank, const std::string& other) {
    throw std::runtime_error(rank + " runs " + other + ", and rank 0 " + std::string{program} +
                             ": all ranks must run the same build");
  });
}

void check_same_words(Communicator& ranks, const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + '\0';  // an argument contains no null character
  compare(ranks, text, [&](const std::string& rank, const std::string&) {
    throw std::runtime_error(rank + " was started with other words than rank 0: all ranks must have the same");
  });
}

}  // namespace orrery
