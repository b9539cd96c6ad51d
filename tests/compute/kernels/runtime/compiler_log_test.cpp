// Messages of a compiler and errors of a GPU, in words about the kernel.
#include "compute/kernels/runtime/compile_kernel.h"
#include "tests/compute/support/kernel_texts.h"
#include "tests/test.h"

namespace orrery {
namespace {

const KernelFile& kernel_file() {
  static const KernelFile file = parse_kernel_file("my.cu", test::kernel_text());
  return file;
}

TEST(CompilerLog, SurvivesLinesOfAMegabyte) {
  const std::string endless(1 << 20, 'x');
  const auto messages = read_compiler_log("my.cu(7): error: " + endless + "\nptxas error   : " + endless + "\n" +
                                              endless + "\nother.h(1): error: a\nat line 6 of " + endless +
                                              "\nmy.cu(8): error: could not open source file \"" + endless + "\n",
                                          kernel_file());
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_EQ(messages[0].line, 7);
  EXPECT_LT(messages[0].text.size(), 10'000u);
}

TEST(CompilerLog, LeavesSizesThatAreNoNumbers) {
  const auto messages = read_compiler_log(
      "ptxas error   : uses too much shared data (0xffffffffffffffffffff bytes, 0xc000 max)\n", kernel_file());
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_NE(messages[0].text.find("0xffffffffffffffffffff"), std::string::npos);
}

TEST(CompilerLog, DropsTheSumOfTheAssemblersErrorsOnlyIfItHasThem) {
  const std::string sum = "ptxas fatal   : Ptx assembly aborted due to errors\n";
  const auto alone = read_compiler_log(sum, kernel_file());
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_EQ(alone[0].text, "Ptx assembly aborted due to errors");
  const auto both =
      read_compiler_log("ptxas application ptx input, line 26; error   : Unknown symbol 'a'\n" + sum, kernel_file());
  ASSERT_EQ(both.size(), 1u);
  EXPECT_EQ(both[0].text, "Unknown symbol 'a'");
}

TEST(CompilerLog, CutsALineBetweenCharacters) {
  std::string accents;
  for (int i = 0; i < 5000; ++i) accents += "\u00e9";
  for (const std::string blank : {"", " "}) {
    const auto messages = read_compiler_log("my.cu(7): error: " + blank + accents, kernel_file());
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ((messages[0].text.size() - blank.size()) % 2, 0u);
  }
}

TEST(CompiledCache, HoldsAllThatOneFileNeedsAndForgetsTheOldestFirst) {
  CompiledCache cache;
  const auto result = std::make_shared<const CompiledKernel>();
  const auto key = [](std::size_t i) { return "source " + std::to_string(i); };
  for (std::size_t i = 0; i < CompiledCache::most; ++i) cache.put(key(i), result);
  cache.put(key(0), result);  // known
  EXPECT_TRUE(cache.find(key(0)));
  cache.put("another", result);
  EXPECT_FALSE(cache.find(key(0)));
  for (std::size_t i = 1; i < CompiledCache::most; ++i) ASSERT_TRUE(cache.find(key(i))) << i;
  EXPECT_TRUE(cache.find("another"));
  EXPECT_GE(CompiledCache::most, 2u * 8 * 32) << "laws, tunables, values";
}

TEST(PlainWords, TellWhatStoppedAKernelWithoutTheCallThatNoticed) {
  const std::string call = "cudaMemcpyAsync(host.data(), device, size, cudaMemcpyDeviceToHost, stream): ";
  const auto expect = [&](const std::string& description, const std::string& name, const std::string& words) {
    const std::string text = in_plain_words(call + description + " (" + name + ")");
    EXPECT_NE(text.find(words), std::string::npos) << text;
    EXPECT_EQ(text.find("cudaMemcpyAsync"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("(" + name + ")")) << text;
    EXPECT_EQ(in_plain_words(text), text) << "a second time changes nothing";
  };
  expect("an illegal memory access was encountered", "cudaErrorIllegalAddress", "outside of its arrays");
  expect("misaligned address", "cudaErrorMisalignedAddress", "does not fit the type");
  expect("unspecified launch failure", "cudaErrorLaunchFailure", "a trap");
  expect("device-side assert triggered", "cudaErrorAssert", "an assert() of the kernel failed");
  expect("an illegal instruction was encountered", "cudaErrorIllegalInstruction", "asm()");
  expect("hardware stack error", "cudaErrorHardwareStackError", "call itself");
  expect("invalid program counter", "cudaErrorInvalidPc", "pointer to a function");
  expect("too many resources requested for launch", "cudaErrorLaunchOutOfResources", "fewer threads per block");
  expect("out of memory", "cudaErrorMemoryAllocation", "short of memory");
  expect("the provided PTX was compiled with an unsupported toolchain.", "cudaErrorUnsupportedPtxVersion",
         "a newer driver");
  EXPECT_EQ(in_plain_words(call + "some new error (cudaErrorOfTheFuture)"),
            "CUDA reports: some new error (cudaErrorOfTheFuture)");
  EXPECT_EQ(in_plain_words("no GPU here"), "no GPU here");
}

TEST(PlainWords, LeaveUnknownMessagesAndNames) {
  EXPECT_EQ(with_meaning("something new about orrery::Vec4"), "something new about Vec4");
  EXPECT_EQ(source_name("_Z1ff"), "f(float)");
  EXPECT_EQ(source_name("f"), "f");
}

}  // namespace
}  // namespace orrery
