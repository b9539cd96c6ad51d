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

/// Spare processes of this program, one per force law, that have loaded NVRTC and wait for a source text. A process
/// that starts only when it gets the text takes some 100 ms longer. Thread-safe.
class SpareCompilers {
 public:
  explicit SpareCompilers(std::filesystem::path program = this_program()) : program_{std::move(program)} {}

  /// Starts the missing processes, unless a compilation is running. Call on a thread that outlives the processes.
  void fill();

  /// A running compilation: it lasts as long as this object.
  class Compilation {
   public:
    /// Takes a waiting process of `spares`, if there is one. `spares` may be null.
    explicit Compilation(SpareCompilers* spares);
    Compilation(const Compilation&) = delete;
    Compilation& operator=(const Compilation&) = delete;
    ~Compilation();
    /// Returns the process that was taken; null: none waited.
    ChildProcess* process() const { return process_.get(); }

   private:
    SpareCompilers* spares_;
    std::unique_ptr<ChildProcess> process_;
  };

 private:
  std::filesystem::path program_;
  std::mutex mutex_;  // protects the two members below
  std::vector<std::unique_ptr<ChildProcess>> waiting_;
  int compiling_ = 0;
};

/// A Compiler that runs NVRTC in another process of this program. A text that takes too long or too much memory can
/// then be stopped, and NVRTC cannot change the signal handling of this process.
struct CompilerProcess {
  std::filesystem::path program = this_program();  ///< executable of orrery
  std::chrono::milliseconds limit{10'000};
  std::function<bool()> cancelled{};         ///< called every few ms, on any thread; null: never
  std::shared_ptr<SpareCompilers> spares{};  ///< null: no spare processes

  /// Compiles `input`. Throws what a Compiler throws, and std::runtime_error if it was cancelled.
  cuda::Nvrtc::Result operator()(const CompilerInput& input) const;
};

/// Returns whether `words` is the command line of a compiler process.
bool is_compiler_process(const std::vector<std::string>& words);
/// Runs a compiler process and returns its exit status. Its memory is limited to 2 GiB; only SIGKILL stops it early.
int run_compiler_process();

}  // namespace orrery
