#include "app/workshop/placed_kernel.h"

#include <algorithm>
#include <utility>

namespace orrery {

void PlacedKernel::place(const AcceptedKernel& version) {
  of_file_.push_back(put_(kernels_, version));
}

void PlacedKernel::put(const AcceptedKernel& version) {
  const bool same = present_.file && present_.version == version.version && present_.file->text == version.file->text;
  if (same) return;
  place(version);
  last_ = std::exchange(present_, version);
}

void PlacedKernel::take_back() {
  const AcceptedKernel refused = std::exchange(present_, std::exchange(last_, {}));
  if (refused.file && is(refused.file->id)) {
    place(present_);
  } else if (refused.file) {
    kernels_.remove(refused.file->id);
  }
}

void PlacedKernel::forget_numbers() {
  present_.version = 0;
  of_file_.clear();
}

KernelPtr PlacedKernel::kernel_of(int version) const {
  const auto found = std::ranges::find(of_file_.rbegin(), of_file_.rend(), version,
                                       [](const KernelPtr& kernel) { return kernel->file_version; });
  return found == of_file_.rend() ? nullptr : *found;
}

int PlacedKernel::version_of(std::string_view id, int revision) const {
  const auto found = std::ranges::find_if(
      of_file_, [&](const KernelPtr& kernel) { return id == kernel->id && revision == kernel->revision; });
  return found == of_file_.end() ? 0 : (*found)->file_version;
}

}  // namespace orrery
