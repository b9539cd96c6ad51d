#pragma once

#include <optional>

#include "app/report/content.h"
#include "app/ui_state/window_size.h"
#include "compute/kernels/catalog.h"
#include "compute/scenes/scene.h"
#include "render/appearance.h"

namespace orrery {

/// A picture of the scene's first state with its legend, drawn without a window; or why it cannot be drawn. Throws
/// UsageError for a size that OpenGL cannot draw.
ReportPicture picture_scene(KernelCatalog& kernels, const SceneRequest& scene, WindowSize size, render::Theme theme,
                            std::optional<int> device);

}  // namespace orrery
