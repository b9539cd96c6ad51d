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

/// Architecture for which kernel files are compiled if there is no GPU: an H100's.
inline constexpr int usual_architecture = 90;

/// A kernel file, compiled for one law and one value of each setting.
struct CompiledKernel {
  std::string binary;  ///< machine code, as cudaLibraryLoadData() takes it
  std::string symbol;  ///< name of the function in the machine code
  std::vector<FileMessage> warnings;
  double ms = 0;  ///< duration of the compilation
};

/// Input of the compiler. The headers, which are always the same, are not part of it.
struct CompilerInput {
  std::string source;
  std::vector<std::string> options;
  std::string function;  ///< the name of the __global__ function
};

/// Error if the compiler did not end by itself, such as a crash or a time limit. One line.
class CompilerFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A function that compiles. Throws CompilerFailure, and std::runtime_error if there is no compiler. Any thread may
/// call it.
using Compiler = std::function<cuda::Nvrtc::Result(const CompilerInput& input)>;

/// Compiles by NVRTC in this process, without a time limit.
cuda::Nvrtc::Result compile_here(const CompilerInput& input);

/// Compiles for GPUs of this architecture, such as 90 for sm_90. Takes about 70 ms, or nothing if the same was compiled
/// shortly before. Any thread may call it. `values` has one of each setting. Throws KernelFileError that has every
/// message of the compiler, or its failure, and std::runtime_error if there is no compiler.
std::shared_ptr<const CompiledKernel> compile_kernel(const KernelFile& file, const Settings::Values& values, LawId law,
                                                     int architecture, const Compiler& compiler = compile_here);

/// A kernel file, compiled for both laws.
struct CompiledLaws {
  std::shared_ptr<const CompiledKernel> gravity, attract_repel;
};

/// Calls compile_kernel() for both laws, at the same time.
CompiledLaws compile_for_all_laws(const KernelFile& file, const Settings::Values& values, int architecture,
                                  const Compiler& compiler = compile_here);

/// Cache of the latest results, under the text that was compiled and its options. Any thread may use it.
class CompiledCache {
 public:
  /// Number of results that a check of one file needs: each value of each setting, for both laws.
  static constexpr std::size_t most = 2 * KernelFile::most_tunables * FileTunable::most_values;

  /// Returns null if there is none.
  std::shared_ptr<const CompiledKernel> find(const std::string& key) const {
    const std::lock_guard lock{mutex_};
    const auto found = results_.find(key);
    return found == results_.end() ? nullptr : found->second;
  }
  /// Forgets the oldest result if there are too many.
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

// Messages of the compiler, and errors of the device, in plain words.

/// Text of the static assertion about the function's parameters, by which its message is recognized.
inline constexpr std::string_view wrong_parameters = "orrery: wrong parameters";

/// Causes why a compiler takes for ever, or all memory.
inline constexpr std::string_view endless_causes = "templates that are too deep, or unrolled loops that are too long";

/// Returns the messages of NVRTC and of ptxas in `log`, each at its line of `file`, in words that need no knowledge of
/// the text around the file: errors first. If the log has no error, none of the messages is one. Very long lines lose
/// their end.
std::vector<FileMessage> read_compiler_log(std::string_view log, const KernelFile& file);

/// Returns a message of the compiler, followed by what it means for the text of a kernel file. Returns the message
/// alone if nothing is known about it.
std::string with_meaning(const std::string& message);

/// Returns why a kernel failed while it ran, or could not be loaded, in words about the kernel. `failure` is the text
/// of a cuda::Error, "CALL: DESCRIPTION (NAME)"; any other text is returned as it is.
std::string in_plain_words(const std::string& failure);

/// Returns a C++ name as the source has it: "f(float)" for "_Z1ff". Returns any other name as it is.
std::string source_name(const std::string& symbol);

}  // namespace orrery
