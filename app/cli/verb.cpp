// Parses a command line and prints help.
#include "app/cli/verb.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <deque>
#include <string_view>
#include <utility>

#include "app/colours/body_colour.h"
#include "app/commands/command_text.h"
#include "app/text/console.h"
#include "app/text/parse_value.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/text.h"
#include "compute/snapshots/snapshot_format.h"
#include "orrery_version.h"

namespace orrery {
namespace {

/// Replaces `help`, `help SUBCOMMAND` and `version` with the equivalent options. Throws UsageError if other words
/// follow them.
std::vector<std::string> with_help_as_option(const std::vector<std::string>& words) {
  const std::string first = words.empty() ? std::string{} : words.front();
  if (first != "help" && first != "version") return words;
  if (words.size() == 1) return {"--" + first};
  if (first == "version" || words.size() > 2) {
    throw UsageError(fmt::format(
        "unexpected argument '{}'; it is 'orrery help', 'orrery help SUBCOMMAND', 'orrery help script "
        "[--markdown]', 'orrery help colours [--markdown]', 'orrery help keys [--markdown]' or 'orrery version'",
        words.back()));
  }
  if (words[1] == "help" || words[1] == "version") return {"--help"};  // this option describes both words
  if (std::ranges::find(known_verbs(), words[1]) == known_verbs().end()) {
    std::vector<std::string_view> topics{known_verbs().begin(), known_verbs().end()};
    topics.insert(topics.end(), {"script", "colours", "keys"});
    throw unknown_name("help topic", words[1], topics);
  }
  return with_help_as_option({words[1], "--help"});
}

std::string version_line() {
  return fmt::format("orrery {} ({}), {} HDF5\n", version, git_id, has_hdf5() ? "with" : "without");
}

/// Returns the error for CLI11's "--kernel: 1 required", or "offscreen was given a disallowed flag override".
std::string wrong_number_of_values(const std::string& what) {
  const std::size_t flag = what.find(" was given a disallowed flag");
  if (flag != std::string::npos)
    return fmt::format("--{} takes no value: leave out what follows '='", what.substr(0, flag));
  return what.substr(0, what.find(':')) + " needs a value after it";
}

/// Returns the verb for `orrery help script`, `orrery help colours` and `orrery help keys`; null for other words.
std::unique_ptr<Verb> help_of_topic(const std::vector<std::string>& words) {
  if (words.size() < 2 || words.size() > 3 || words[0] != "help" || (words.size() == 3 && words[2] != "--markdown")) {
    return nullptr;
  }
  const bool markdown = words.size() == 3;
  if (words[1] == "keys") return std::make_unique<ShowKeys>(markdown);
  if (words[1] == "colours") return std::make_unique<ShowText>(colour_reference(markdown), markdown);
  if (words[1] != "script") return nullptr;
  return std::make_unique<ShowText>(markdown ? command_reference_markdown() : command_reference(), markdown);
}

/// A verb, and the command line that it reads.
struct ReadVerb {
  CLI::App* app;
  std::unique_ptr<Verb> verb;
  CommandLine line;
};

/// Parses the words. Throws UsageError.
void parse(CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> reversed{arguments.rbegin(), arguments.rend()};  // CLI11 expects the words in reverse order
  if (!names_verb(arguments)) reversed.emplace_back("view");
  try {
    app.parse(reversed);
  } catch (const CLI::ArgumentMismatch& error) {
    throw UsageError(wrong_number_of_values(error.what()));
  } catch (const CLI::Success&) {
    throw;
  } catch (const CLI::ParseError& error) {
    throw UsageError(one_line(error.what()));
  }
}

}  // namespace

// verbs_list.inc is generated from the list of verbs in app/cli/CMakeLists.txt.
#define X(verb) extern const VerbInfo verb;
#include "verbs_list.inc"
#undef X

std::span<const VerbInfo* const> verbs() {
  static constexpr std::array all{
#define X(verb) &verb,
#include "verbs_list.inc"
#undef X
  };
  return all;
}

std::string fitted_help(const std::string& text, const TextStyle& style) {
  constexpr std::size_t descriptions = 30;  // column at which CLI11 starts descriptions
  std::string fitted;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const std::size_t names = line.find("  ", 2);  // end of the names of options, files or subcommands
    const bool described = line.starts_with("  ") && line.find_first_not_of(' ', names) == descriptions;
    fitted += columns_of(line) <= style.columns ? line + '\n' : paragraph(line, style, described ? descriptions : 0);
  }
  return fitted;
}

int ShowText::run(const Program& /*program*/) const {
  console::show(unbroken ? text : fitted_help(text, stdout_style({})));
  return 0;
}

int ShowKeys::run(const Program& program) const {
  console::show(program.graphics.key_table(stdout_style({.markdown = markdown})));
  return 0;
}

std::unique_ptr<Verb> parse_options(KernelCatalog& kernels, const std::vector<std::string>& words, bool takes_over) {
  if (std::unique_ptr<Verb> help = help_of_topic(words)) return help;
  const std::vector<std::string> arguments = with_help_as_option(words);
  CLI::App app{"Orrery: an interactive laboratory for gravitational N-body computation on CPUs and NVIDIA GPUs.",
               "orrery"};
  app.set_version_flag("--version", version_line());
  app.require_subcommand(1);
  app.footer(
      "Without a subcommand it is 'view'. 'orrery help SUBCOMMAND' lists a subcommand's options, 'orrery help "
      "script' the commands of a script, 'orrery help colours' the quantities that colours show, 'orrery help keys' "
      "the keys of the window.");
  std::deque<ReadVerb> all;
  for (const VerbInfo* const info : verbs()) {
    CLI::App& verb = *app.add_subcommand(info->name, info->summary)->allow_extras();
    if (info->alias) verb.alias(info->alias);
    all.push_back({&verb, info->create(), {verb, kernels, words, takes_over}});
    all.back().verb->declare(all.back().line);
  }
  try {
    parse(app, arguments);
  } catch (const CLI::CallForHelp&) {
    return std::make_unique<ShowText>(app.help());
  } catch (const CLI::CallForVersion&) {
    return std::make_unique<ShowText>(version_line());
  }
  const auto chosen = std::ranges::find(all, app.get_subcommands().front(), &ReadVerb::app);
  chosen->line.refuse_what_is_left();
  chosen->verb->finish(chosen->line);
  return std::move(chosen->verb);
}

}  // namespace orrery
