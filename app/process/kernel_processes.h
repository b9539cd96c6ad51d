// Processes that compile kernel files by NVRTC, and processes that check them.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/process/child_process.h"
#include "compute/core/temporary_folder.h"
#include "compute/kernels/runtime/compile_kernel.h"
#include "compute/kernels/runtime/kernel_file.h"

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

/// The findings of a check of a kernel file.
struct KernelCheck {
  std::string problem{};                  ///< one line; empty: the kernel is correct
  std::optional<int> line{};              ///< of the file, if the problem has one
  std::optional<double> largest_error{};  ///< |da|/|a| of all forces; none if there are none, or they are not finite
  bool cancelled = false;
  bool not_here = false;  ///< nothing here can run it: it was not checked
  std::string remark{};   ///< of which shown bodies it was not checked with, one line; empty: of none
};

/// The number of settings that were compiled, as `orrery verify` prints it to its standard error before it runs one.
std::string compiled_note(const std::string& kernel_id, std::size_t settings);

/// Reads the JSON of `orrery verify`, and explains the first check that failed.
KernelCheck read_check(std::string_view json);

/// How a kernel file is checked in another process, so that a kernel that hangs or spoils the GPU's context does no
/// harm.
struct KernelChecker {
  std::filesystem::path program = this_program();    ///< orrery
  std::optional<int> device{};                       ///< as --device
  std::chrono::milliseconds compile_limit{300'000};  ///< of each run, until the values of its settings are compiled
  std::chrono::milliseconds limit{30'000};           ///< of each run after that

  /// How a kernel is checked with the bodies that are shown.
  struct Shown {
    std::vector<std::vector<std::string>> runs{};  ///< arguments of `orrery verify`, for a process each
    std::string remark{};                          ///< see KernelCheck::remark
  };
  /// Writes the bodies that are shown into this folder.
  using WriteShown = std::function<Shown(const TemporaryFolder& folder)>;

  /// Runs `orrery verify --kernel-file` with the text of `file`, and beside it with what `write_shown`, which may be
  /// empty, has written. What the first finds comes first. Ends the processes when `cancelled`, called every few
  /// ms, returns true. Throws std::runtime_error if no temporary file can be written.
  KernelCheck check(const KernelFile& file, const std::function<bool()>& cancelled,
                    const WriteShown& write_shown = {}) const;

 private:
  /// Returns `check` with the name of `file` in the place of that of its copy.
  KernelCheck named(KernelCheck check, const std::filesystem::path& copy, const KernelFile& file) const;
  /// `arguments` are those after `orrery verify --kernel-file FILE --json RESULTS`.
  KernelCheck run(const std::filesystem::path& file, const std::filesystem::path& results,
                  const std::vector<std::string>& arguments, const std::function<bool()>& cancelled) const;
};

}  // namespace orrery
