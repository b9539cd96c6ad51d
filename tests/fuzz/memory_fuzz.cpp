#include "app/commands/window_memory.h"
#include "tests/fuzz/input.h"

int fuzz_memory(const std::uint8_t* data, std::size_t size) {
  const orrery::fuzz::InputFile file{data, size};
  return orrery::fuzz::accept_refusals([&] { (void)orrery::read_window_memory(file.path()); });
}
