#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "app/ui_state/command.h"
#include "app/ui_state/picture_options.h"
#include "app/ui_state/window_commands.h"

namespace orrery {

/// Settings that a window remembers from the previous one. An empty one was never chosen.
struct WindowMemory {
  std::map<std::string, bool> sections;  ///< whether each section is open, by id
  std::optional<ShowLab> lab;
  std::optional<SetAppearance> appearance;
  std::optional<SetTheme> theme;
  std::optional<WindowPlace> place;
};

/// Returns orrery/window.json in $XDG_CONFIG_HOME, or in ~/.config. Empty if neither XDG_CONFIG_HOME nor HOME is an
/// absolute path.
std::filesystem::path usual_memory_file();

/// Reads the settings; all empty if there is no file. Throws std::runtime_error with one line for an unreadable file,
/// or one that write_window_memory() would not write.
WindowMemory read_window_memory(const std::filesystem::path& file);
/// Writes the settings; creates the folder if needed. Throws std::runtime_error with one line.
void write_window_memory(const std::filesystem::path& file, const WindowMemory& memory);

}  // namespace orrery
