#include "app/viewer/run_view.h"

#include "app/viewer/viewer.h"

namespace orrery {

int run_view(const ViewOptions& options) {
  return Viewer{options}.run();
}

}  // namespace orrery
