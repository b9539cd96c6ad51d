#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "app/cli/view_verb.h"
#include "app/commands/command_entry.h"
#include "app/commands/command_text.h"
#include "app/lab/variants.h"
#include "app/text/input_file.h"
#include "app/text/parse_value.h"
#include "app/text/printable.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/sim/backends.h"

namespace orrery {
namespace {

constexpr std::size_t most_commands = 1'000'000;
constexpr std::size_t most_bytes_of_line = 65'536;

ScriptLine parse_line(std::string_view text) {
  const std::string_view frame = take_word(text);
  return {.frame = parse_integer("the frame that starts a line", frame, 0, ScriptLine::last_frame),
          .request = parse_command(text)};
}

/// Parses a line. An error does not quote a line with control characters or invalid UTF-8, which are unsafe on a
/// terminal.
ScriptLine parse_line_of_text(std::string_view line) {
  if (line.size() > most_bytes_of_line) {
    throw UsageError(fmt::format("a script's line has at most {} bytes", most_bytes_of_line));
  }
  try {
    return parse_line(line);
  } catch (const UsageError&) {
    if (is_text(line)) throw;
    throw UsageError("this is not a text file; a script's lines are 'FRAME COMMAND ARGUMENTS'");
  }
}

bool opens_kernel_file(const Request& request) {
  const std::string_view name = entry_of(request).name;
  return name == "workshop-open" || name == "workshop-new";
}

/// Checks the kernels and settings in each command. Commands that name no kernel, such as `set`, are checked against
/// the kernel that is selected at their frame. Once a kernel file is open, an unknown id may belong to its kernel,
/// which is only known after compilation. Such commands are checked when their frame comes.
class ScriptKernels {
 public:
  ScriptKernels(const KernelCatalog& kernels, KernelSelection first, bool kernel_file)
      : kernels_{kernels}, selected_{std::move(first)}, kernel_file_{kernel_file} {}

  void look(const Request& request) {
    kernel_file_ |= opens_kernel_file(request);
    if (const auto* command = std::get_if<Command>(&request)) std::visit(*this, *command);
    check_lists(request);
  }

  void operator()(const SelectKernel& select) {
    if (may_be_of_file(select.id)) {
      selected_ = {};
    } else if (const KernelPtr kernel = find_kernel_or_auto(kernels_, select.id)) {
      take(kernel, select.settings);
    } else {
      selected_ = {.kernels = {}, .automatic = true};
    }
  }
  void operator()(const SetTunable& set) const {
    if (of_file()) return;
    if (selected_.automatic) {
      throw UsageError(
          fmt::format("{} cannot be set with the kernel {}, which chooses settings as well; name a kernel "
                      "first: {}",
                      set.name, auto_kernel, joined_ids(kernels_.all())));
    }
    if (selected_.kernels.size() == 1) {
      (void)Settings{*selected_.kernels.front(), {{set.name, set.value}}};  // throws the simulation's exceptions
    } else {
      check_axes(selected_, {{set.name, {set.value}}});
    }
  }
  void operator()(const ReturnToRun& command) {
    if (may_be_of_file(command.run.kernel_id)) {
      selected_ = {};
    } else {
      take(kernels_.find(command.run.kernel_id), command.run.settings);
    }
  }
  template <class Other>
  void operator()(const Other&) const {}

 private:
  bool of_file() const { return selected_.kernels.empty() && !selected_.automatic; }
  bool may_be_of_file(const std::string& id) const {
    return kernel_file_ && id != auto_kernel && !kernels_.find_or_null(id);
  }
  bool any_may_be_of_file(const std::vector<std::string>& ids) const {
    return std::ranges::any_of(ids, [this](const std::string& id) { return may_be_of_file(id); });
  }
  void take(const KernelPtr& kernel, const Settings::Values& values) {
    selected_ = {.kernels = {kernel}};
    (void)Settings{*kernel, values};  // throws the simulation's exceptions
  }
  /// Returns the values of the list arguments with this form.
  static std::vector<std::string> list_of(const Request& request, Form form) {
    std::vector<std::string> list;
    for (const auto& argument : entry_of(request).arguments) {
      if (argument->traits().form != form) continue;
      for (const Json& one : argument->json(request)) list.push_back(one.get<std::string>());
    }
    return list;
  }
  void check_lists(const Request& request) const {
    const std::vector<std::string> ids = list_of(request, Form::kernels);
    const std::vector<std::string> names = list_of(request, Form::settings);
    if (ids.empty() && names.empty()) return;
    if (ids.empty() ? of_file() : any_may_be_of_file(ids)) return;
    std::vector<Axis> axes;
    for (const std::string& name : names) axes.push_back({name, {"all"}});
    check_axes(kernels_of(ids), axes);
  }
  /// Returns the kernels with these ids; without ids, the selected ones.
  KernelSelection kernels_of(const std::vector<std::string>& ids) const {
    if (!ids.empty()) return select_kernels(kernels_, ids);
    if (selected_.automatic) return {.kernels = kernels_.all()};  // auto will choose one of them
    return selected_;
  }

  const KernelCatalog& kernels_;
  KernelSelection selected_;  // the selected kernel, or candidates for the selection; empty: the kernel of a file
  bool kernel_file_;
};

}  // namespace

Script parse_script(std::string_view text, const std::string& name, const KernelCatalog& kernels,
                    const KernelSelection& first, bool kernel_file) {
  Script script;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = trimmed(without_comment(take_line(text)));
    if (line.empty()) continue;
    at_line(name, number, [&] {
      if (script.size() == most_commands)
        throw UsageError(fmt::format("a script has at most {} commands", most_commands));
      script.push_back(parse_line_of_text(line));
    });
    script.back().line = number;
  }
  std::ranges::stable_sort(script, {}, &ScriptLine::frame);
  ScriptKernels check{kernels, first, kernel_file};
  for (const ScriptLine& line : script) {
    at_line(name, line.line, [&] { check.look(line.request); });
  }
  return script;
}

Script read_script(const std::string& file, const KernelCatalog& kernels, const KernelSelection& first,
                   bool kernel_file) {
  std::string text;
  try {
    text = read_text(file);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("cannot read the script {}", failure_text(error)));
  }
  return parse_script(text, file, kernels, first, kernel_file);
}

}  // namespace orrery
