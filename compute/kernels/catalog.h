#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "compute/kernels/kernel.h"

namespace orrery {

class KernelSharing;

/// The kernels that the program knows, each under its id: the built-in ones, and those that were added at run time.
/// Any thread may use it at any time.
class KernelCatalog {
 public:
  /// Has the built-in kernels, in the order of the list in compute/CMakeLists.txt. `sharing` must outlive it.
  explicit KernelCatalog(KernelSharing* sharing = nullptr);
  KernelCatalog(const KernelCatalog&) = delete;
  KernelCatalog& operator=(const KernelCatalog&) = delete;

  /// Adds a kernel after the others, or in place of the one with the same id, which those who use it keep. Copies all
  /// texts and lists of the descriptor. Throws UsageError if its id is no id or a tunable's initial value is not
  /// allowed.
  KernelPtr put(const KernelInfo& kernel);
  /// Throws as find().
  void remove(std::string_view id);

  /// In their order; added ones last.
  std::vector<KernelPtr> all() const;
  /// The kernel with this id, or with "ID@VERSION" the one of a kernel file that had this KernelInfo::file_version
  /// last. Throws UsageError that lists the known ids or versions, and `also`, another name that may stand where the id
  /// was given.
  KernelPtr find(std::string_view id, std::string_view also = {}) const;
  /// By its id alone; null if there is none.
  KernelPtr find_or_null(std::string_view id) const;
  /// The kernel that had this id and this KernelInfo::revision, even if it was replaced; 0: the one that has the id
  /// now. Throws as find(), and UsageError if there was none.
  KernelPtr find_revision(std::string_view id, int revision) const;

  /// Returns the ranks that share the evaluations of kernels; null if this process is alone.
  KernelSharing* sharing() const { return sharing_; }

 private:
  KernelPtr find_version(std::string_view id, std::string_view version) const;

  KernelSharing* sharing_;
  mutable std::mutex mutex_;
  std::vector<KernelPtr> kernels_;
  std::map<std::string, std::vector<KernelPtr>, std::less<>> revisions_;  // of the ids that were added
};

}  // namespace orrery
