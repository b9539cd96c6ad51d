#include "app/cli/view_verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "app/commands/argument_text.h"
#include "app/text/input_file.h"
#include "app/text/parse_value.h"
#include "app/ui_state/camera_path.h"
#include "app/ui_state/window_commands.h"
#include "compute/core/error.h"
#include "compute/core/text.h"
#include "compute/kernels/runtime/file_kernel.h"
#include "compute/kernels/runtime/kernel_file.h"
#include "compute/snapshots/snapshot_format.h"

namespace orrery {
namespace {

constexpr std::int64_t any_large = std::numeric_limits<std::int64_t>::max();

bool selects_attract_repel(const ScriptLine& line) {
  const auto* select = command_if<SelectLaw>(line.request);
  return select && find_law(select->id) == LawId::attract_repel;
}

/// Refuses lines of a script that no frame reaches. All lines in the frame of a quit are executed.
void refuse_lines_after_the_end(const ViewOptions& view) {
  const auto quit = std::ranges::find_if(view.script, ShownVerb::quits);
  for (const ScriptLine& line : view.script) {
    const std::string place = fmt::format("{}:{}: frame {} never comes", view.script_file, line.line, line.frame);
    if (view.frames && line.frame >= *view.frames) {
      throw UsageError(fmt::format("{}: the run ends after {}, counted from 0; --frames {} would reach it", place,
                                   counted(*view.frames, "frame"), line.frame + 1));
    }
    if (quit != view.script.end() && line.frame > quit->frame) {
      throw UsageError(fmt::format("{}: line {} quits at frame {}", place, quit->line, quit->frame));
    }
  }
}

/// `orrery view`.
struct ViewVerb final : ShownVerb {
  void declare(CommandLine& line) override {
    declare_shared(line);
    line.add("--frames", "K", fmt::format("number of frames (until closed; offscreen: {})", default_offscreen_frames),
             options.frames, Range<std::int64_t>{1, any_large});
    line.add("--screenshot", "FILE.png", "saves the last frame as PNG", [this](const std::string& text) {
      options.screenshot_file = parse_picture_name("--screenshot", file_name("--screenshot", text));
    });
    add_size(line, options.size, "size of the window in pixels (1280x720)");
    add_panel(line, "shows the panel (on; offscreen: off)");
    line.add("--vsync", "on|off", "waits for the display (on; offscreen: off)", vsync, parse_switch);
    line.add(
        "--autosave-s", "S",
        fmt::format("seconds after which the run is kept for the next window ({:g}); 0: never", options.autosave_s),
        options.autosave_s, ViewOptions::autosave_times);
    line.add_flag("--fresh", options.fresh,
                  "starts with the initial window, panels and colours, not the last session's; keeps no run");
    line.add_flag("--offscreen", options.offscreen, "runs without a window or display");
    line.add_footer(
        "Examples:\n"
        "  orrery                                          the collision of two galaxies, 16384 bodies\n"
        "  orrery --scene plummer -n 64k --kernel cuda-tiled --block 128\n"
        "  orrery galaxy.bin --record run.csv              bodies from a TIPSY file; timings to run.csv\n"
        "  orrery --offscreen --frames 300 --screenshot last.png\n"
        "\nA script: '0 kernel cpu-openmp', '100 set chunk 16', '200 screenshot a.png', '300 quit'; one per line. "
        "'orrery help script' lists all commands.");
  }

