// Reads a command line, and says what a wrong word probably meant.
#include "app/cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/option_draft.h"
#include "app/cli/option_parts.h"
#include "app/colours/body_colour.h"
#include "app/commands/command_text.h"
#include "app/text/parse_value.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/text.h"
#include "compute/kernels/catalog.h"
#include "compute/scenes/scene.h"
#include "orrery_version.h"

namespace orrery {
namespace {

/// The first words of a command line that are no option and no file.
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

/// The probable meaning of an unknown option: a setting of a kernel, or another option. One that is `taken_elsewhere`
/// was probably meant as it is, unless it is nearly another.
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

/// The probable meaning of a word that is no file.
std::string meant_by_word(const KernelCatalog& kernels, const CLI::App& subcommand, const std::string& word,
                          bool implied) {
  if (reads_as_counts(word)) return fmt::format("; did you mean -n {}?", word);
  std::string meant = implied ? did_you_mean(word, known_subcommands) : std::string{};
  if (meant.empty()) meant = did_you_mean(word, scenes(), id_of<const SceneInfo*>, "--scene ");
  const char* const kernel_option = subcommand.get_option_no_throw("--kernel") ? "--kernel " : "--kernels ";
  if (meant.empty()) meant = did_you_mean(word, kernels.all(), id_of<KernelPtr>, kernel_option);
  return meant;
}

/// The words of a command line with `help`, `help SUBCOMMAND` and `version` as the options of the same meaning. Throws
/// UsageError for other words after these.
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
  if (words[1] == "help" || words[1] == "version") return {"--help"};  // which describes both
  if (std::ranges::find(known_subcommands, words[1]) == known_subcommands.end()) {
    std::vector<std::string_view> topics{known_subcommands.begin(), known_subcommands.end()};
    topics.insert(topics.end(), {"script", "colours", "keys"});
    throw unknown_name("help topic", words[1], topics);
  }
  return with_help_as_option({words[1], "--help"});
}

/// Throws UsageError that names `argument`, which `subcommand` does not take, the valid choices, and what was probably
/// meant. `words` is the command line.
[[noreturn]] void refuse_argument(const KernelCatalog& kernels, const CLI::App& subcommand, const std::string& argument,
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

/// Throws UsageError if `word`, given in place of a file, is not a file but a number of bodies or nearly the name of a
/// scene, a kernel or, with `implied`, a subcommand. With `implied`, it also refuses any word that is not the name of a
/// file and holds neither '.' nor '/'.
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

void refuse_generator_options_with_file(const OptionDraft& draft) {
  if (!draft.scene.file.empty() && !draft.generator_option.empty()) {
    throw UsageError(fmt::format("{} cannot be used with the file '{}', because the bodies come from it",
                                 draft.generator_option, draft.scene.file));
  }
}

void refuse_hints_without_file(const OptionDraft& draft) {
  if (draft.scene.file.empty() && !draft.hint_option.empty()) {
    throw UsageError(
        fmt::format("{} is about a file of bodies, and there is none: add a FILE, or leave it out", draft.hint_option));
  }
}

void refuse_seed_without_random_numbers(const OptionDraft& draft) {
  if (!draft.seeded || find_scene(draft.scene.scene).random) return;
  throw UsageError(fmt::format("--seed changes nothing in the scene '{}', which has no random numbers: leave it out",
                               draft.scene.scene));
}

std::string version_line() {
  return fmt::format("orrery {} ({}), {} HDF5\n", version, git_id, has_hdf5() ? "with" : "without");
}

/// The message for CLI11's "--kernel: 1 required", or "offscreen was given a disallowed flag override".
std::string wrong_number_of_values(const std::string& what) {
  const std::size_t flag = what.find(" was given a disallowed flag");
  if (flag != std::string::npos)
    return fmt::format("--{} takes no value: leave out what follows '='", what.substr(0, flag));
  return what.substr(0, what.find(':')) + " needs a value after it";
}

/// Returns the request for a help topic that is no subcommand; none for other words.
std::optional<Options> reference_for(const std::vector<std::string>& words) {
  if (words.size() < 2 || words[0] != "help") return std::nullopt;
  const bool markdown = words.size() == 3 && words[2] == "--markdown";
  if (words.size() > 2 && !markdown) return std::nullopt;
  if (words[1] == "script") return ShowText{markdown ? command_reference_markdown() : command_reference(), markdown};
  if (words[1] == "colours") return ShowText{colour_reference(markdown), markdown};
  if (words[1] == "keys") return ShowKeys{{.markdown = markdown}};
  return std::nullopt;
}

}  // namespace

std::string fitted_help(const std::string& text, const TextStyle& style) {
  constexpr std::size_t descriptions = 30;  // where CLI11 starts them
  std::string fitted;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const std::size_t names = line.find("  ", 2);  // of options, files and subcommands end there
    const bool described = line.starts_with("  ") && line.find_first_not_of(' ', names) == descriptions;
    fitted += columns_of(line) <= style.columns ? line + '\n' : paragraph(line, style, described ? descriptions : 0);
  }
  return fitted;
}

