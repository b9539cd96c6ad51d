#include <cstdlib>

#include "app/features/runs/replay.h"
#include "tests/fuzz/input.h"

int fuzz_replay(const std::uint8_t* data, std::size_t size) {
  const orrery::fuzz::InputFile file{data, size};
  return orrery::fuzz::accept_refusals([&] {
    const std::string text = orrery::replay_text(orrery::read_replay(file.path()));
    if (orrery::replay_text(orrery::parse_replay(text, "again")) != text) std::abort();
  });
}
