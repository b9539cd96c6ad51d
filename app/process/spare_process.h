#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/process/child_process.h"

// A process of this program that prepares what a command will need, and then waits for the command.
namespace orrery {

/// Starts it. `preparation`: the words of a command line that say what to prepare, "profile --device 0".
std::unique_ptr<ChildProcess> start_spare(const std::filesystem::path& program,
                                          const std::vector<std::string>& preparation);
/// The words of the command, as the process reads them from its standard input. No word has a zero byte.
std::string packed_words(const std::vector<std::string>& words);

/// In the process: its preparation; none: these words are those of another command line.
std::optional<std::vector<std::string>> preparation_in(const std::vector<std::string>& words);
/// In the process: waits for the command. Empty: its parent has ended, or needs it no more.
std::vector<std::string> wait_for_words();
/// Whether the process had got its command before it ended. If not, another process may carry it out.
bool got_words(const ChildResult& end);

}  // namespace orrery
