#include "compute/kernels/kernel_card.h"

namespace orrery {

std::optional<KernelCard> kernel_card(const ForceKernel&, const Law&, int) {
  return std::nullopt;
}

}  // namespace orrery
