#include "app/viewer/run_view.h"

#include "app/viewer/shader_cache.h"
#include "app/viewer/viewer.h"

namespace orrery {

int run_view(KernelCatalog& kernels, const ViewOptions& options, NextProgram* next_program) {
  check_shader_cache();
  return Viewer{kernels, options}.run(next_program);
}

}  // namespace orrery