Options parse_options(KernelCatalog& kernels, const std::vector<std::string>& words, bool takes_over) {
  if (const auto reference = reference_for(words)) return *reference;
  const std::vector<std::string> arguments = with_help_as_option(words);
  OptionDraft draft{kernels};
  draft.takes_over = takes_over;
  CLI::App app{"Orrery: an interactive laboratory for gravitational N-body computation on CPUs and NVIDIA GPUs.",
               "orrery"};
  app.set_version_flag("--version", version_line());
  app.require_subcommand(1);
  app.footer(
      "Without a subcommand it is 'view'. 'orrery help SUBCOMMAND' lists a subcommand's options, 'orrery help "
      "script' the commands of a script, 'orrery help colours' the quantities that colours show, 'orrery help keys' "
      "the keys of the window.");
  CLI::App& view = *app.add_subcommand("view", "shows a living system of bodies in a window, or runs it offscreen");
  CLI::App& render = *app.add_subcommand("render", "renders a film without a window or display");
  CLI::App& bench = *app.add_subcommand("bench", "measures kernels, settings and numbers of bodies");
  CLI::App& report = *app.add_subcommand("report", "measures kernels and writes a page with plots, for people");
  CLI::App& verify = *app.add_subcommand("verify", "checks kernels against a sum in double precision");
  CLI::App& profile = *app.add_subcommand("profile", "measures where the time of kernels goes, by hardware counters");
  CLI::App& compare =
      *app.add_subcommand("compare", "runs two variants from the same bodies and measures how they diverge");
  CLI::App& race =
      *app.add_subcommand("race", "finds the kernel, integrator and time step that keep the energy at the least cost");
  CLI::App& run = *app.add_subcommand("run", "runs a simulation without a window, with snapshots and checkpoints");
  CLI::App& replay = *app.add_subcommand("replay", "computes a run of a window again and compares its states");
  CLI::App& convert = *app.add_subcommand("convert", "converts a file of bodies to another format");
  CLI::App& inspect = *app.add_subcommand("inspect", "reports what a file of bodies holds");
  CLI::App& list = *app.add_subcommand("kernels", "lists the kernels, their settings and their sources");
  CLI::App& info = *app.add_subcommand("info", "reports devices, drivers and OpenGL, and how to fix what fails");
  info.alias("doctor");
  CLI::App& lesson = *app.add_subcommand("lesson", "teaches by measuring on this machine, in twelve lessons");
  CLI::App& new_kernel = *app.add_subcommand("new-kernel", "writes a kernel file, to start from");
  declare_view(view, draft);
  declare_render(render, draft);
  declare_bench(bench, draft);
  declare_report(report, draft);
  declare_verify(verify, draft);
  declare_profile(profile, draft);
  declare_compare(compare, draft);
  declare_race(race, draft);
  declare_run(run, draft);
  declare_replay(replay, draft);
  declare_kernels(list, draft);
  declare_info(info, draft);
  declare_convert(convert, draft);
  declare_inspect(inspect, draft);
  declare_lesson(lesson, draft);
  declare_new_kernel(new_kernel, draft);
  for (CLI::App* subcommand : app.get_subcommands({})) subcommand->allow_extras();

  std::vector<std::string> reversed{arguments.rbegin(), arguments.rend()};  // the order that CLI11 wants
  constexpr std::array<std::string_view, 3> own_options{"--help", "-h", "--version"};
  const bool top_level =
      !arguments.empty() && (std::ranges::find(known_subcommands, arguments.front()) != known_subcommands.end() ||
                             std::ranges::find(own_options, arguments.front()) != own_options.end());
  if (!top_level) reversed.push_back("view");
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return ShowText{app.help()};
  } catch (const CLI::CallForVersion&) {
    return ShowText{version_line()};
  } catch (const CLI::ArgumentMismatch& error) {
    throw UsageError(wrong_number_of_values(error.what()));
  } catch (const CLI::ParseError& error) {
    throw UsageError(one_line(error.what()));
  }
  const CLI::App& chosen = *app.get_subcommands().front();
  for (const std::string& rest : chosen.remaining()) {
    if (rest != "--")
      refuse_argument(kernels, chosen, rest, arguments);  // CLI11 leaves the mark between options and files in place
  }
  if (&chosen == &convert) return finish_convert(draft);
  if (&chosen == &inspect) return finish_inspect(draft);
  if (&chosen == &replay) return finish_replay(draft);
  if (&chosen == &new_kernel) return finish_new_kernel(draft);
  refuse_generator_options_with_file(draft);
  refuse_hints_without_file(draft);
  refuse_seed_without_random_numbers(draft);
  if (!takes_over) refuse_word_for_file(kernels, chosen, draft.scene.file, !top_level);
  if (&chosen == &view) return finish_view(draft);
  if (&chosen == &render) return finish_render(draft);
  if (&chosen == &bench) return finish_bench(draft);
  if (&chosen == &report) return finish_report(draft, words);
  if (&chosen == &verify) return finish_verify(draft);
  if (&chosen == &run) return finish_run(draft);
  if (&chosen == &lesson) return finish_lesson(draft);
  if (&chosen == &profile || &chosen == &compare || &chosen == &race) {
    add_law_command(draft);
    refuse_constants_without_their_law(draft, draft.law == LawId::attract_repel);
    if (&chosen == &profile) return finish_profile(draft);
    if (&chosen == &compare) return finish_compare(draft);
    return finish_race(draft);
  }
  const TableFlags& table = &chosen == &list ? draft.kernels.table : draft.info.table;
  if ((draft.kernels.json || draft.info.json) && (table.wide || table.markdown)) {
    throw UsageError("--json has no tables: leave out --wide and --markdown");
  }
  if (&chosen == &list) {
    if (!draft.described_kernel.empty()) draft.kernels.only = kernels.find(draft.described_kernel)->id;
    return draft.kernels;
  }
  return draft.info;
}

}  // namespace orrery
