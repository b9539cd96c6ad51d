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
