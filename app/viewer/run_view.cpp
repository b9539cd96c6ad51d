#include "app/viewer/run_view.h"

#include "app/viewer/shader_cache.h"
#include "app/viewer/viewer.h"

namespace orrery {

int run_view(KernelCatalog& kernels, const ViewOptions& options) {
  check_shader_cache();
  return Viewer{kernels, options}.run();
}

}  // namespace orrery
