#include "app/viewer/probe_gl.h"

#include <cstdlib>
#include <exception>

#include "app/viewer/position_bridge.h"
#include "app/viewer/shader_cache.h"
#include "app/viewer/window.h"
#include "compute/core/failure_text.h"
#include "render/gl/offscreen_context.h"

namespace orrery {

void probe_window(GlReport& report) {
  if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return;
  try {
    report.window_renderer = Window::renderer();
  } catch (const std::exception& error) {
    report.window_problem = failure_text(error);
  }
}

GlReport probe_gl(const KernelCatalog& kernels) {
  GlReport report;
  check_shader_cache();
  try {
    const render::OffscreenContext context;
    report.renderer = context.info().renderer;
    report.version = context.info().version;
    const Sharing sharing = try_sharing(Backends{kernels, std::nullopt, device_of_gl_context().value_or(0)});
    report.same_gpu = sharing.same_gpu;
    report.interop_reason = sharing.reason;
    report.cure = sharing.cure;
    report.interop = sharing.possible   ? to_string(Interop::mapped)
                     : sharing.same_gpu ? to_string(Interop::staged)
                                        : to_string(Interop::host);
  } catch (const std::exception& error) {
    report.problem = failure_text(error);
    report.cure =
        "install a graphics driver with EGL: the GPU's own, or Mesa's software renderer (libegl1, libgl1-mesa-dri)";
  }
  return report;
}

}  // namespace orrery
