#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "app/cli/option_groups.h"
#include "app/cli/verb.h"
#include "app/lab/variants.h"
#include "app/ui_state/view_options.h"

namespace orrery {

/// Frames of an offscreen run if neither --frames nor a script ends it.
inline constexpr std::int64_t default_offscreen_frames = 300;

/// The common part of `orrery view` and `orrery render`: a run that is drawn.
class ShownVerb : public Verb {
 public:
  int run(const Program& program) const override { return program.graphics.view(options); }

  /// Whether the line of a script ends the run.
  static bool quits(const ScriptLine& line);

  ViewOptions options;

 protected:
  void declare_shared(CommandLine& line);
  /// --panel and --legend.
  void add_panel(CommandLine& line, const std::string& help);
  /// Checks and fills `options`; after SceneOptions::check().
  void finish_shared(const CommandLine& line);

  SceneOptions scene;
  std::optional<bool> vsync;

 private:
  /// Sets the number of frames of a run without --frames. The script and the path have been read.
  virtual void set_length() {}

  KernelOptions kernels;
  PhysicsOptions physics;
  DeviceOptions device;
  std::optional<bool> panel, legend;
};

/// Reads `FRAME COMMAND ARGUMENTS` lines (see parse_command()) of at most 64 KB, at most a million of them; `#` at a
/// line's start or after a blank begins a comment. Kernels and settings are checked, `set` against the kernel that the
/// script has selected by that frame, at first one of `first`. With a `kernel_file`, or after a command that opens one,
/// an unknown id may be that of its kernel. Throws UsageError that starts with "NAME:LINE: " and names the valid
/// choices.
Script parse_script(std::string_view text, const std::string& name, const KernelCatalog& kernels,
                    const KernelSelection& first, bool kernel_file = false);

/// Reads a script from a file. Throws std::runtime_error as read_text() does.
Script read_script(const std::string& file, const KernelCatalog& kernels, const KernelSelection& first,
                   bool kernel_file = false);

}  // namespace orrery
