// The verbs of the command line, such as `orrery race`. Each is a file NAME_verb.cpp, and a line of the list in
// app/cli/CMakeLists.txt; the parser, the help and the refusals loop over that list.
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

/// The functions of the program that need OpenGL or a window, as app/window or app/without_viewer.cpp defines them.
struct Graphics {
  GlReport (*probe)(const KernelCatalog& kernels);
  void (*probe_window)(GlReport& report);
  ReportPicture (*picture)(KernelCatalog& kernels, const SceneRequest& scene, WindowSize size, render::Theme theme,
                           std::optional<int> device);
  std::string (*key_table)(const TextStyle& style);
  std::function<int(const ViewOptions& options)> view;  ///< checks the files first; returns the exit status
};

/// The program that runs a verb.
struct Program {
  KernelCatalog& kernels;
  Graphics graphics{};
};

/// A verb: its options, and what it does. One object reads one command line.
class Verb {
 public:
  virtual ~Verb() = default;

  /// Declares the options. Reading them fills this verb.
  virtual void declare(CommandLine& /*line*/) {}
  /// Checks the options that depend on each other. Throws UsageError for options that are missing or do not go
  /// together.
  virtual void finish(const CommandLine& /*line*/) {}
  /// Runs, and returns the exit status. Throws UsageError or std::runtime_error. Devices are opened here, after the
  /// whole command line has been read.
  virtual int run(const Program& program) const = 0;
  /// Prepares what a command of this verb will need, waits for the command and runs it; see child_process.h. Returns 0
  /// at once if there is nothing to prepare.
  virtual int run_as_spare(const Program& /*program*/) const { return 0; }
};

/// A row of the list of verbs.
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

/// All verbs, in the order of `orrery help`.
std::span<const VerbInfo* const> verbs();

/// Prints a text: --help, --version and `orrery help script`.
struct ShowText final : Verb {
  explicit ShowText(std::string shown, bool as_it_is = false) : text{std::move(shown)}, unbroken{as_it_is} {}
  int run(const Program& program) const override;

  std::string text;
  bool unbroken;  ///< prints lines as they are, however long
};

/// `orrery help keys`.
struct ShowKeys final : Verb {
  explicit ShowKeys(bool in_markdown) : markdown{in_markdown} {}
  int run(const Program& program) const override;

  bool markdown;
};

/// The text of --help, with descriptions broken into lines that fit.
std::string fitted_help(const std::string& text, const TextStyle& style);

/// Reads a command line, given as its words without the program's name, and the script that it names. Returns the verb,
/// filled with its options. Adds kernel files to `kernels`. Opens no device: what depends on it comes later. Throws
/// UsageError; std::runtime_error if the script cannot be read. `takes_over`: the words are those of a window that this
/// program continues; the files with which that window began may be gone by now, and are not read.
std::unique_ptr<Verb> parse_options(KernelCatalog& kernels, const std::vector<std::string>& words,
                                    bool takes_over = false);

}  // namespace orrery
