#include "app/cli/compile_kernel_files.h"

#include <stdexcept>

#include "compute/kernels/runtime/kernel_file.h"

namespace orrery {

const Backends& with_compiled_files(const Backends& backends) {
  if (backends.device()) return backends;
  for (const KernelPtr& kernel : backends.kernels().all()) {
    if (!kernel->file_text) continue;
    try {
      kernel->create(Settings{*kernel}, nullptr);
    } catch (const KernelFileError&) {
      throw;
    } catch (const std::runtime_error&) {
      // There is no compiler either. The caller says that there is no GPU, which has to be cured first.
    }
  }
  return backends;
}

}  // namespace orrery
