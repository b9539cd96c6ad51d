#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/law.h"
#include "compute/cuda/nvrtc.h"
#include "compute/kernels/runtime/kernel_file.h"

namespace orrery {

/// Architecture that kernel files are compiled for if there is no GPU: that of an H100.
inline constexpr int usual_architecture = 90;

/// A kernel file, compiled for one law and one value of each tunable.
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
/// shortly before. Any thread may call it. `values` has one of each tunable. Throws KernelFileError that has every
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
  /// Number of results that a check of one file needs: each value of each tunable, for both laws.
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

}  // namespace orrery
