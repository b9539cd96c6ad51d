#include "app/cli/near_miss.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

#include "app/text/parse_value.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/scenes/scene.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 19> known_subcommands{
    "view",    "render",  "bench",   "report", "verify", "profile", "compare",    "race", "run",    "replay",
    "convert", "inspect", "kernels", "info",   "doctor", "lesson",  "new-kernel", "help", "version"};

std::vector<std::string> options_of(const CLI::App& subcommand) {
  std::vector<std::string> names;
  for (const CLI::Option* option : subcommand.get_options()) {
    if (option->get_name().starts_with('-')) names.push_back(option->get_name());
  }
  return names;
}

bool is_tunable(const KernelCatalog& kernels, std::string_view name) {
  return std::ranges::any_of(kernels.all(), [&](const KernelPtr& kernel) { return kernel->tunable(name) != nullptr; });
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

/// ", which 'orrery bench' takes"; empty if no other subcommand has the option.
std::string takers_of(const std::string& option, const CLI::App& subcommand) {
  std::vector<std::string> takers;
  for (const CLI::App* other : subcommand.get_parent()->get_subcommands([](const CLI::App*) { return true; })) {
    if (other->get_option_no_throw(option)) takers.push_back(fmt::format("'orrery {}'", other->get_name()));
  }
  if (takers.empty()) return {};
  const std::string last = std::move(takers.back());
  takers.pop_back();
  return takers.empty() ? fmt::format(", which {} takes", last)
                        : fmt::format(", which {} and {} take", fmt::join(takers, ", "), last);
}

/// "-k" stands for the long options that begin with its letter, unless these are too many.
std::string meant_by_letter(const CLI::App& subcommand, const std::string& option) {
  constexpr std::size_t most = 3;
  if (option.size() != 2) return {};
  std::vector<std::string> meant;
  for (const CLI::App* app : {&subcommand, subcommand.get_parent()}) {
    std::ranges::copy_if(options_of(*app), std::back_inserter(meant), [&](const std::string& known) {
      return known.starts_with('-' + option) && std::ranges::find(meant, known) == meant.end();
    });
  }
  return meant.empty() || meant.size() > most ? "" : fmt::format("; did you mean {}?", fmt::join(meant, " or "));
}

/// "--bodies" stands for -n, whose help has that word.
std::string meant_by_help(const CLI::App& subcommand, const std::string& word) {
  constexpr std::size_t least_letters = 4;  // shorter words are in many sentences
  const auto has_word = [&](const CLI::Option* option) {
    const std::string help = ' ' + option->get_description() + ' ';
    const std::size_t at = help.find(word);
    const auto ends_at = [&](std::size_t place) { return !std::isalnum(static_cast<unsigned char>(help[place])); };
    return at != std::string::npos && ends_at(at - 1) && ends_at(at + word.size());
  };
  if (word.size() < least_letters) return {};
  for (const CLI::Option* option : subcommand.get_options()) {
    if (option->get_name().starts_with('-') && has_word(option)) {
      return fmt::format("; did you mean {}?", option->get_name());
    }
  }
  return {};
}

std::string name_of_option(const std::string& option) {
  return option.substr(0, option.find('='));
}

/// What an unknown option may have meant: a setting of a kernel, or another option. One that is `taken_elsewhere` was
/// probably meant as it is, unless it is nearly another.
std::string meant_by_option(const KernelCatalog& kernels, const CLI::App& subcommand, const std::string& option,
                            const std::vector<std::string>& words, bool taken_elsewhere) {
  const std::string name = name_of_option(option);
  const std::string setting = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  if (is_tunable(kernels, setting) && subcommand.get_option_no_throw("--set")) {
    return fmt::format("; did you mean --set {}={}?", setting, value_after(option, words));
  }
  const std::string near =
      did_you_mean(name, options_of(subcommand), [](const std::string& known) -> std::string_view { return known; });
  if (!near.empty() || taken_elsewhere) return near;
  const std::string by_letter = meant_by_letter(subcommand, name);
  return by_letter.empty() ? meant_by_help(subcommand, setting) : by_letter;
}

/// What a word that is no file may have meant.
std::string meant_by_word(const KernelCatalog& kernels, const CLI::App& subcommand, const std::string& word,
                          bool implied) {
  if (reads_as_counts(word)) return fmt::format("; did you mean -n {}?", word);
  std::string meant = implied ? did_you_mean(word, known_subcommands) : std::string{};
  if (meant.empty()) meant = did_you_mean(word, scenes(), id_of<const SceneInfo*>, "--scene ");
  const char* const kernel_option = subcommand.get_option_no_throw("--kernel") ? "--kernel " : "--kernels ";
  if (meant.empty()) meant = did_you_mean(word, kernels.all(), id_of<KernelPtr>, kernel_option);
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
        fmt::format("unexpected argument '{}'; it is 'orrery help', 'orrery help SUBCOMMAND', 'orrery help script "
                    "[--markdown]', 'orrery help keys [--markdown]' or 'orrery version'",
                    words.back()));
  }
  if (words[1] == "help" || words[1] == "version") return {"--help"};  // which describes both
  if (std::ranges::find(known_subcommands, words[1]) == known_subcommands.end()) {
    std::vector<std::string_view> topics{known_subcommands.begin(), known_subcommands.end()};
    topics.insert(topics.end(), {"script", "keys"});
    throw unknown_name("help topic", words[1], topics);
  }
  return with_help_as_option({words[1], "--help"});
}

void refuse_argument(const KernelCatalog& kernels, const CLI::App& subcommand, const std::string& argument,
                     const std::vector<std::string>& words) {
  const std::string known = joined(options_of(subcommand));
  if (argument.starts_with('-')) {
    const std::string takers = takers_of(name_of_option(argument), subcommand);
    const std::string meant = meant_by_option(kernels, subcommand, argument, words, !takers.empty());
    const std::string list = then_list(meant, fmt::format("options of 'orrery {}'", subcommand.get_name()));
    throw UsageError(fmt::format("unknown option '{}'{}{}{}", argument, takers, list, known));
  }
  throw UsageError(fmt::format("unexpected argument '{}'; 'orrery {}' takes {} and these options: {}", argument,
                               subcommand.get_name(),
                               subcommand.get_option_no_throw("FILE")   ? "one FILE"
                               : subcommand.get_option_no_throw("ID")   ? "one ID"
                               : subcommand.get_option_no_throw("NAME") ? "one NAME"
                               : subcommand.get_option_no_throw("IN")   ? "IN and OUT"
                               : subcommand.get_option_no_throw("N")    ? "one N"
                                                                        : "no file",
                               known));
}

void refuse_word_for_file(const KernelCatalog& kernels, const CLI::App& subcommand, const std::string& word,
                          bool implied) {
  std::error_code unknown;
  if (word.empty() || word.find_first_of("./") != std::string::npos || std::filesystem::exists(word, unknown)) return;
  const std::string meant = meant_by_word(kernels, subcommand, word, implied);
  if (implied) {
    throw UsageError(fmt::format("'{}' is neither a subcommand nor a file here{}{}", word,
                                 then_list(meant, "subcommands"), fmt::join(known_subcommands, ", ")));
  }
  if (!meant.empty()) throw UsageError(fmt::format("there is no file '{}' here{}", word, meant));
}

}  // namespace orrery
