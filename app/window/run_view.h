#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/ui_state/gl_report.h"
#include "app/ui_state/picture_options.h"
#include "app/ui_state/view_options.h"
#include "compute/kernels/catalog.h"
#include "compute/scenes/scene.h"
#include "render/appearance.h"

namespace orrery {
/// Makes a context offscreen and tries to share a buffer with CUDA. Never throws: failures are in the report.
GlReport probe_gl(const KernelCatalog& kernels);

/// Tries to open a window, if the environment names a display; `report` gets the result. Its context ends before this
/// returns.
void probe_window(GlReport& report);

/// A picture of the scene's first state with its legend, drawn without a window; or why it cannot be drawn. Throws
/// UsageError for a size that OpenGL cannot draw.
ReportPicture picture_scene(KernelCatalog& kernels, const SceneRequest& scene, WindowSize size, render::Theme theme,
                            std::optional<int> device);

// How this program starts again in its own place and continues with what is in the folder of a Handover.

/// The program that takes over from a window.
struct NextProgram {
  std::vector<std::string> words{};  ///< of this program's command line, with which that one starts
  std::filesystem::path folder{};    ///< of the handover; empty: none starts
};

/// Message for a stop that the user requests before the next program has taken over. continuation() follows it.
extern const char* const stopped_between;

/// `options` of the old window's command line for the new one, which takes over what is in `folder`.
ViewOptions options_after_handover(ViewOptions options, const std::filesystem::path& folder);

/// The folder, if these words of the command line are those of a program that takes over; removes what the old window's
/// command line did not have. From then on, stop signals are watched; those that start_anew() held are delivered.
std::optional<std::filesystem::path> take_handover(std::vector<std::string>& words);

/// How the run in `folder` is continued by hand, such as "'orrery view --resume FILE' continues". Empty if it is not
/// there any more: a window has taken it over.
std::string continuation(const std::filesystem::path& folder);

/// Starts this program in the place of the current process, with the words of its command line. Returns one line that
/// says why not: it failed, or the user has requested a stop. The next program gets stop signals that arrive meanwhile.
std::string start_anew(const std::filesystem::path& folder, const std::vector<std::string>& words);

/// `orrery view`. Returns the exit status; throws UsageError or std::runtime_error. `next_program`: see Viewer::run().
int run_view(KernelCatalog& kernels, const ViewOptions& options, NextProgram* next_program = nullptr);

}  // namespace orrery
