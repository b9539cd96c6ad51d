// Entry points of the viewer: the window, a picture of a scene, the test of OpenGL, and the program's restart.
#include "app/window/run_view.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <limits>
#include <string>

#include "app/process/child_process.h"
#include "app/window/handover.h"
#include "app/window/position_bridge.h"
#include "app/window/viewer.h"
#include "app/window/window.h"
#include "compute/core/descriptor.h"
#include "compute/core/error.h"
#include "compute/core/process.h"
#include "render/gl/gl.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr off_t wanted_bytes = 4 << 20;  // enough for the index of Mesa's cache, which takes 1.3 MB

const char* variable(const char* name) {
  const char* const value = std::getenv(name);
  return value && *value ? value : nullptr;
}

/// Returns the folder where Mesa keeps compiled shaders; empty if no variable names one.
fs::path shader_cache_folder() {
  constexpr const char* name = "mesa_shader_cache";
  for (const char* const parent : {"MESA_SHADER_CACHE_DIR", "XDG_CACHE_HOME"}) {
    if (const char* const folder = variable(parent)) return fs::path{folder} / name;
  }
  const char* const home = variable("HOME");
  return home ? fs::path{home} / ".cache" / name : fs::path{};
}

/// Returns whether a file of 4 MiB can be written in the folder or, if it does not exist, in its nearest existing
/// parent. Leaves no file.
bool can_cache_in(fs::path folder) {
  std::error_code unknown;
  while (!folder.empty() && !fs::exists(folder, unknown) && folder != folder.parent_path()) {
    folder = folder.parent_path();
  }
  std::string name = (folder / "orrery-XXXXXX").string();
  const Descriptor file{mkostemp(name.data(), O_CLOEXEC)};
  if (!file) return false;
  fs::remove(name, unknown);
  return posix_fallocate(file.number(), 0, wanted_bytes) == 0;
}

/// Disables Mesa's shader cache if its folder cannot hold it: Mesa maps the cache's index into memory, and a full disk
/// would then raise SIGBUS. Call before OpenGL and other threads start.
void check_shader_cache() {
  if (!can_cache_in(shader_cache_folder())) setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
}

}  // namespace

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
namespace {

constexpr const char* first_word = "take-over-window";  // first word of the command line

}  // namespace

const char* const stopped_between = "stopped as the window was to start again";

/// Removes the options whose effects are in the checkpoint and the handover.
ViewOptions options_after_handover(ViewOptions options, const fs::path& folder) {
  options.scene = {};
  options.setup.clear();
  options.settings.clear();
  options.kernel_file.clear();
  options.record_file.clear();
  options.path.reset();
  options.path_file.clear();
  options.resume_file = Handover::checkpoint_in(folder).string();
  options.handover = folder;
  return options;
}

std::optional<fs::path> take_handover(std::vector<std::string>& words) {
  if (words.size() < 2 || words.front() != first_word) return std::nullopt;
  prctl(PR_SET_NAME, "orrery");  // otherwise the name would be "exe", from /proc/self/exe
  watch_stop_signals();
  take_stop_signals();  // stop signals that start_anew() held
  fs::path folder = words[1];
  words.erase(words.begin(), words.begin() + 2);
  return folder;
}

std::string continuation(const fs::path& folder) {
  const fs::path checkpoint = Handover::checkpoint_in(folder);
  std::error_code unknown;
  if (!fs::exists(checkpoint, unknown)) return {};
  return fmt::format("'orrery view --resume {}' continues", checkpoint.string());
}

std::string start_anew(const fs::path& folder, const std::vector<std::string>& words) {
  hold_stop_signals();  // otherwise one could end the next program before it can react
  if (stop_requested()) return fmt::format("{}; {}", stopped_between, continuation(folder));
  const std::string program = this_program().string();
  std::vector<std::string> all{"orrery", first_word, folder.string()};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& word : all) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  // Libraries may have left files open. The driver considers a context ended once they are closed.
  (void)close_range(STDERR_FILENO + 1, std::numeric_limits<unsigned>::max(), CLOSE_RANGE_CLOEXEC);
  execv(program.c_str(), pointers.data());
  const std::string why = std::strerror(errno);
  take_stop_signals();
  return fmt::format("the program cannot be started again: {}; {}", why, continuation(folder));
}

int run_view(KernelCatalog& kernels, const ViewOptions& options, NextProgram* next_program) {
  check_shader_cache();
  return Viewer{kernels, options}.run(next_program);
}

}  // namespace orrery
