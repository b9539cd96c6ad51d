#include "app/cli/near_miss.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "app/text/parse_value.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/kernels/kernel.h"
#include "compute/scenes/scene.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 7> known_subcommands{"view", "bench", "verify", "kernels",
                                                            "info", "help",  "version"};

std::vector<std::string> options_of(const CLI::App& subcommand) {
  std::vector<std::string> names;
  for (const CLI::Option* option : subcommand.get_options()) {
    if (option->get_name().starts_with('-')) names.push_back(option->get_name());
  }
  return names;
}

bool is_tunable(std::string_view name) {
  return std::ranges::any_of(kernels(), [&](const KernelInfo* kernel) { return kernel->tunable(name) != nullptr; });
}

bool reads_as_counts(const std::string& word) {
  try {
    (void)parse_counts("-n", word);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

/// "4" of "--threads=4", and of "--threads 4".
std::string value_after(const std::string& option, const std::vector<std::string>& words) {
  if (const std::size_t equals = option.find('='); equals != std::string::npos) return option.substr(equals + 1);
  const auto at = std::ranges::find(words, option);
  const bool given = at != words.end() && at + 1 != words.end() && !(at + 1)->starts_with('-');
  return given ? *(at + 1) : "VALUE";
}

/// What an unknown option may have meant: a setting of a kernel, or another option.
std::string meant_by_option(const CLI::App& subcommand, const std::string& option,
                            const std::vector<std::string>& words) {
  const std::string name = option.substr(0, option.find('='));
  const std::string setting = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  if (is_tunable(setting) && subcommand.get_option_no_throw("--set")) {
    return fmt::format("; did you mean --set {}={}?", setting, value_after(option, words));
  }
  return did_you_mean(name, options_of(subcommand), [](const std::string& known) -> std::string_view { return known; });
}

/// What a word that is no file may have meant.
std::string meant_by_word(const CLI::App& subcommand, const std::string& word, bool implied) {
  if (reads_as_counts(word)) return fmt::format("; did you mean -n {}?", word);
  std::string meant = implied ? did_you_mean(word, known_subcommands) : std::string{};
  if (meant.empty()) meant = did_you_mean(word, scenes(), id_of<const SceneInfo*>, "--scene ");
  const char* const kernel_option = subcommand.get_option_no_throw("--kernel") ? "--kernel " : "--kernels ";
  if (meant.empty()) meant = did_you_mean(word, kernels(), id_of<const KernelInfo*>, kernel_option);
  return meant;
}

}  // namespace

std::span<const std::string_view> subcommands() {
  return known_subcommands;
}

std::vector<std::string> with_help_as_option(const std::vector<std::string>& words) {
  const std::string first = words.empty() ? std::string{} : words.front();
  if (first != "help" && first != "version") return words;
  if (words.size() == 1) return {"--" + first};
  if (first == "version" || words.size() > 2) {
    throw UsageError(
        fmt::format("unexpected argument '{}'; it is 'orrery help', 'orrery help SUBCOMMAND' or 'orrery "
                    "version'",
                    words.back()));
  }
  if (std::ranges::find(known_subcommands, words[1]) == known_subcommands.end()) {
    throw unknown_name("subcommand", words[1], known_subcommands);
  }
  return with_help_as_option({words[1], "--help"});
}

void refuse_argument(const CLI::App& subcommand, const std::string& argument, const std::vector<std::string>& words) {
  const std::string known = joined(options_of(subcommand));
  if (argument.starts_with('-')) {
    const std::string meant = meant_by_option(subcommand, argument, words);
    const char* const list = meant.empty() ? "; options" : " Options";
    throw UsageError(
        fmt::format("unknown option '{}'{}{} of 'orrery {}': {}", argument, meant, list, subcommand.get_name(), known));
  }
  throw UsageError(fmt::format("unexpected argument '{}'; 'orrery {}' takes {} and these options: {}", argument,
                               subcommand.get_name(),
                               subcommand.get_option_no_throw("FILE") ? "one FILE"
                               : subcommand.get_option_no_throw("ID") ? "one ID"
                                                                      : "no file",
                               known));
}

void refuse_word_for_file(const CLI::App& subcommand, const std::string& word, bool implied) {
  std::error_code unknown;
  if (word.empty() || word.find_first_of("./") != std::string::npos || std::filesystem::exists(word, unknown)) return;
  const std::string meant = meant_by_word(subcommand, word, implied);
  if (implied) {
    throw UsageError(fmt::format("'{}' is neither a subcommand nor a file here; subcommands: {}{}", word,
                                 fmt::join(known_subcommands, ", "), meant));
  }
  if (!meant.empty()) throw UsageError(fmt::format("there is no file '{}' here{}", word, meant));
}

}  // namespace orrery
