// One program for all fuzz targets: the variable ORRERY_FUZZ of the environment names the one that libFuzzer runs.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/input.h"

namespace {

using Target = int (*)(const std::uint8_t*, std::size_t);

Target target() {
  const char* const variable = std::getenv("ORRERY_FUZZ");
  const std::string_view wanted = variable ? variable : "";
#define X(name) \
  if (wanted == #name) return fuzz_##name;
#include "tests/fuzz/targets.inc"
#undef X
  std::fputs("Set ORRERY_FUZZ to the name of a target, a file of tests/fuzz: snapshot for snapshot_fuzz.cpp\n", stderr);
  std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Target chosen = target();
  return chosen(data, size);
}
