#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/ui_state/view_options.h"

namespace orrery {

// How this program starts in its own place, to go on with what is in the folder of a Handover.

/// The program that takes over from a window.
struct NextProgram {
  std::vector<std::string> words{};  ///< of this program's command line, with which that one starts
  std::filesystem::path folder{};    ///< of the handover; empty: none starts
};

/// What a program that takes over prints when the user requests a stop before it has, with continuation() behind it.
extern const char* const stopped_between;

/// `options` of the old window's command line for the new one, which takes over what is in `folder`.
ViewOptions options_after_handover(ViewOptions options, const std::filesystem::path& folder);

/// The folder, if these words of the command line are those of a program that takes over; removes what the old window's
/// command line did not have. From then on, stop signals are watched; those that start_anew() held are delivered.
std::optional<std::filesystem::path> take_handover(std::vector<std::string>& words);
/// How the run in `folder` is continued by hand, such as "'orrery view --resume FILE' continues". Empty if it is not
/// there any more: a window has taken it over.
std::string continuation(const std::filesystem::path& folder);
/// Starts this program in the place of the present process, with the words of its command line. Returns one line that
/// says why not: it failed, or the user has requested a stop. The next program gets stop signals that arrive meanwhile.
std::string start_anew(const std::filesystem::path& folder, const std::vector<std::string>& words);

}  // namespace orrery
