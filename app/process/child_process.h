// Programs that run as children, and what a child does when its parent ends.
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

/// The variable that holds the number of the process that started this one and waits for it.
inline constexpr const char* parent_variable = "ORRERY_PARENT";

/// If that variable is set, this process is killed when the process that it names ends, however it ends. Call it early.
void end_with_parent();

/// The program of this name in one of PATH's folders, else in one of `folders`; none if it is in none of them.
std::optional<std::filesystem::path> find_program(std::string_view name,
                                                  const std::vector<std::filesystem::path>& folders = {});

/// Output of a program, and how it ended.
struct ChildResult {
  std::string not_started{};  ///< why it did not start, one line; empty: it did
  int status = -1;            ///< its exit status; -1: it did not start, was ended, or did not exit by itself
  std::string text{};         ///< of its standard output
  std::string error{};        ///< of its standard error
  bool timed_out = false;
};

/// This program, also if its file was replaced meanwhile.
std::filesystem::path this_program();

/// The last line that a run of this program wrote to its standard error, without the program's name.
std::string last_complaint(const ChildResult& result);

/// A program that runs beside this one, without a shell.
class ChildProcess {
 public:
  /// Starts it. This program, if it is the one, ends with the thread that starts it: see end_with_parent().
  ChildProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Kills it if it has not ended.
  ~ChildProcess();

  /// Gives it the text `input` as its standard input, and waits until it ends, until `stopped`, which is called every
  /// few ms, returns true, or until `limit` has passed; none: it may run as long as it takes. Call once.
  ChildResult result(const std::function<bool()>& stopped, std::optional<std::chrono::milliseconds> limit = {},
                     std::string_view input = {});
  /// The same, but `late` is asked whether it has run long enough, with what it has written so far.
  ChildResult result_within(const std::function<bool(const ChildResult& so_far)>& late,
                            const std::function<bool()>& stopped, std::string_view input = {});

 private:
  bool exchange(std::string_view input, ChildResult& result, const std::function<bool()>& stopped);
  int wait_for_end();

  int child_ = 0;  // its number; 0: it does not run
  std::string not_started_;
  Descriptor input_, output_, errors_;  // this program's ends
};

/// Starts a program, and returns its result.
ChildResult child_result(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                         const std::function<bool()>& stopped, std::optional<std::chrono::milliseconds> limit = {},
                         std::string_view input = {});

/// Runs a program, without a shell, and returns what it wrote to its standard output; its standard error is dropped.
/// None if it could not start, did not exit with status 0, or was ended after a stop request.
std::optional<std::string> child_output(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                                        const std::stop_token& stop = {});

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
