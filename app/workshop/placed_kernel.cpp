#include "app/workshop/placed_kernel.h"

#include <utility>

namespace orrery {

void PlacedKernel::put(const AcceptedKernel& version) {
  put_(kernels_, version);
  last_ = std::exchange(present_, version);
}

void PlacedKernel::take_back() {
  const AcceptedKernel refused = std::exchange(present_, std::exchange(last_, {}));
  if (refused.file && is(refused.file->id)) {
    put_(kernels_, present_);
  } else if (refused.file) {
    kernels_.remove(refused.file->id);
  }
}

}  // namespace orrery
