#include "app/cli/read_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "app/lab/kernel_axes.h"
#include "app/text/input_file.h"
#include "app/text/lines.h"
#include "app/text/parse_value.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/integrators/integrator.h"
#include "compute/sim/backends.h"

namespace orrery {
namespace {

constexpr std::size_t most_commands = 1'000'000;
constexpr std::size_t most_line_bytes = 65'536;

std::string_view without_comment(std::string_view line) {
  for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    if (at == 0 || blanks.find(line[at - 1]) != std::string_view::npos) return line.substr(0, at);
  }
  return line;
}

/// Takes the first word off `text`, which starts with it or is empty.
std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(blanks), text.size());
  const std::string_view word = text.substr(0, end);
  text = trimmed(text.substr(end));
  return word;
}

/// Takes the first line off `text`, and with it what ends it.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// A command's name, what its arguments are called, and the request that they make. `argument` is all that follows the
/// command; only the last argument of a command may hold blanks (a file's name), or be several words ("NAME...").
struct Verb {
  std::string_view name;
  std::string_view arguments;  ///< "", one word, "NAME VALUE" or "NAME..."
  Request (*make)(std::string_view argument);
};

Request make_tunable(std::string_view argument) {
  const std::string_view name = take_word(argument);
  return Command{SetTunable{std::string{name}, std::string{argument}}};
}

Request make_lab(std::string_view argument) {
  if (argument == "fold") return ViewCommand{ShowLab{}};
  const auto id = [](const LabTabInfo& tab) { return tab.id; };
  const auto found = std::ranges::find(lab_tabs, argument, id);
  if (found != lab_tabs.end()) return ViewCommand{ShowLab{found->tab}};
  throw UsageError(fmt::format("'{}' is no part of the laboratory; it has {}, and fold leaves only their titles{}",
                               argument, joined(lab_tabs, id), did_you_mean(argument, lab_tabs, id)));
}

/// Tunables, and perhaps "n=4k,16k" and "kernels=A,B" or "kernels=all" among them.
Request make_sweep(std::string_view argument) {
  constexpr std::string_view counts = "n=", kernels = "kernels=";
  StartSweep sweep;
  while (!argument.empty()) {
    const std::string_view word = take_word(argument);
    if (word.starts_with(counts)) {
      sweep.counts = parse_counts("sweep n", word.substr(counts.size()));
    } else if (word.starts_with(kernels)) {
      sweep.kernels = split_list("sweep kernels", word.substr(kernels.size()));
    } else {
      sweep.tunables.emplace_back(word);
    }
  }
  return ViewCommand{std::move(sweep)};
}

/// As a script counts them, from 1; from 0.
int parse_row(std::string_view command, std::string_view argument) {
  return static_cast<int>(parse_integer(command, argument, 1, std::numeric_limits<int>::max())) - 1;
}

