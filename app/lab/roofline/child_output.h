#pragma once

#include <filesystem>
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

}  // namespace orrery
