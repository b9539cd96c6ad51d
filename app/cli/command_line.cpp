#include "app/cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <utility>

#include "app/cli/verb.h"
#include "app/text/parse_value.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/scenes/scene.h"

namespace orrery {
namespace {

std::vector<std::string> options_of(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options()) {
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

/// Returns the value of an option: "4" for "--threads=4" or "--threads 4"; "VALUE" if it is missing.
std::string value_after(const std::string& option, const std::vector<std::string>& words) {
  if (const std::size_t equals = option.find('='); equals != std::string::npos) return option.substr(equals + 1);
  const auto at = std::ranges::find(words, option);
  const bool given = at != words.end() && at + 1 != words.end() && !(at + 1)->starts_with('-');
  return given ? *(at + 1) : "VALUE";
}

/// Returns ", which 'orrery bench' takes", with all verbs that have the option; empty if none has.
std::string takers_of(const std::string& option, const CLI::App& verb) {
  std::vector<std::string> takers;
  for (const CLI::App* other : verb.get_parent()->get_subcommands([](const CLI::App*) { return true; })) {
    if (other->get_option_no_throw(option)) takers.push_back(fmt::format("'orrery {}'", other->get_name()));
  }
  if (takers.empty()) return {};
  const std::string last = std::move(takers.back());
  takers.pop_back();
  return takers.empty() ? fmt::format(", which {} takes", last)
                        : fmt::format(", which {} and {} take", fmt::join(takers, ", "), last);
}

/// Suggests the long options that begin with the letter of "-k", unless there are too many.
std::string meant_by_letter(const CLI::App& verb, const std::string& option) {
  constexpr std::size_t most = 3;
  if (option.size() != 2) return {};
  std::vector<std::string> meant;
  for (const CLI::App* app : {&verb, verb.get_parent()}) {
    std::ranges::copy_if(options_of(*app), std::back_inserter(meant), [&](const std::string& known) {
      return known.starts_with('-' + option) && std::ranges::find(meant, known) == meant.end();
    });
  }
  return meant.empty() || meant.size() > most ? "" : fmt::format("; did you mean {}?", fmt::join(meant, " or "));
}

/// Suggests the option whose help contains `word`, such as -n for "--bodies".
std::string meant_by_help(const CLI::App& verb, const std::string& word) {
  constexpr std::size_t least_letters = 4;  // shorter words occur in many help texts
  const auto has_word = [&](const CLI::Option* option) {
    const std::string help = ' ' + option->get_description() + ' ';
    const std::size_t at = help.find(word);
    const auto ends_at = [&](std::size_t place) { return !std::isalnum(static_cast<unsigned char>(help[place])); };
    return at != std::string::npos && ends_at(at - 1) && ends_at(at + word.size());
  };
  if (word.size() < least_letters) return {};
  for (const CLI::Option* option : verb.get_options()) {
    if (option->get_name().starts_with('-') && has_word(option)) {
      return fmt::format("; did you mean {}?", option->get_name());
    }
  }
  return {};
}

std::string name_of_option(const std::string& option) {
  return option.substr(0, option.find('='));
}

}  // namespace

void CommandLine::add(const std::string& names, const std::string& value, const std::string& help, const Reader& read,
                      bool repeatable) {
  const std::string shown = names.substr(0, names.find(','));
  const auto read_all = [shown, read, repeatable](const std::vector<std::string>& texts) {
    if (texts.size() > 1 && !repeatable) throw UsageError(fmt::format("{} is given {} times", shown, texts.size()));
    for (const std::string& text : texts) read(text);
  };
  const bool positional = names.front() != '-';
  CLI::Option* option = app_.add_option_function<std::vector<std::string>>(names, read_all, help);
  option->allow_extra_args(false)->option_text(positional ? " " : value);
}

void CommandLine::add_file(const std::string& name, const std::string& help, std::string& file) {
  add(name, "FILE", help, [&file, name](const std::string& text) { file = file_name(name, text); });
}

/// Adds a flag without a value. Otherwise CLI11 would read --flag=3 as the flag given three times.
void CommandLine::add_flag(const std::string& name, bool& value, const std::string& help) {
  app_.add_flag(name, value, help)->disable_flag_override();
}

void CommandLine::add_flag(const std::string& name, const std::function<void()>& set, const std::string& help) {
  app_.add_flag(
          name, [set](std::int64_t) { set(); }, help)
      ->disable_flag_override();
}

void CommandLine::take_one_word_each(std::initializer_list<const char*> arguments) {
  for (const char* const name : arguments) app_.get_option(name)->expected(1);
}

void CommandLine::add_footer(const std::string& text) {
  app_.footer(text);
}

bool CommandLine::given(const std::string& option) const {
  const CLI::Option* const known = app_.get_option_no_throw(option);
  return known && known->count() > 0;
}

std::string CommandLine::last_given(std::initializer_list<const char*> options) const {
  std::string last;
  for (const char* const option : options) {
    if (given(option)) last = option;
  }
  return last;
}

/// Returns the probable meaning of an unknown option: a kernel's setting, or another option. If `taken_elsewhere`,
/// another verb has this option, so only close misspellings are suggested.
std::string CommandLine::meant_by_option(const std::string& option, bool taken_elsewhere) const {
  const std::string name = name_of_option(option);
  const std::string setting = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  if (is_tunable(kernels, setting) && app_.get_option_no_throw("--set")) {
    return fmt::format("; did you mean --set {}={}?", setting, value_after(option, words));
  }
  const std::string near =
      did_you_mean(name, options_of(app_), [](const std::string& known) -> std::string_view { return known; });
  if (!near.empty() || taken_elsewhere) return near;
  const std::string by_letter = meant_by_letter(app_, name);
  return by_letter.empty() ? meant_by_help(app_, setting) : by_letter;
}

void CommandLine::refuse_what_is_left() const {
  const std::vector<std::string> left = app_.remaining();
  const auto at = std::ranges::find_if(left, [](const std::string& word) { return word != "--"; });
  if (at == left.end()) return;  // CLI11 leaves the separator "--" between options and files in place
  const std::string &word = *at, known = joined(options_of(app_));
  if (word.starts_with('-')) {
    const std::string takers = takers_of(name_of_option(word), app_);
    const std::string list = then_list(meant_by_option(word, !takers.empty()),  //
                                       fmt::format("options of 'orrery {}'", app_.get_name()));
    throw UsageError(fmt::format("unknown option '{}'{}{}{}", word, takers, list, known));
  }
  const auto takes = [this](const char* argument) { return app_.get_option_no_throw(argument) != nullptr; };
  throw UsageError(fmt::format("unexpected argument '{}'; 'orrery {}' takes {} and these options: {}", word,
                               app_.get_name(),
                               takes("FILE")   ? "one FILE"
                               : takes("ID")   ? "one ID"
                               : takes("NAME") ? "one NAME"
                               : takes("IN")   ? "IN and OUT"
                               : takes("N")    ? "one N"
                                               : "no file",
                               known));
}

/// Returns the probable meaning of a word that is not a file.
std::string CommandLine::meant_by_word(const std::string& word) const {
  if (reads_as_counts(word)) return fmt::format("; did you mean -n {}?", word);
  std::string meant = names_verb(words) ? std::string{} : did_you_mean(word, known_verbs());
  if (meant.empty()) meant = did_you_mean(word, scenes(), id_of<const SceneInfo*>, "--scene ");
  const char* const kernel_option = app_.get_option_no_throw("--kernel") ? "--kernel " : "--kernels ";
  if (meant.empty()) meant = did_you_mean(word, kernels.all(), id_of<KernelPtr>, kernel_option);
  return meant;
}

void CommandLine::refuse_word_for_file(const std::string& word) const {
  std::error_code unknown;
  if (takes_over || word.empty() || word.find_first_of("./") != std::string::npos ||
      std::filesystem::exists(word, unknown)) {
    return;
  }
  const std::string meant = meant_by_word(word);
  if (!names_verb(words)) {
    throw UsageError(fmt::format("'{}' is neither a subcommand nor a file here{}{}", word,
                                 then_list(meant, "subcommands"), fmt::join(known_verbs(), ", ")));
  }
  if (!meant.empty()) throw UsageError(fmt::format("there is no file '{}' here{}", word, meant));
}

std::string file_name(const std::string& option, const std::string& text) {
  if (text.empty()) throw UsageError(option + " needs the name of a file");
  return text;
}

bool names_verb(const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 3> own_options{"--help", "-h", "--version"};
  return !words.empty() && (std::ranges::find(known_verbs(), words.front()) != known_verbs().end() ||
                            std::ranges::find(own_options, words.front()) != own_options.end());
}

std::span<const std::string_view> known_verbs() {
  static const std::vector<std::string_view> known = [] {
    std::vector<std::string_view> names;
    for (const VerbInfo* const verb : verbs()) {
      names.emplace_back(verb->name);
      if (verb->alias) names.emplace_back(verb->alias);
    }
    names.insert(names.end(), {"help", "version"});
    return names;
  }();
  return known;
}

}  // namespace orrery
