#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/process/child_process.h"
#include "compute/core/temporary_folder.h"
#include "compute/kernels/runtime/kernel_file.h"

namespace orrery {

/// Result of checking a kernel file.
struct KernelCheck {
  std::string problem{};                  ///< why the check failed, one line; empty: the kernel is correct
  std::optional<int> line{};              ///< line of the file that the problem names, if any
  std::optional<double> largest_error{};  ///< largest |da|/|a| of all forces; none if there is no finite one
  bool cancelled = false;
  bool not_here = false;  ///< not checked: no device of this machine can run the kernel
  std::string remark{};   ///< which of the shown bodies the check left out, one line; empty: none
};

/// Returns the note of how many settings were compiled, which `orrery verify` prints to standard error before a run.
std::string compiled_note(const std::string& kernel_id, std::size_t settings);

/// Reads the JSON of `orrery verify`, and describes the first check that failed.
KernelCheck read_check(std::string_view json);

/// Checks a kernel file in another process, so that a kernel that hangs or damages the GPU's context does no harm.
struct KernelChecker {
  std::filesystem::path program = this_program();    ///< executable of orrery
  std::optional<int> device{};                       ///< value of --device; none: the default device
  std::chrono::milliseconds compile_limit{300'000};  ///< for each run, until the values of its settings are compiled
  std::chrono::milliseconds limit{30'000};           ///< for each run, after that

  /// Additional runs that check the kernel with the bodies that are shown.
  struct Shown {
    std::vector<std::vector<std::string>> runs{};  ///< arguments of `orrery verify`, one list per process
    std::string remark{};                          ///< see KernelCheck::remark
  };
  /// Writes the shown bodies into the folder, and returns the runs that use them.
  using WriteShown = std::function<Shown(const TemporaryFolder& folder)>;

  /// Runs `orrery verify --kernel-file` with the text of `file`, and in parallel the runs that `write_shown` returns
  /// (empty: none). A problem of the first run has precedence. Ends the processes when `cancelled`, called every few
  /// ms, returns true. Throws std::runtime_error if no temporary file can be written.
  KernelCheck check(const KernelFile& file, const std::function<bool()>& cancelled,
                    const WriteShown& write_shown = {}) const;

 private:
  /// Returns `check` with the name of `file` in place of the name of its copy.
  KernelCheck named(KernelCheck check, const std::filesystem::path& copy, const KernelFile& file) const;
  /// Runs `orrery verify --kernel-file FILE --json RESULTS` followed by `arguments`, and returns the result.
  KernelCheck run(const std::filesystem::path& file, const std::filesystem::path& results,
                  const std::vector<std::string>& arguments, const std::function<bool()>& cancelled) const;
};

}  // namespace orrery
