#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "app/ui_state/command.h"
#include "app/ui_state/picture_options.h"
#include "app/ui_state/window_commands.h"

namespace orrery {

/// Settings that a window remembers from the one before. An empty one was not chosen.
struct WindowMemory {
  std::map<std::string, bool> sections;  ///< whether they are open, by their ids
  std::optional<ShowLab> lab;
  std::optional<SetAppearance> appearance;
  std::optional<SetTheme> theme;
  std::optional<WindowPlace> place;
};

/// orrery/window.json in $XDG_CONFIG_HOME, or in ~/.config. Empty if neither XDG_CONFIG_HOME nor HOME is a full path.
std::filesystem::path usual_memory_file();

/// Nothing if there is no file. Throws std::runtime_error, one line, for a file that cannot be read or that
/// write_window_memory() would not have written.
WindowMemory read_window_memory(const std::filesystem::path& file);
/// Makes the folder if there is none. Throws std::runtime_error, one line.
void write_window_memory(const std::filesystem::path& file, const WindowMemory& memory);

}  // namespace orrery
