#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace orrery::fuzz {

/// The fuzzer's input as a regular file that is in memory alone.
class InputFile {
 public:
  InputFile(const std::uint8_t* data, std::size_t size) : descriptor_{memfd_create("input", MFD_CLOEXEC)} {
    if (descriptor_ < 0 || write(descriptor_, data, size) != static_cast<ssize_t>(size)) {
      throw std::runtime_error("no file in memory");
    }
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() { close(descriptor_); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

/// Runs `read`, which may refuse the input.
template <class Read>
int accept_refusals(Read read) {
  try {
    read();
  } catch (const std::runtime_error&) {
    // One line to the user: any other exception is a finding.
  }
  return 0;
}

}  // namespace orrery::fuzz

// int fuzz_NAME(const std::uint8_t* data, std::size_t size): gives one input to the reader NAME, for each name in the
// list of tests/fuzz/CMakeLists.txt.
#define X(name) int fuzz_##name(const std::uint8_t* data, std::size_t size);
#include "tests/fuzz/targets.inc"
#undef X
