#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/process/child_process.h"
#include "compute/kernels/runtime/compile_kernel.h"

namespace orrery {

/// Processes of this program that have loaded NVRTC and wait for a text, one for each law: a process that begins with
/// the text takes some 100 ms longer. Any thread may use it.
class SpareCompilers {
 public:
  explicit SpareCompilers(std::filesystem::path program = this_program()) : program_{std::move(program)} {}

  /// Starts those that are missing, unless something is being compiled. Call on a thread that outlives them.
  void fill();

  /// Something that is being compiled, for as long as this lives.
  class Compilation {
   public:
    /// Takes a process of `spares` if one waits. Null: there are no spares.
    explicit Compilation(SpareCompilers* spares);
    Compilation(const Compilation&) = delete;
    Compilation& operator=(const Compilation&) = delete;
    ~Compilation();
    /// Null: none waited.
    ChildProcess* process() const { return process_.get(); }

   private:
    SpareCompilers* spares_;
    std::unique_ptr<ChildProcess> process_;
  };

 private:
  std::filesystem::path program_;
  std::mutex mutex_;  // of the two below
  std::vector<std::unique_ptr<ChildProcess>> waiting_;
  int compiling_ = 0;
};

/// A Compiler that runs NVRTC in another process of this program, so that a text that takes for ever, or all memory,
/// can be ended, and NVRTC does not change how this process takes signals.
struct CompilerProcess {
  std::filesystem::path program = this_program();  ///< orrery
  std::chrono::milliseconds limit{10'000};
  std::function<bool()> cancelled{};         ///< called every few ms, from any thread; null: never
  std::shared_ptr<SpareCompilers> spares{};  ///< null: none

  /// Throws as a Compiler, and std::runtime_error if it was cancelled.
  cuda::Nvrtc::Result operator()(const CompilerInput& input) const;
};

/// Whether these words of the command line are those of such a process.
bool is_compiler_process(const std::vector<std::string>& words);
/// Does the work of that process; returns its exit status. Its memory is limited, and only SIGKILL ends it early.
int run_compiler_process();

}  // namespace orrery