  void finish(const CommandLine& line) override {
    scene.check(line);
    finish_shared(line);
  }
};

}  // namespace

bool ShownVerb::quits(const ScriptLine& line) {
  return command_if<Quit>(line.request) != nullptr;
}

void ShownVerb::declare_shared(CommandLine& line) {
  scene.declare(line);
  const auto open_kernel_file = [this, &line](const std::string& text) {
    const std::string path = file_name("--kernel-file", text);
    if (line.takes_over) return;
    require_free_id(line.kernels, parse_kernel_file(path, read_text(path)));
    if (const std::string reason = no_file_kernels(); !reason.empty()) {
      throw UsageError(fmt::format("{}: a kernel file needs CUDA, and {}", path, reason));
    }
    options.kernel_file = path;
  };
  line.add("--kernel-file", "FILE.cu",
           "opens a kernel of your own in the workshop: it runs once it is checked, and again whenever it is saved",
           open_kernel_file);
  kernels.declare_first(line,
                        "kernel to start with (orrery kernels); default auto: the fastest that is accurate enough");
  kernels.declare_accuracy(line);
  kernels.declare_settings(line);
  physics.declare(line);
  line.add(
      "--steps-per-frame", "K",
      "steps per frame: " + allowed_text(argument_of<&SetStepsPerFrame::steps>()) + " (the scene's)",
      [this](const std::string& text) {
        options.setup.push_back(SetStepsPerFrame{read_option<&SetStepsPerFrame::steps>("--steps-per-frame", text)});
      });
  line.add_file("--resume", "continues the run of a checkpoint (orrery run)", options.resume_file);
  line.add_file("--record", "records frame timings as CSV", options.record_file);
  line.add_file("--script", "runs a script: lines 'FRAME COMMAND ARGUMENTS'", options.script_file);
  line.add_file("--path", "moves the camera along the key frames of a file", options.path_file);
  line.add_file("--save", "saves the bodies at the end: " + snapshot_titles(), options.save_file);
  add_byte_order(line, options.save_order, "byte order of --save: big or little (TIPSY: big; others: little)");
  add_theme(line, options.theme);
  add_force(line, options.existing);
  device.declare_several(line);
}

void ShownVerb::add_panel(CommandLine& line, const std::string& help) {
  line.add("--panel", "on|off", help, panel, parse_switch);
  line.add("--legend", "on|off", "shows what colours and lengths mean (on, but off if --panel off is given)", legend,
           parse_switch);
}

void ShownVerb::finish_shared(const CommandLine& line) {
  device.check();
  options.device = device.device;
  options.devices = device.devices;
  options.scene = scene.request;
  options.panel = panel.value_or(!options.offscreen);
  options.legend = legend.value_or(panel.value_or(true));
  if (options.offscreen && vsync.value_or(false)) {
    throw UsageError("--vsync on cannot be used with --offscreen: there is no display to wait for");
  }
  refuse_small_size(options.size, !options.offscreen || options.panel);
  options.vsync = vsync.value_or(!options.offscreen);
  if (options.save_order && options.save_file.empty()) {
    throw UsageError("--byte-order is that of the file of --save, which is not given: add --save FILE");
  }
  if (!options.resume_file.empty()) refuse_what_a_checkpoint_decides(line, kernels, physics, scene.request.file);
  physics.append_law();
  options.setup.insert(options.setup.end(), physics.setup.begin(), physics.setup.end());
  const KernelSelection kernel = kernels.first(line.kernels);
  if (!kernel.automatic && options.script_file.empty()) kernels.refuse_accuracy("--kernel");
  if (options.resume_file.empty()) kernels.select_first(kernel, options.setup, options.settings);
  if (!options.path_file.empty() && !line.takes_over) options.path = read_camera_path(options.path_file);
  if (!options.script_file.empty()) {
    options.script = read_script(options.script_file, line.kernels, kernel, !options.kernel_file.empty());
  }
  set_length();
  if (options.offscreen && !options.frames && std::ranges::none_of(options.script, quits)) {
    options.frames = default_offscreen_frames;
  }
  refuse_lines_after_the_end(options);
  physics.check_constants(
      line, physics.law == LawId::attract_repel || std::ranges::any_of(options.script, selects_attract_repel));
}

extern constinit const VerbInfo view_verb{"view", "shows a living system of bodies in a window, or runs it offscreen",
                                          create_verb<ViewVerb>};

}  // namespace orrery
