#include "app/viewer/picture_scene.h"

#include <fmt/format.h>

#include <exception>

#include "app/viewer/shader_cache.h"
#include "app/viewer/viewer.h"
#include "compute/core/error.h"
#include "compute/core/failure_text.h"

namespace orrery {

ReportPicture picture_scene(KernelCatalog& kernels, const SceneRequest& scene, WindowSize size, render::Theme theme,
                            std::optional<int> device) {
  ViewOptions options;
  options.scene = scene;
  options.setup = {SetPaused{true}};
  options.frames = 2;
  options.size = size;
  options.offscreen = true;
  options.panel = false;
  options.theme = theme;
  options.device = device;
  try {
    check_shader_cache();
    return Viewer{kernels, options}.picture();
  } catch (const UsageError&) {
    throw;
  } catch (const std::exception& error) {
    return {.words = fmt::format("There is no picture: {}.", failure_text(error))};
  }
}

}  // namespace orrery
