#include "app/lab/baseline.h"
#include "tests/fuzz/input.h"

int fuzz_baseline(const std::uint8_t* data, std::size_t size) {
  const orrery::fuzz::InputFile file{data, size};
  return orrery::fuzz::accept_refusals([&] {
    const orrery::Baseline baseline = orrery::read_baseline(file.path());
    (void)orrery::compare({&baseline, 1}, baseline.whole, orrery::usual_noise);
  });
}
