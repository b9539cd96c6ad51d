#include "app/cli/read_script.h"
#include "tests/fuzz/input.h"

int fuzz_script(const std::uint8_t* data, std::size_t size) {
  static const orrery::KernelCatalog kernels;
  const orrery::KernelSelection automatic{.kernels = {}, .automatic = true};
  const orrery::fuzz::InputFile file{data, size};
  return orrery::fuzz::accept_refusals([&] { (void)orrery::read_script(file.path(), kernels, automatic); });
}
