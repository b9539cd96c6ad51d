#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/core/law.h"
#include "compute/cuda/nvrtc.h"
#include "compute/kernels/runtime/kernel_file.h"

namespace orrery {

/// Architecture for which kernel files are compiled if there is no GPU: sm_90, as in an H100.
inline constexpr int usual_architecture = 90;

/// A kernel file, compiled for one law and one value of each setting.
struct CompiledKernel {
  std::string binary;  ///< machine code for cudaLibraryLoadData()
  std::string symbol;  ///< name of the function in the machine code
  std::vector<FileMessage> warnings;
  double ms = 0;  ///< duration of the compilation
};

/// Input of the compiler, without the headers, which are always the same.
struct CompilerInput {
  std::string source;
  std::vector<std::string> options;
  std::string function;  ///< name of the __global__ function
};

/// Error if the compiler did not finish, for example because of a crash or a time limit. Its text is one line.
class CompilerFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Function that compiles. Any thread may call it. Throws CompilerFailure, or std::runtime_error if there is no
/// compiler.
using Compiler = std::function<cuda::Nvrtc::Result(const CompilerInput& input)>;

/// Compiles with NVRTC in this process, without a time limit.
cuda::Nvrtc::Result compile_here(const CompilerInput& input);

/// Returns the file compiled for a law and an architecture, such as 90 for sm_90. `values` has a value of each setting.
/// Takes about 70 ms, or no time if the cache has the result. Any thread may call this. Throws KernelFileError with all
/// messages of the compiler, or with its failure. Throws std::runtime_error if there is no compiler.
std::shared_ptr<const CompiledKernel> compile_kernel(const KernelFile& file, const Settings::Values& values, LawId law,
                                                     int architecture, const Compiler& compiler = compile_here);

/// A kernel file, compiled for both laws.
struct CompiledLaws {
  std::shared_ptr<const CompiledKernel> gravity, attract_repel;
};

/// Calls compile_kernel() for both laws concurrently.
CompiledLaws compile_for_all_laws(const KernelFile& file, const Settings::Values& values, int architecture,
                                  const Compiler& compiler = compile_here);

/// Cache of the latest results. The key is the compiled text and its options. Any thread may use it.
class CompiledCache {
 public:
  /// Capacity in results: a check of one file needs each value of each setting, for both laws.
  static constexpr std::size_t most = 2 * KernelFile::most_tunables * FileTunable::most_values;

  /// Returns the result with this key; null if there is none.
  std::shared_ptr<const CompiledKernel> find(const std::string& key) const {
    const std::lock_guard lock{mutex_};
    const auto found = results_.find(key);
    return found == results_.end() ? nullptr : found->second;
  }
  /// Adds or replaces a result. Discards the oldest one if there are more than `most`.
  void put(const std::string& key, std::shared_ptr<const CompiledKernel> result) {
    const std::lock_guard lock{mutex_};
    const auto [place, added] = results_.insert_or_assign(key, std::move(result));
    if (!added) return;
    oldest_first_.push_back(place);
    if (results_.size() <= most) return;
    results_.erase(oldest_first_.front());
    oldest_first_.pop_front();
  }

 private:
  using Results = std::map<std::string, std::shared_ptr<const CompiledKernel>>;
  mutable std::mutex mutex_;
  Results results_;
  std::deque<Results::const_iterator> oldest_first_;
};

// Explanations of compiler messages and of device errors.

/// Text of the static assertion about the function's parameters. read_compiler_log() finds its message by this text.
inline constexpr std::string_view wrong_parameters = "orrery: wrong parameters";

/// Possible causes of a compilation that does not end or takes all memory.
inline constexpr std::string_view endless_causes = "templates that are too deep, or unrolled loops that are too long";

/// Returns the messages of NVRTC and ptxas in `log`, errors first, each with its line of `file`. The texts do not refer
/// to the code that is added around the file. If the log has no error, no message is an error. Very long lines are
/// truncated.
std::vector<FileMessage> read_compiler_log(std::string_view log, const KernelFile& file);

/// Returns a compiler message, followed by an explanation for the author of a kernel file. Returns the message alone if
/// there is no explanation.
std::string with_meaning(const std::string& message);

/// Returns an explanation of why a kernel failed or could not be loaded. `failure` is the text of a cuda::Error, "CALL:
/// DESCRIPTION (NAME)". Any other text is returned unchanged.
std::string in_plain_words(const std::string& failure);

/// Returns the demangled name of a C++ function: "f(float)" for "_Z1ff". Returns any other name unchanged.
std::string source_name(const std::string& symbol);

}  // namespace orrery
