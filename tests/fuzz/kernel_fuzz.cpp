#include <string>

#include "compute/kernels/runtime/compile_kernel.h"
#include "tests/fuzz/input.h"

/// The input is a kernel file, and what a compiler writes about another one.
int fuzz_kernel(const std::uint8_t* data, std::size_t size) {
  static const orrery::KernelFile file =
      orrery::parse_kernel_file("my.cu", "// id: mine\n// notes: a\n\n__global__ void f();\n");
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)orrery::read_compiler_log(text, file);
  return orrery::fuzz::accept_refusals([&] { (void)orrery::parse_kernel_file("my.cu", text); });
}
