#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/cli/option_groups.h"
#include "app/cli/verb.h"
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

}  // namespace orrery