constexpr std::array verbs{
    Verb{"kernel", "ID", [](std::string_view a) -> Request { return Command{SelectKernel{std::string{a}}}; }},
    Verb{"set", "NAME VALUE", make_tunable},
    Verb{"accuracy", "VALUE",
         [](std::string_view a) -> Request { return Command{SetAccuracy{parse_accuracy("accuracy", a)}}; }},
    Verb{"integrator", "ID",
         [](std::string_view a) -> Request { return Command{SelectIntegrator{find_integrator(a).id}}; }},
    Verb{"law", "ID", [](std::string_view a) -> Request { return Command{SelectLaw{law_info(find_law(a)).id}}; }},
    Verb{"dt", "T", [](std::string_view a) -> Request { return Command{SetTimeStep{parse_positive("dt", a)}}; }},
    Verb{"softening", "E",
         [](std::string_view a) -> Request {
           return Command{SetSoftening{parse_between("softening", a, Law::min_softening, Law::max_softening)}};
         }},
    Verb{"pause", "", [](std::string_view) -> Request { return Command{SetPaused{true}}; }},
    Verb{"resume", "", [](std::string_view) -> Request { return Command{SetPaused{false}}; }},
    Verb{"step", "", [](std::string_view) -> Request { return Command{StepOnce{}}; }},
    Verb{"restart", "", [](std::string_view) -> Request { return Command{Restart{}}; }},
    Verb{"reset", "", [](std::string_view) -> Request { return Command{Reset{}}; }},
    Verb{"return", "ROW",
         [](std::string_view a) -> Request { return ViewCommand{ReturnToResult{parse_row("return", a)}}; }},
    Verb{"undo", "", [](std::string_view) -> Request { return Command{UndoReturn{}}; }},
    Verb{"pin", "ROW", [](std::string_view a) -> Request { return ViewCommand{PinResult{parse_row("pin", a)}}; }},
    Verb{"unpin", "ROW",
         [](std::string_view a) -> Request {
           return ViewCommand{PinResult{parse_row("unpin", a), false}};
         }},
    Verb{"record", "FILE", [](std::string_view a) -> Request { return ViewCommand{StartRecording{std::string{a}}}; }},
    Verb{"stop-record", "", [](std::string_view) -> Request { return ViewCommand{StopRecording{}}; }},
    Verb{
        "screenshot", "FILE",
        [](std::string_view a) -> Request { return ViewCommand{SaveScreenshot{parse_picture_name("screenshot", a)}}; }},
    Verb{"save", "FILE", [](std::string_view a) -> Request { return ViewCommand{SaveSnapshot{std::string{a}}}; }},
    Verb{"sweep", "TUNABLE...", make_sweep},
    Verb{"stop-sweep", "", [](std::string_view) -> Request { return ViewCommand{StopSweep{}}; }},
    Verb{"probe", "on|off",
         [](std::string_view a) -> Request { return ViewCommand{SetDiagnostics{.probe = parse_switch("probe", a)}}; }},
    Verb{"conserved", "SECONDS",
         [](std::string_view a) -> Request {
           return ViewCommand{SetDiagnostics{.conserved_interval_s = parse_between("conserved", a, 0, 1e6f)}};
         }},
    Verb{"measure-conserved", "", [](std::string_view) -> Request { return Command{MeasureConserved{}}; }},
    Verb{"cells", "on|off",
         [](std::string_view a) -> Request { return ViewCommand{ShowTreeCells{parse_switch("cells", a)}}; }},
    Verb{"lab", "TAB", make_lab},
    Verb{"quit", "", [](std::string_view) -> Request { return ViewCommand{Quit{}}; }},
};

std::string known_verbs() {
  return joined(verbs, [](const Verb& verb) { return verb.name; });
}

std::size_t word_count(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) take_word(text);
  return count;
}

Request parse_request(std::string_view text) {
  std::string_view argument = text;
  const std::string_view name = take_word(argument);
  if (name.empty()) throw UsageError("a command is missing after the frame; known commands: " + known_verbs());
  const auto verb = std::ranges::find_if(verbs, [&](const Verb& v) { return name == v.name; });
  if (verb == verbs.end())
    throw UsageError(fmt::format("unknown command '{}'; known commands: {}{}", name, known_verbs(),
                                 did_you_mean(name, verbs, [](const Verb& known) { return known.name; })));
  const std::size_t wanted = word_count(verb->arguments), given = word_count(argument);
  const bool takes_rest = verb->arguments == "FILE" || verb->arguments.ends_with("...");
  if (given < wanted || (given > wanted && !takes_rest)) {
    throw UsageError(fmt::format("'{}' takes {}; it is given '{}'", name,
                                 wanted == 0 ? "no argument" : fmt::format("{}", verb->arguments), argument));
  }
  return verb->make(argument);
}

/// Whether it is UTF-8 without control characters other than tabs and what ends a line.
bool is_text(std::string_view line) {
  int following = 0;
  for (const char c : line) {
    const auto b = static_cast<unsigned char>(c);
    if (following > 0) {
      if (b < 0x80 || b > 0xBF) return false;
      --following;
    } else if (b < 0x80) {
      if ((b < 0x20 && blanks.find(c) == std::string_view::npos) || b == 0x7F) return false;
    } else {
      if (b < 0xC2 || b > 0xF4) return false;
      following = b < 0xE0 ? 1 : b < 0xF0 ? 2 : 3;
    }
  }
  return following == 0;
}

