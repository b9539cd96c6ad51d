#include "app/lab/setup.h"

namespace orrery {

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
  if (!settings.empty()) simulation.apply(SelectKernel{backends.default_kernel()->id, settings});
}

}  // namespace orrery
