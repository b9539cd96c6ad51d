#include "app/lab/tuning/auto_chooser.h"
#include "tests/fuzz/input.h"

int fuzz_cache(const std::uint8_t* data, std::size_t size) {
  const orrery::fuzz::InputFile file{data, size};
  static const orrery::KernelCatalog kernels;
  orrery::ChoiceCache cache{kernels, file.path()};
  for (const orrery::ChoiceCache::Entry& entry : cache.entries()) (void)entry.result.preference();
  (void)cache.find({{"law", "gravity"}}, {});
  return 0;
}