ScriptLine parse_line(std::string_view text) {
  const std::string_view frame = take_word(text);
  return {.frame = parse_integer("the frame that starts a line", frame, 0, ScriptLine::last_frame),
          .request = parse_request(text)};
}

/// Says so where what is wrong with a line is that it is none: its bytes are not for a terminal.
ScriptLine parse_line_of_text(std::string_view line) {
  if (line.size() > most_line_bytes) {
    throw UsageError(fmt::format("a script's line has at most {} bytes", most_line_bytes));
  }
  try {
    return parse_line(line);
  } catch (const UsageError&) {
    if (is_text(line)) throw;
    throw UsageError("this is not a text file; a script's lines are 'FRAME COMMAND ARGUMENTS'");
  }
}

void check_sweep(const StartSweep& sweep, const KernelCatalog& kernels, const KernelSelection& selected) {
  std::vector<Axis> axes;
  for (const std::string& tunable : sweep.tunables) axes.push_back({tunable, {"all"}});
  if (!sweep.kernels.empty()) {
    check_axes(parse_kernels(kernels, fmt::format("{}", fmt::join(sweep.kernels, ","))), axes);
  } else {
    check_axes(selected.automatic ? parse_kernels(kernels, "all") : selected, axes);
  }
}

void check_set(const SetTunable& set, const KernelCatalog& kernels, const KernelSelection& selected) {
  if (selected.automatic) {
    throw UsageError(
        fmt::format("{} cannot be set with the kernel {}, which chooses settings as well; name a "
                    "kernel first: {}",
                    set.name, auto_kernel, joined_ids(kernels.all())));
  }
  if (selected.kernels.size() == 1) {
    Settings{*selected.kernels.front()}.set(set.name, set.value);
  } else {
    check_axes(selected, {{set.name, {set.value}}});
  }
}

KernelSelection selection_of(const SelectKernel& select, const KernelCatalog& kernels) {
  if (const KernelPtr kernel = find_kernel_or_auto(kernels, select.id)) return {.kernels = {kernel}};
  return {.kernels = {}, .automatic = true};
}

/// Checks kernels, and each `set` and `sweep` against the kernel that is selected when its frame comes: `auto` leaves
/// nothing to set.
void check_kernels(const Script& script, const KernelCatalog& kernels, KernelSelection selected, const auto& at_line) {
  for (const ScriptLine& line : script) {
    at_line(line.line, [&] {
      if (const auto* view = std::get_if<ViewCommand>(&line.request)) {
        if (const auto* sweep = std::get_if<StartSweep>(view)) check_sweep(*sweep, kernels, selected);
        return;
      }
      const Command& command = std::get<Command>(line.request);
      if (const auto* select = std::get_if<SelectKernel>(&command)) selected = selection_of(*select, kernels);
      if (const auto* set = std::get_if<SetTunable>(&command)) check_set(*set, kernels, selected);
    });
  }
}

}  // namespace

Script parse_script(std::string_view text, const std::string& name, const KernelCatalog& kernels,
                    const KernelSelection& first) {
  const auto at_line = [&](int number, auto&& action) {
    try {
      action();
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}:{}: {}", name, number, error.what()));
    }
  };
  Script script;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = trimmed(without_comment(take_line(text)));
    if (line.empty()) continue;
    at_line(number, [&] {
      if (script.size() == most_commands)
        throw UsageError(fmt::format("a script has at most {} commands", most_commands));
      script.push_back(parse_line_of_text(line));
    });
    script.back().line = number;
  }
  std::ranges::stable_sort(script, {}, &ScriptLine::frame);
  check_kernels(script, kernels, first, at_line);
  return script;
}

Script read_script(const std::string& file, const KernelCatalog& kernels, const KernelSelection& first) {
  std::string text;
  try {
    text = read_text(file);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("cannot read the script {}", error.what()));
  }
  return parse_script(text, file, kernels, first);
}

}  // namespace orrery
