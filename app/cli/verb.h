// The verbs of the command line, such as `orrery race`. Each has a file NAME_verb.cpp and a line in the list of
// app/cli/CMakeLists.txt. The parser, the help and the error messages use that list.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/command_line.h"
#include "app/text/table.h"
#include "app/ui_state/gl_report.h"
#include "app/ui_state/picture_options.h"
#include "app/ui_state/view_options.h"
#include "compute/kernels/catalog.h"
#include "compute/scenes/scene.h"
#include "render/appearance.h"

namespace orrery {

/// Functions of the program that need OpenGL or a window. Defined in app/window or app/without_viewer.cpp.
struct Graphics {
  GlReport (*probe)(const KernelCatalog& kernels);
  void (*probe_window)(GlReport& report);
  ReportPicture (*picture)(KernelCatalog& kernels, const SceneRequest& scene, WindowSize size, render::Theme theme,
                           std::optional<int> device);
  std::string (*key_table)(const TextStyle& style);
  std::function<int(const ViewOptions& options)> view;  ///< checks the files, runs, and returns the exit status
};

/// Parts of the program that verbs use.
struct Program {
  KernelCatalog& kernels;
  Graphics graphics{};
};

/// A verb: its options and its action. One object reads one command line.
class Verb {
 public:
  virtual ~Verb() = default;

  /// Declares the options. Reading them fills this object.
  virtual void declare(CommandLine& /*line*/) {}
  /// Checks options that depend on each other. Throws UsageError if an option is missing, or options contradict each
  /// other.
  virtual void finish(const CommandLine& /*line*/) {}
  /// Runs the verb and returns the exit status. Throws UsageError or std::runtime_error. Devices are only opened here,
  /// after the whole command line was read.
  virtual int run(const Program& program) const = 0;
  /// Prepares for a command of this verb, waits for the command and runs it; see child_process.h. If there is nothing
  /// to prepare, returns 0 immediately.
  virtual int run_as_spare(const Program& /*program*/) const { return 0; }
};

/// Description of a verb, a row in the list of verbs.
struct VerbInfo {
  const char* name;
  const char* summary;  ///< one sentence, without a full stop
  std::unique_ptr<Verb> (*create)();
  const char* alias = nullptr;  ///< another name; null: none
};

template <class Kind>
std::unique_ptr<Verb> create_verb() {
  return std::make_unique<Kind>();
}

/// Returns all verbs, in the order of `orrery help`.
std::span<const VerbInfo* const> verbs();

/// Prints a text, for --help, --version and `orrery help script`.
struct ShowText final : Verb {
  explicit ShowText(std::string shown, bool as_it_is = false) : text{std::move(shown)}, unbroken{as_it_is} {}
  int run(const Program& program) const override;

  std::string text;
  bool unbroken;  ///< print lines as they are, whatever their length
};

/// `orrery help keys`.
struct ShowKeys final : Verb {
  explicit ShowKeys(bool in_markdown) : markdown{in_markdown} {}
  int run(const Program& program) const override;

  bool markdown;
};

/// Returns the text of --help, with descriptions wrapped to fit.
std::string fitted_help(const std::string& text, const TextStyle& style);

/// Parses a command line and the script that it names. `words` leaves out the program's name. Returns the verb, filled
/// with its options. Adds kernel files to `kernels`. Does not open devices; checks that depend on them come later.
/// Throws UsageError, or std::runtime_error if the script cannot be read.
/// `takes_over`: the words are those of a window that this program continues. The files with which that window began
/// may no longer exist, and are not read.
std::unique_ptr<Verb> parse_options(KernelCatalog& kernels, const std::vector<std::string>& words,
                                    bool takes_over = false);

}  // namespace orrery
