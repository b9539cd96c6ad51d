#include "compute/kernels/kernel_sharing.h"

namespace orrery {

bool devices_can_divide(const KernelInfo& kernel) {
  return kernel.backend == Backend::cuda && !kernel.gives_jerks && (kernel.takes_targets || kernel.divides);
}

std::string why_not_shared(const KernelInfo& kernel, int ranks) {
  const std::string all = std::to_string(ranks) + " ranks", id = kernel.id;
  if (kernel.file_text) return id + " is a kernel file, and " + all + " share built-in kernels only";
  if (kernel.backend == Backend::cuda && kernel.gives_jerks) {
    return "the GPUs of " + all + " cannot divide " + id;
  }
  if (kernel.backend == Backend::cuda && kernel.is_tree && ranks > most_devices) {
    return id + " can be divided among the GPUs of at most " + std::to_string(most_devices) + " ranks, not of " + all;
  }
  if (kernel.takes_targets || devices_can_divide(kernel)) return {};
  return id + " always evaluates every body, so " + all + " cannot share it";
}

}  // namespace orrery
