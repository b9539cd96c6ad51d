#include "app/lab/setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/names.h"

namespace orrery {
namespace {

/// Throws UsageError that names the kernels with such a setting if the default one has not: the user named none.
void require_settings(const Backends& backends, const Settings::Values& settings) {
  const KernelPtr kernel = backends.default_kernel();
  for (const auto& setting : settings) {
    const std::string& name = setting.first;
    if (kernel->tunable(name)) continue;
    std::vector<KernelPtr> owners = backends.kernels().all();
    std::erase_if(owners, [&](const KernelPtr& owner) { return !owner->tunable(name); });
    throw UsageError(fmt::format("--set {} needs the kernel that it is for: add --kernel with one of: {}", name,
                                 joined_ids(owners)));
  }
}

}  // namespace

KernelPtr kernel_of_setup(const KernelCatalog& kernels, std::span<const Command> setup) {
  for (const Command& command : setup) {
    const auto* select = std::get_if<SelectKernel>(&command);
    if (KernelPtr kernel = select ? find_kernel_or_auto(kernels, select->id) : nullptr) return kernel;
  }
  return nullptr;
}

void set_up(Simulation& simulation, const Backends& backends, std::span<const Command> setup,
            const Settings::Values& settings) {
  for (const Command& command : setup) simulation.apply(command);
  if (settings.empty()) return;
  require_settings(backends, settings);
  simulation.apply(SelectKernel{backends.default_kernel()->id, settings});
}

}  // namespace orrery
