#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// The program of this name in one of PATH's folders, else in one of `folders`; none if it is in none of them.
std::optional<std::filesystem::path> find_program(std::string_view name,
                                                  const std::vector<std::filesystem::path>& folders = {});

/// Runs a program, without a shell, and returns what it wrote to its standard output; its standard error is dropped.
/// None if it could not start, did not exit with status 0, or was ended after a stop request.
std::optional<std::string> child_output(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                                        const std::stop_token& stop = {});

/// How a child process ended.
struct ChildEnd {
  int status = -1;         ///< its exit status; -1: it could not start, or a signal ended it
  bool timed_out = false;  ///< it was ended after its time
  bool cancelled = false;
  std::string output;  ///< what it wrote to its standard output and its standard error
};

/// Runs a program as child_output() does. Ends it with SIGKILL after `limit`, or when `cancelled`, which is called
/// every few ms, returns true.
ChildEnd run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                   std::chrono::milliseconds limit, const std::function<bool()>& cancelled = {});

}  // namespace orrery
