#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "compute/kernels/runtime/compile_kernel.h"

namespace orrery {

/// The latest results, under the text that was compiled and its options. Any thread may use it.
class CompiledCache {
 public:
  /// What a check of one file compiles: each value of each tunable, for both laws.
  static constexpr std::size_t most = 2 * KernelFile::most_tunables * FileTunable::most_values;

  /// Null if there is none.
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
