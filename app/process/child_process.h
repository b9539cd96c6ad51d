// Child processes, and the end of a child when its parent ends.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/descriptor.h"

namespace orrery {

/// Environment variable with the process id of the parent that started this process and waits for it.
inline constexpr const char* parent_variable = "ORRERY_PARENT";

/// If parent_variable is set, lets the system kill this process when that parent ends. Call early in main().
void end_with_parent();

/// Returns the path of the program `name` in a folder of PATH or, failing that, of `folders`; none if there is none.
std::optional<std::filesystem::path> find_program(std::string_view name,
                                                  const std::vector<std::filesystem::path>& folders = {});

/// Output and end of a program.
struct ChildResult {
  std::string not_started{};  ///< why the program did not start, one line; empty: it started
  int status = -1;            ///< exit status; -1: the program did not start or was killed
  std::string text{};         ///< standard output
  std::string error{};        ///< standard error
  bool timed_out = false;
};

/// Returns a path that starts this program again, even if its file has been replaced.
std::filesystem::path this_program();

/// Returns the last line that a run of this program wrote to standard error, without the prefix "orrery: ".
std::string last_complaint(const ChildResult& result);

/// A program that runs as a child of this one, without a shell.
class ChildProcess {
 public:
  /// Starts `program`. The system kills a child that runs orrery when the thread that started it ends:
  /// end_with_parent().
  ChildProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Kills the program if it has not ended.
  ~ChildProcess();

  /// Sends `input` to the program's standard input and waits for its end. Kills it if `stopped`, called every few ms,
  /// returns true or after `limit` (none: unlimited). Call once.
  ChildResult result(const std::function<bool()>& stopped, std::optional<std::chrono::milliseconds> limit = {},
                     std::string_view input = {});
  /// Does what result() does, but kills the program as timed out when `late` returns true for the output so far.
  ChildResult result_within(const std::function<bool(const ChildResult& so_far)>& late,
                            const std::function<bool()>& stopped, std::string_view input = {});

 private:
  bool exchange(std::string_view input, ChildResult& result, const std::function<bool()>& stopped);
  int wait_for_end();

  int child_ = 0;  // process id; 0: not running
  std::string not_started_;
  Descriptor input_, output_, errors_;  // this program's ends of the streams
};

/// Starts a program, waits for its end, and returns its result. Parameters as in ChildProcess::result().
ChildResult child_result(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                         const std::function<bool()>& stopped, std::optional<std::chrono::milliseconds> limit = {},
                         std::string_view input = {});

/// Runs a program, without a shell, and returns its standard output; drops its standard error. Returns none if the
/// program could not start, did not exit with status 0, or was killed after a stop request.
std::optional<std::string> child_output(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                                        const std::stop_token& stop = {});

/// Starts a spare process, which prepares and then waits for a command. `preparation` has the words of a command line
/// that say what to prepare, such as "profile --device 0".
std::unique_ptr<ChildProcess> start_spare(const std::filesystem::path& program,
                                          const std::vector<std::string>& preparation);
/// Returns a command in the form that a spare process reads from standard input. No word may contain a zero byte.
std::string packed_words(const std::vector<std::string>& words);

/// Returns the preparation if `words` is the command line of a spare process; none otherwise.
std::optional<std::vector<std::string>> preparation_in(const std::vector<std::string>& words);
/// Waits, in a spare process, for the command. Returns no words if the parent has ended or does not need the process.
std::vector<std::string> wait_for_words();
/// Returns whether a spare process received its command before it ended. If not, another process may run the command.
bool got_words(const ChildResult& end);

}  // namespace orrery
