#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "compute/kernels/kernel.h"

namespace orrery {

class KernelSharing;

/// Catalog of the kernels by id: the built-in ones, and those that were added at run time. Any thread may use it.
class KernelCatalog {
 public:
  /// Contains the built-in kernels, in the order of compute/CMakeLists.txt. `sharing` must outlive this; null: none.
  explicit KernelCatalog(KernelSharing* sharing = nullptr);
  KernelCatalog(const KernelCatalog&) = delete;
  KernelCatalog& operator=(const KernelCatalog&) = delete;

  /// Adds a kernel at the end, or in place of a kernel with the same id, which remains valid for its users. Returns the
  /// added kernel, with copies of all texts and lists. Throws UsageError if the id is not valid, or if the initial
  /// value of a setting is not allowed.
  KernelPtr put(const KernelInfo& kernel);
  /// Removes a kernel; it remains valid for its users. Throws as find().
  void remove(std::string_view id);

  /// Returns all kernels: the built-in ones in their order, then the added ones.
  std::vector<KernelPtr> all() const;
  /// Returns the kernel with this id. "ID@VERSION" finds the latest kernel with this id and this
  /// KernelInfo::file_version. If there is none, throws UsageError that lists the known ids or versions. `also`: a name
  /// that the caller accepts in place of an id; the list of ids includes it.
  KernelPtr find(std::string_view id, std::string_view also = {}) const;
  /// Returns the kernel with this id, without a version; null if there is none.
  KernelPtr find_or_null(std::string_view id) const;
  /// Returns the kernel that had this id and this KernelInfo::revision, even if it was replaced. Revision 0: the
  /// current kernel with this id. Throws as find(), and UsageError if there was no such revision.
  KernelPtr find_revision(std::string_view id, int revision) const;

  /// Returns the ranks that share the evaluations of kernels; null if this process is alone.
  KernelSharing* sharing() const { return sharing_; }

 private:
  KernelPtr find_version(std::string_view id, std::string_view version) const;

  KernelSharing* sharing_;
  mutable std::mutex mutex_;
  std::vector<KernelPtr> kernels_;
  std::map<std::string, std::vector<KernelPtr>, std::less<>> revisions_;  // all revisions of added kernels, by id
};

}  // namespace orrery
