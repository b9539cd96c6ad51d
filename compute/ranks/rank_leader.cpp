#include "compute/ranks/rank_leader.h"

#include "compute/ranks/domain_kernel.h"
#include "compute/ranks/shared_kernel.h"

namespace orrery {

std::unique_ptr<ForceKernel> RankLeader::make(const KernelInfo& kernel, const Settings& settings) {
  KernelInfo shared = kernel;
  shared.create = [&](const Settings& chosen, const cuda::Device*) -> std::unique_ptr<ForceKernel> {
    if (kernel.is_tree) return std::make_unique<DomainKernel>(line_, next_key_++, kernel, chosen);
    return std::make_unique<SharedKernel>(line_, next_key_++, kernel, chosen);
  };
  return shared.make(settings, nullptr);
}

}  // namespace orrery
