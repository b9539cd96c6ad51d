// The header of a kernel file, and its function.
#include "compute/kernels/runtime/kernel_file.h"

#include <gtest/gtest.h>

#include <string>

#include "compute/kernels/catalog.h"
#include "compute/kernels/runtime/file_kernel.h"
#include "tests/compute/support/failure.h"
#include "tests/compute/support/kernel_texts.h"

namespace orrery {
namespace {

TEST(KernelFileHeader, StatesIdTunablesAndNotes) {
  const KernelFile file = parse_kernel_file("my.cu",
                                            "// id: my-kernel\n"
                                            "// title: Mine\n"
                                            "// notes: One sentence: with a colon.\n"
                                            "// tunable block = 64 [128] 256: Threads in a block.\n"
                                            "// tunable bodies-per-thread = [1] 2: Bodies of a thread.\n"
                                            "// tolerance: 1e-4 0.5\n"
                                            "// shared-per-thread: 16\n"
                                            "\n"
                                            "// id: not the header's\n"
                                            "/* __global__ */ // __global__ void no()\n"
                                            "const char* text = \"__global__ void no()\";\n"
                                            "__global__ void\n"
                                            "__launch_bounds__(256) mine(Targets targets);\n");
  EXPECT_EQ(file.id, "my-kernel");
  EXPECT_EQ(file.title, "Mine");
  EXPECT_EQ(file.notes, "One sentence: with a colon.");
  ASSERT_EQ(file.tunables.size(), 2u);
  EXPECT_EQ(file.tunables[0].values, (std::vector<std::string>{"64", "128", "256"}));
  EXPECT_EQ(file.tunables[0].initial, "128");
  EXPECT_EQ(file.tunables[0].notes, "Threads in a block.");
  EXPECT_EQ(file.tunables[0].line, 4);
  EXPECT_EQ(file.tunables[1].constant(), "bodies_per_thread");
  EXPECT_EQ(file.tolerance.median, 1e-4);
  EXPECT_EQ(file.tolerance.max, 0.5);
  EXPECT_EQ(file.shared_per_thread, 16);
  EXPECT_EQ(file.function, "mine");
  EXPECT_EQ(file.function_line, 12);
}

void expect_error(const std::string& text, const std::string& place, const std::string& cause) {
  test::expect_failure(
      test::Failure::usage, [&] { (void)parse_kernel_file("my.cu", text); }, "my.cu(" + place + "): ", cause);
}

TEST(KernelFileHeader, RefusesWhatIsWrongAtItsLine) {
  const std::string body = "\n__global__ void f();\n", head = "// id: a\n// notes: b\n";
  expect_error("", "1", "no header");
  expect_error("#include <vector>\n", "1", "no header");
  expect_error("// My kernel.\n" + body, "1", "no header");
  expect_error("// id: a\n" + body, "1", "no notes");
  expect_error("// id: A b\n" + body, "1", "lower-case letters");
  expect_error(head + "// id: c\n" + body, "3", "twice");
  expect_error(head + "// tunabel block = [1]: a\n" + body, "3", "did you mean tunable?");
  expect_error(head + "// tunable block 1 2: a\n" + body, "3", "tunable block = 64 [128] 256");
  expect_error(head + "// tunable block = 1 2: a\n" + body, "3", "brackets");
  expect_error(head + "// tunable block = [1] [2]: a\n" + body, "3", "two initial values");
  expect_error(head + "// tunable block = [1] 1: a\n" + body, "3", "twice");
  expect_error(head + "// tunable block = [2048]: a\n" + body, "3", "1 to 1024");
  expect_error(head + "// tunable rows = [many]: a\n" + body, "3", "whole numbers");
  expect_error(head + "// tunable rows = [99999999999]: a\n" + body, "3", "whole numbers");
  expect_error(head + "// tolerance: 1\n" + body, "3", "MEDIAN MAX");
  expect_error(head + "// tolerance: nan nan\n" + body, "3", "MEDIAN MAX");
  for (const char* wrong : {"1 1", "-1 1", "0 1", "1e-4 1e-5", "1e-4 inf", "1e-4 nan", "5e-6 2"}) {
    expect_error(head + "// tolerance: " + wrong + "\n" + body, "3", "MEDIAN below 1");
  }
  expect_error(head + "// tolerance: 1e-4 1e-3\n// tolerance: 1e-4 1e-3\n" + body, "4", "tolerance is given twice");
  expect_error(head + "// shared-per-thread: 4\n// shared-per-thread: 0\n" + body, "4",
               "shared-per-thread is given twice");
  expect_error(head + "// shared-per-thread: -1\n" + body, "3", "bytes");
  expect_error(head + "\nvoid f();\n", "1", "no __global__ function");
  expect_error(head + body + "__global__ void g();\n", "5", "second __global__");
  expect_error(head + "\n__global__ 3;\n", "4", "no function");
  expect_error(head + std::string{"\n\0", 2} + body, "4", "byte 0");
  expect_error(head + std::string(10 << 20, ' '), "1", "at most 262144");
}

TEST(KernelFile, NeedsNoMoreSharedMemoryThanTheDeviceHas) {
  const KernelFile file =
      parse_kernel_file("my.cu", test::with(test::kernel_text(), "\n\n", "\n// shared-per-thread: 1024\n\n"));
  EXPECT_NO_THROW(require_shared_memory(file, 32, 1000, 33768));
  test::expect_failure(
      test::Failure::usage, [&] { require_shared_memory(file, 32, 1001, 33768); },
      "my.cu(4): a block of 32 threads needs 33769 bytes of shared memory; this GPU has 33768 per block");
  const KernelFile without = parse_kernel_file("my.cu", test::kernel_text());
  test::expect_failure(
      test::Failure::usage, [&] { require_shared_memory(without, 32, 40000, 33768); }, "my.cu(5): ");
}

TEST(KernelFileHeader, DropsAByteOrderMark) {
  const KernelFile file = parse_kernel_file("my.cu", "\xEF\xBB\xBF" + test::kernel_text());
  EXPECT_EQ(file.text, test::kernel_text()) << "a compiler refuses it";
}

TEST(KernelFileHeader, RefusesTheIdOfABuiltInKernel) {
  const KernelCatalog kernels;
  for (const char* id : {"cpu-serial", "auto", "all"}) {
    const KernelFile file =
        parse_kernel_file("my.cu", "// notes: a\n// id: " + std::string{id} + "\n\n__global__ void f();");
    test::expect_failure(
        test::Failure::usage, [&] { require_free_id(kernels, file); }, "my.cu(2): ", id, "choose another");
  }
  EXPECT_NO_THROW(require_free_id(kernels, parse_kernel_file("my.cu", test::kernel_text())));
}

}  // namespace
}  // namespace orrery
