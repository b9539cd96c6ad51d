// Errors of a GPU, in words about the kernel.
#include <gtest/gtest.h>

#include <string>

#include "compute/kernels/runtime/compile_kernel.h"

namespace orrery {
namespace {

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
