#pragma once

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "app/workshop/kernel_workshop.h"
#include "compute/kernels/catalog.h"

namespace orrery {

/// The version of the kernel file that is a kernel of the catalog.
class PlacedKernel {
 public:
  /// Makes the version a kernel of the catalog, in place of an earlier one with its id.
  using Put = std::function<KernelPtr(KernelCatalog& kernels, const AcceptedKernel& version)>;

  /// The catalog must outlive this.
  PlacedKernel(KernelCatalog& kernels, Put put) : kernels_{kernels}, put_{std::move(put)} {}

  /// Does nothing if it is there already. If this throws, nothing has changed.
  void put(const AcceptedKernel& version);
  /// The version could not be used: the one before takes its place again, or nothing does.
  void take_back();
  /// The versions are counted anew.
  void forget_numbers();

  /// Whether the kernel with this id is the version.
  bool is(std::string_view id) const { return present_.file && present_.file->id == id; }
  /// 0: none, or not one of the open file.
  int version() const { return present_.version; }
  /// KernelInfo::revision of the version; 0: none, or not one of the open file.
  int revision() const { return of_file_.empty() ? 0 : of_file_.back()->revision; }
  /// The version of the kernel with this id and revision, which may have been replaced; 0: none, or not one of the open
  /// file.
  int version_of(std::string_view id, int revision) const;
  /// The kernel that the version of the open file became; null: none.
  KernelPtr kernel_of(int version) const;

 private:
  void place(const AcceptedKernel& version);

  KernelCatalog& kernels_;
  Put put_;
  AcceptedKernel present_, last_;   // without a file: none
  std::vector<KernelPtr> of_file_;  // the kernels that versions of the open file became
};

}  // namespace orrery
