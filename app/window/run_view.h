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
/// Creates an offscreen context and tries to share a buffer with CUDA. Never throws: failures are in the report.
GlReport probe_gl(const KernelCatalog& kernels);

/// Tries to open a window if the environment names a display, and adds the result to `report`. Its context ends before
/// this function returns.
void probe_window(GlReport& report);

/// Returns a picture of the scene's initial state with its legend, drawn without a window, or the reason why it cannot
/// be drawn. Throws UsageError for a size that OpenGL cannot draw.
ReportPicture picture_scene(KernelCatalog& kernels, const SceneRequest& scene, WindowSize size, render::Theme theme,
                            std::optional<int> device);

// Restart of this program in the same process, to continue from the folder of a Handover.

/// The program that takes over from a window.
struct NextProgram {
  std::vector<std::string> words{};  ///< arguments of the command line, the same as this program's
  std::filesystem::path folder{};    ///< folder of the handover; empty: no program takes over
};

/// Message for a stop request before the next program has taken over. continuation() follows it.
extern const char* const stopped_between;

/// Returns the options of a window that continues from the handover in `folder`. `options`: the options of the window
/// that ends.
ViewOptions options_after_handover(ViewOptions options, const std::filesystem::path& folder);

/// Returns the folder of the handover if `words` is the command line of a program that takes over, and removes from
/// `words` what start_anew() added. Then also watches stop signals and delivers those that start_anew() held.
std::optional<std::filesystem::path> take_handover(std::vector<std::string>& words);

/// Returns how to continue the run in `folder` by hand, such as "'orrery view --resume FILE' continues". Empty if a
/// window has taken it over already.
std::string continuation(const std::filesystem::path& folder);

/// Replaces the current process by a new start of this program with these command-line arguments. Returns one line with
/// the reason if that fails or the user requested a stop. Stop signals that arrive meanwhile reach the next program.
std::string start_anew(const std::filesystem::path& folder, const std::vector<std::string>& words);

/// Runs `orrery view` and returns the exit status. Throws UsageError or std::runtime_error. `next_program` as in
/// Viewer::run().
int run_view(KernelCatalog& kernels, const ViewOptions& options, NextProgram* next_program = nullptr);

}  // namespace orrery
