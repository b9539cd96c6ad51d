#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/cli/option_groups.h"
#include "app/cli/verb.h"
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

}  // namespace orrery
