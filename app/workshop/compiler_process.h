#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/process/child_process.h"
#include "compute/kernels/runtime/compile_kernel.h"

namespace orrery {

/// A Compiler that runs NVRTC in another process of this program, so that a text that takes for ever, or all memory,
/// can be ended, and NVRTC does not change how this process takes signals.
struct CompilerProcess {
  std::filesystem::path program = this_program();  ///< orrery
  std::chrono::milliseconds limit{10'000};
  std::function<bool()> cancelled{};  ///< called every few ms, from any thread; null: never

  /// Throws as a Compiler, and std::runtime_error if it was cancelled.
  cuda::Nvrtc::Result operator()(const CompilerInput& input) const;
};

/// Whether these words of the command line are those of such a process.
bool is_compiler_process(const std::vector<std::string>& words);
/// What that process does; returns its exit status. Its memory is limited, and only SIGKILL ends it early.
int run_compiler_process(const std::vector<std::string>& words);

}  // namespace orrery
