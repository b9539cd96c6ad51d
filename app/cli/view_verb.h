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

/// Number of frames of an offscreen run that neither --frames nor a script ends.
inline constexpr std::int64_t default_offscreen_frames = 300;

/// Base of `orrery view` and `orrery render`: a run that is drawn.
class ShownVerb : public Verb {
 public:
  int run(const Program& program) const override { return program.graphics.view(options); }

  /// Returns whether this line of a script ends the run.
  static bool quits(const ScriptLine& line);

  ViewOptions options;

 protected:
  void declare_shared(CommandLine& line);
  /// Adds --panel and --legend.
  void add_panel(CommandLine& line, const std::string& help);
  /// Checks and fills `options`. Call after SceneOptions::check().
  void finish_shared(const CommandLine& line);

  SceneOptions scene;
  std::optional<bool> vsync;

 private:
  /// Sets the number of frames of a run without --frames. Called after the script and the path were read.
  virtual void set_length() {}

  KernelOptions kernels;
  PhysicsOptions physics;
  DeviceOptions device;
  std::optional<bool> panel, legend;
};

/// Parses a script of `FRAME COMMAND ARGUMENTS` lines; see parse_command(). A line has at most 64 KB, a script at most
/// a million lines. `#` at the start of a line or after a blank begins a comment. Throws UsageError that starts with
/// "NAME:LINE: " and lists the valid choices.
/// Kernels and settings are checked: `set` against the kernel that the script has selected by that frame, initially one
/// of `first`. With a `kernel_file`, or after a command that opens one, an unknown id may be its kernel's.
Script parse_script(std::string_view text, const std::string& name, const KernelCatalog& kernels,
                    const KernelSelection& first, bool kernel_file = false);

/// Reads a script from a file. Throws std::runtime_error as read_text() does.
Script read_script(const std::string& file, const KernelCatalog& kernels, const KernelSelection& first,
                   bool kernel_file = false);

}  // namespace orrery
